import type { Entry } from "../../entry/entry.js";
import type { EntryId, SessionId } from "../../ids/ids.js";
import type { JsonObject } from "../../source/narrow.js";
import { derivedId } from "../pi/derived-id.js";
import { EXPORTED_BY, LEAF_MARK } from "../pi/marks.js";
import { isoTime, piRecordOf } from "./entry-record.js";

/** What of a session goes into pi's header and its last lines. */
export interface PiExportSession {
  readonly id: SessionId;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly createdAtMs: number;
  readonly parentSessionId: SessionId | null;
}

/** A label on an entry of the export. */
export interface PiExportLabel {
  readonly entryId: EntryId;
  readonly label: string;
  readonly createdAtMs: number;
}

/** A session to write as a pi file. Entries come parents first; nothing but the one at hand is kept in memory. */
export interface PiExport {
  readonly session: PiExportSession;
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly labels: AsyncIterable<PiExportLabel> | Iterable<PiExportLabel>;
  /** Where the session stands; null: before its first entry. */
  readonly leafId: EntryId | null;
}

/**
 * The lines of a session file of pi, version 3, each without its line break: header, entries in the order given, then
 * labels and title. Reading them back with `piFormat` gives the same tree, leaf, labels, title and payloads.
 *
 * @example
 * for await (const line of piLines(input)) file.write(`${line}\n`);
 */
export async function* piLines(input: PiExport): AsyncGenerator<string, void, void> {
  yield JSON.stringify(headerOf(input.session));
  let last: EntryId | null = null;
  for await (const entry of input.entries) {
    last = entry.id;
    yield JSON.stringify(piRecordOf(entry));
  }
  yield* lastLines(input, last);
}

function headerOf({ id, cwd, createdAtMs, parentSessionId }: PiExportSession): JsonObject {
  const header = { type: "session", version: 3, id, timestamp: isoTime(createdAtMs), cwd: cwd ?? "", [EXPORTED_BY]: "bough" };
  return parentSessionId === null ? header : { ...header, parentSession: parentSessionId };
}

// pi takes the last line of a file for the leaf. So the lines behind the entries hang on the leaf, one below the
// other; where there would be none and the leaf is not the last entry, a line is written for nothing but that.
async function* lastLines({ session, labels, leafId }: PiExport, last: EntryId | null): AsyncGenerator<string, void, void> {
  const chain = new Chain(session, leafId);
  if (leafId !== last) yield chain.line(session.createdAtMs, { type: "custom", customType: LEAF_MARK });
  for await (const { entryId, label, createdAtMs } of labels) yield chain.line(createdAtMs, { type: "label", targetId: entryId, label });
  if (session.title !== null) yield chain.line(session.createdAtMs, { type: "session_info", name: session.title });
}

class Chain {
  #written = 0;

  constructor(
    private readonly session: PiExportSession,
    private parentId: string | null,
  ) {}

  line(createdAtMs: number, record: JsonObject): string {
    const id = derivedId(this.session.id, "last line", ++this.#written);
    const line = JSON.stringify({ ...record, id, parentId: this.parentId, timestamp: isoTime(createdAtMs) });
    this.parentId = id;
    return line;
  }
}
