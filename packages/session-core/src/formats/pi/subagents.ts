import { dirname } from "node:path";
import { UnknownFormatError } from "../../errors/import-errors.js";
import { type Attempt, attempt } from "../../source/attempt.js";
import type { FolderEntry } from "../../source/open-source.js";
import type { SourceFolders } from "../../source/source-folders.js";
import type { ImportProblem } from "../../source/source-session.js";
import { type PiFile, readPiFile } from "./pi-file.js";

/** The files of the agents that a session started, and those that look like one and cannot be read. */
export interface Subagents {
  readonly files: readonly PiFile[];
  readonly problems: readonly ImportProblem[];
}

/** Looks into the folder beside an oh-my-pi session, named like the file: each `.jsonl` in it is a subagent's session. */
export function subagentsOf(path: string, folders: SourceFolders): Subagents {
  // A session file without the usual ending has no folder of its own: the name would be the file itself.
  const folder = path.replace(/\.jsonl$/, "");
  if (folder === path || !folders.has(folder)) return { files: [], problems: [] };
  const found = attempt(folder, "the sessions of its agents were left out", () => folders.paths(folder, isSessionFile));
  const read = (found.value ?? []).map((file) => attempt(file, "the subagent's session was left out", () => readPiFile(file)));
  return {
    files: read.flatMap(({ value }) => value ?? []),
    problems: [found, ...read].flatMap(({ problems }) => problems),
  };
}

// A link is left to a walk through the folder, which gives what several links lead to once.
function isSessionFile({ name, kind }: FolderEntry): boolean {
  return name.endsWith(".jsonl") && (kind === "file" || kind === "special");
}

/** Where the session that started the agent of this file has its own; undefined when it stands alone. */
export function starterPath(path: string, folders: SourceFolders): string | undefined {
  const starter = `${dirname(path)}.jsonl`;
  return folders.has(starter) ? starter : undefined;
}

/** The file of the session that started the agent of this one; undefined when it stands alone, or beside a file of another format. */
export function startedBy(path: string, folders: SourceFolders): Attempt<PiFile | undefined> {
  const starter = starterPath(path, folders);
  const read = () => (starter === undefined ? undefined : piFileOrNone(starter));
  return attempt(starter ?? path, "the link to the session that started this one was left out", read);
}

/** The file if it is one of pi's: any file may have the name that the starter's would have. */
function piFileOrNone(path: string): PiFile | undefined {
  try {
    return readPiFile(path);
  } catch (error) {
    if (error instanceof UnknownFormatError) return undefined;
    throw error;
  }
}
