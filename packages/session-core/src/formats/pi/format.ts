import type { SessionId } from "../../ids/ids.js";
import { SourceFolders } from "../../source/source-folders.js";
import type { FileHead, ImportProblem, SourceFormat, SourceRecord, SourceSession } from "../../source/source-session.js";
import { derivedId } from "./derived-id.js";
import { headerOf, sessionIdOf } from "./header.js";
import { isPiHead, type PiFile, readPiFile } from "./pi-file.js";
import { recordsOf } from "./records.js";
import { startedBy, starterPath, subagentsOf } from "./subagents.js";

/** How deep agents that start agents are followed. */
const MAX_SUBAGENT_DEPTH = 8;

/** Session files of pi (versions 1 to 3) and of oh-my-pi, whose subagents' sessions follow their parent's. */
export const piFormat: SourceFormat = {
  name: "pi",
  detects: (head: FileHead) => isPiHead(head.records),
  starterOf: starterPath,
  sessions: (path: string, folders = new SourceFolders()) => {
    const file = readPiFile(path);
    const starter = startedBy(path, folders);
    const reading = new Reading(folders);
    reading.collect(file, starter.value && sessionIdOf(starter.value), 0, starter.problems);
    return reading.sessions;
  },
};

/** The sessions of a file and of the files below it, in the order in which they are read. */
class Reading {
  readonly sessions: SourceSession[] = [];
  readonly #taken = new Set<SessionId>();
  readonly #folders: SourceFolders;

  constructor(folders: SourceFolders) {
    this.#folders = folders;
  }

  collect(file: PiFile, starter: SessionId | undefined, depth: number, problems: readonly ImportProblem[]): void {
    const own = sessionIdOf(file);
    // A copied file keeps the id inside it; two sessions of one import must still be two.
    const sessionId = this.#taken.has(own) ? derivedId(own, file.path.split(/[\\/]/).at(-1) ?? "") : own;
    this.#taken.add(sessionId);
    const subagents = depth < MAX_SUBAGENT_DEPTH ? subagentsOf(file.path, this.#folders) : { files: [], problems: [] };
    const records = () => withProblems(file, sessionId, [...problems, ...subagents.problems]);
    this.sessions.push({ header: headerOf(file, sessionId, starter), path: file.path, records });
    for (const child of subagents.files) this.collect(child, sessionId, depth + 1, []);
  }
}

function* withProblems(file: PiFile, sessionId: SessionId, problems: readonly ImportProblem[]): Generator<SourceRecord, void, void> {
  for (const problem of problems) yield { kind: "problem", problem };
  yield* recordsOf(file, sessionId);
}
