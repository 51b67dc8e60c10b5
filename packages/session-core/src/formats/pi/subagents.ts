import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { BoughError } from "../../errors/base.js";
import type { SessionId } from "../../ids/ids.js";
import type { ImportProblem } from "../../source/source-session.js";
import { sessionIdOf } from "./header.js";
import { type PiFile, readPiFile } from "./pi-file.js";

/** The files of the agents that a session started, and those that look like one and cannot be read. */
export interface Subagents {
  readonly files: readonly PiFile[];
  readonly problems: readonly ImportProblem[];
}

/** Looks into the folder beside an oh-my-pi session, named like the file: each `.jsonl` in it is a subagent's session. */
export function subagentsOf(path: string): Subagents {
  const files: PiFile[] = [];
  const problems: ImportProblem[] = [];
  for (const name of sessionFilesIn(path.replace(/\.jsonl$/, ""), path)) {
    const read = attempt(name);
    if ("problem" in read) problems.push(read.problem);
    else files.push(read.file);
  }
  return { files, problems };
}

/** The session that started the agent of this file; undefined when it stands alone. */
export function startedBy(path: string): SessionId | undefined {
  const starter = `${dirname(path)}.jsonl`;
  if (!existsSync(starter)) return undefined;
  const read = attempt(starter);
  return "file" in read ? sessionIdOf(read.file) : undefined;
}

function sessionFilesIn(folder: string, sessionPath: string): readonly string[] {
  // A session file without the usual ending has no folder of its own: the name would be the file itself.
  if (folder === sessionPath || !existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true }).filter((found) => found.isFile() && found.name.endsWith(".jsonl"));
  return files.map((file) => join(folder, file.name)).sort();
}

function attempt(path: string): { readonly file: PiFile } | { readonly problem: ImportProblem } {
  try {
    return { file: readPiFile(path) };
  } catch (error) {
    if (!(error instanceof BoughError)) throw error;
    return { problem: { code: "unreadable-file", path, line: null, message: `the subagent's session was left out: ${error.message}` } };
  }
}
