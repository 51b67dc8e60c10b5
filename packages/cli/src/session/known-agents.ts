import { readdirSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { findAgentFolders, type SourceEnvironment } from "@bough/formats";
import { isSystemError } from "@bough/session-core/engine";
import { counted } from "@bough/session-core/view";
import { shortDirectory } from "../format/path.js";
import type { Io } from "../terminal/io.js";

/** Returns the environment that decides where agents keep their files. */
export function sourceEnvironment({ env, home }: Pick<Io, "env" | "home">): SourceEnvironment {
  return { env, home, platform: platform() };
}

/**
 * Finds the folders with sessions of agents that can be imported, and counts the files in them. Reads names of files only, at most 20,000 of
 * each folder.
 */
export async function findAgents(io: Pick<Io, "env" | "home">) {
  const folders = await findAgentFolders(sourceEnvironment(io));
  return folders.flatMap(({ agent, folder, files: names, skipped }) => {
    const files = countFiles(folder, names, skipped);
    return files === 0 ? [] : [{ name: agent, folder, files }];
  });
}

type FoundAgent = Awaited<ReturnType<typeof findAgents>>[number];

/** The agents in one line each: `Claude Code: 12 files in ~/.claude/projects`. */
export function describeAgent({ name, files, folder }: FoundAgent, home: string): string {
  return `${name}: ${counted(files, "file")} in ${shortDirectory(folder, home)}`;
}

const MOST_NAMES = 20_000;

/** Returns the number of files below a folder whose path matches; 0 if the folder is missing or unreadable. */
function countFiles(folder: string, names: RegExp, skipped: RegExp | undefined): number {
  let seen = 0;
  let files = 0;
  const folders = [""];
  for (let at = 0; at < folders.length && seen < MOST_NAMES; at += 1) {
    const below = folders[at] ?? "";
    for (const entry of entriesOf(join(folder, below))) {
      seen += 1;
      if (entry.isDirectory() && skipped?.test(below + entry.name) !== true) folders.push(`${below}${entry.name}/`);
      else if (entry.isFile() && names.test(below + entry.name)) files += 1;
    }
  }
  return files;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}
