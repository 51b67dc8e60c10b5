import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { ImportProblem, SessionId } from "@bough/session-core";
import type { SourceHeader, SourceSession } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { UnknownFormatError } from "../errors.js";
import { foldersBelow } from "../source/agent-folders.js";
import { derivedId } from "../source/derived-id.js";
import { readRecordLog } from "../source/record-log.js";
import { renamedFormat } from "../source/renamed-format.js";
import type { FolderEntry } from "../source/source-file.js";
import { SourceFolders } from "../source/source-folders.js";
import { type FileHead, type NewSourceFile, type ReadAttempt, type SourceFormat, tryRead } from "../source/source-format.js";
import { isPiHead, type PiFile, readPiFile, readSessionId, toSourceHeader } from "./pi-file.js";
import { PiConversation } from "./records.js";

/** The deepest nesting of subagents that is read. */
const MAX_SUBAGENT_DEPTH = 8;

/** Session files of pi (versions 1 to 3) and of oh-my-pi. Sessions of subagents follow the session that started them. */
export const piFormat: SourceFormat = {
  name: "pi",
  agents: [
    {
      name: "pi",
      folders: (given) => foldersBelow(given, "PI_CODING_AGENT_DIR", ["sessions"], ".pi/agent"),
      files: /\.jsonl$/,
      resume: { program: "pi", args: (_id, file) => ["--session", file], newSession },
    },
    {
      name: "oh-my-pi",
      folders: (given) => foldersBelow(given, "OMP_CODING_AGENT_DIR", ["sessions"], ".omp/agent"),
      files: /\.jsonl$/,
      resume: { program: "omp", args: (id) => ["--resume", id], newSession },
    },
  ],
  detects: (head: FileHead) => isPiHead(head.records),
  starterOf: starterPath,
  sessions: (path: string, folders = new SourceFolders()) => {
    const file = readPiFile(path);
    const starter = readStarter(path, folders);
    const reading = new SessionCollector(folders);
    reading.collect(file, starter.value && readSessionId(starter.value), 0, starter.problems);
    return reading.sessions;
  },
};

/** Sessions of OpenClaw: those of each of its agents in a folder of their own. */
export const openclawFormat = renamedFormat(piFormat, {
  name: "openclaw",
  path: /(?:^|\/)agents\/[^/]+\/sessions\/[^/]+\.jsonl$/,
  agent: {
    name: "OpenClaw",
    folders: (given) => foldersBelow(given, "OPENCLAW_STATE_DIR", ["agents"], ".openclaw"),
    files: /^[^/]+\/sessions\/[^/]+\.jsonl$/,
    // An agent's workspace and credentials.
    skipped: /^[^/]+\/(?!sessions$)[^/]+$/,
  },
});

/** Sessions of Prime Agent. */
export const primeFormat = renamedFormat(piFormat, {
  name: "prime-agent",
  path: /(?:^|\/)\.prime\/agent\/sessions\//,
  agent: { name: "Prime Agent", folders: ({ home }) => [join(home, ".prime", "agent", "sessions")], files: /\.jsonl$/ },
});

/** Both programs keep the sessions of a working directory in a folder of its name. */
function newSession(folder: string, { cwd, createdAtMs }: { readonly cwd: string; readonly createdAtMs: number }): NewSourceFile {
  const sessionId = randomUUID();
  const project = `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
  const time = new Date(createdAtMs).toISOString().replace(/[:.]/g, "-");
  return { sessionId, file: join(folder, project, `${time}_${sessionId}.jsonl`) };
}

/** Collects the sessions of a file and of its subagents, parents first. */
class SessionCollector {
  readonly sessions: SourceSession[] = [];
  readonly #taken = new Set<SessionId>();
  readonly #folders: SourceFolders;

  constructor(folders: SourceFolders) {
    this.#folders = folders;
  }

  collect(file: PiFile, starter: SessionId | undefined, depth: number, problems: readonly ImportProblem[]): void {
    const own = readSessionId(file);
    // A copied file has the same id; both files become sessions.
    const sessionId = this.#taken.has(own) ? derivedId(own, file.path.split(/[\\/]/).at(-1) ?? "") : own;
    this.#taken.add(sessionId);
    const subagents = depth < MAX_SUBAGENT_DEPTH ? findSubagents(file.path, this.#folders) : { files: [], problems: [] };
    this.sessions.push(toSession(file, toSourceHeader(file, sessionId, starter), [...problems, ...subagents.problems]));
    for (const child of subagents.files) this.collect(child, sessionId, depth + 1, []);
  }
}

function toSession(file: PiFile, header: SourceHeader, problems: readonly ImportProblem[]): SourceSession {
  const begin = (state?: JsonObject) => new PiConversation(file, header.sessionId, state);
  const found = problems.map((problem) => ({ kind: "problem", problem }) as const);
  return { header, path: file.path, ...readRecordLog(file.path, begin, found) };
}

/** The files of a session's subagents, and a problem for each file that cannot be read. */
interface Subagents {
  readonly files: readonly PiFile[];
  readonly problems: readonly ImportProblem[];
}

/** Finds the subagents of an oh-my-pi session: each `.jsonl` in the folder with the name of the session file. */
function findSubagents(path: string, folders: SourceFolders): Subagents {
  // A session file without the extension has no such folder: its name would be the file itself.
  const folder = path.replace(/\.jsonl$/, "");
  if (folder === path || !folders.has(folder)) return { files: [], problems: [] };
  const found = tryRead(folder, "the sessions of its agents were left out", () => folders.paths(folder, isSessionFile));
  const read = (found.value ?? []).map((file) => tryRead(file, "the subagent's session was left out", () => readPiFile(file)));
  return {
    files: read.flatMap(({ value }) => value ?? []),
    problems: [found, ...read].flatMap(({ problems }) => problems),
  };
}

// Links are left to `findSourceFiles`, which returns a file with several links once.
function isSessionFile({ name, kind }: FolderEntry): boolean {
  return name.endsWith(".jsonl") && (kind === "file" || kind === "special");
}

/** The path of the session that started this file's agent; undefined if there is none. */
function starterPath(path: string, folders: SourceFolders): string | undefined {
  const starter = `${dirname(path)}.jsonl`;
  return folders.has(starter) ? starter : undefined;
}

/** The file of the session that started this file's agent; undefined if there is none or it is of another format. */
function readStarter(path: string, folders: SourceFolders): ReadAttempt<PiFile | undefined> {
  const starter = starterPath(path, folders);
  const read = () => (starter === undefined ? undefined : readPiFileOrUndefined(starter));
  return tryRead(starter ?? path, "the link to the session that started this one was left out", read);
}

/** The file if it is of pi's format: the file at this path may be another program's. */
function readPiFileOrUndefined(path: string): PiFile | undefined {
  try {
    return readPiFile(path);
  } catch (error) {
    if (error instanceof UnknownFormatError) return undefined;
    throw error;
  }
}
