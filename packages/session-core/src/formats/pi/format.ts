import type { SessionId } from "../../ids/ids.js";
import type { FileHead, SourceFormat, SourceRecord, SourceSession } from "../../source/source-session.js";
import { derivedId } from "./derived-id.js";
import { headerOf, sessionIdOf } from "./header.js";
import { isPiHead, type PiFile, readPiFile } from "./pi-file.js";
import { recordsOf } from "./records.js";
import { type Subagents, startedBy, subagentsOf } from "./subagents.js";

/** How deep agents that start agents are followed. */
const MAX_SUBAGENT_DEPTH = 8;

/** Session files of pi (versions 1 to 3) and of oh-my-pi, whose subagents' sessions follow their parent's. */
export const piFormat: SourceFormat = {
  name: "pi",
  detects: (head: FileHead) => isPiHead(head.records),
  sessions: (path: string) => {
    const file = readPiFile(path);
    const sessions: SourceSession[] = [];
    collect(file, startedBy(path), new Set(), 0, sessions);
    return sessions;
  },
};

function collect(file: PiFile, starter: SessionId | undefined, taken: Set<SessionId>, depth: number, into: SourceSession[]): void {
  const own = sessionIdOf(file);
  // A copied file keeps the id inside it; two sessions of one import must still be two.
  const sessionId = taken.has(own) ? derivedId(own, file.path.split(/[\\/]/).at(-1) ?? "") : own;
  taken.add(sessionId);
  const subagents = depth < MAX_SUBAGENT_DEPTH ? subagentsOf(file.path) : { files: [], problems: [] };
  into.push({ header: headerOf(file, sessionId, starter), records: () => withProblems(file, sessionId, subagents) });
  for (const child of subagents.files) collect(child, sessionId, taken, depth + 1, into);
}

function* withProblems(file: PiFile, sessionId: SessionId, subagents: Subagents): Generator<SourceRecord, void, void> {
  for (const problem of subagents.problems) yield { kind: "problem", problem };
  yield* recordsOf(file, sessionId);
}
