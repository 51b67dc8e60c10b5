import type { EntryPayload } from "../../entry/entry.js";
import type { EntryId, EntrySeq, SessionId } from "../../ids/ids.js";
import type { Label } from "../../port/records.js";
import type { PathState } from "../../rules/derived-columns.js";
import type { GivenTitle, ImportedEntry, ImportTarget, NewReading, WrittenEntry } from "../../rules/import/import-target.js";
import type { Connection } from "../file/connection.js";
import { linkToCall, renameSession, requireSessionRow, setSessionOrigin } from "../sessions/session-rows.js";
import { setSourceSession } from "../sessions/source-files.js";
import { findValue } from "../sessions/values.js";
import { findLabel } from "../tree/annotations.js";
import { StoredSession } from "../tree/commit.js";
import { findEntryRow, findEntrySeq, parsePayload } from "../tree/entry-rows.js";
import { isTip, type WriteTarget } from "../tree/entry-writer.js";
import { hasLeafMoves } from "../tree/leaves.js";
import { connectCopies } from "../tree/origins.js";

/** A session in the file that an import writes to. Each answer and each change is a statement. */
export class StoredImport extends StoredSession implements ImportTarget {
  readonly #connection: Connection;
  readonly #session: WriteTarget;

  constructor(connection: Connection, session: WriteTarget) {
    super(connection, session);
    this.#connection = connection;
    this.#session = session;
  }

  find(id: EntryId): EntrySeq | undefined {
    return findEntrySeq(this.#connection, this.#session.seq, id);
  }

  payloadOf(id: EntryId): EntryPayload | undefined {
    const row = findEntryRow(this.#connection, this.#session.seq, id);
    return row && parsePayload(this.#connection, row);
  }

  isTip(seq: EntrySeq): boolean {
    return isTip(this.#connection, this.#session.seq, seq);
  }

  writeNew(parent: PathState, entry: ImportedEntry): WrittenEntry {
    return this.writer.appendNew(parent, entry);
  }

  hasLeafMoves(name: string): boolean {
    return hasLeafMoves(this.#connection, this.#session.seq, name);
  }

  findLabel(entry: EntrySeq): Omit<Label, "entryId"> | undefined {
    return findLabel(this.#connection, this.#session.seq, entry);
  }

  presentValue(key: string): unknown {
    return findValue(this.#connection, this.#session, key)?.value;
  }

  get title(): GivenTitle {
    const { title, title_source: source } = requireSessionRow(this.#connection, this.id);
    return { title, source };
  }

  rename(title: string | null, source: "user" | "auto"): void {
    renameSession(this.#connection, this.id, title, source);
  }

  setOrigin(cwd: string | null, createdAtMs: number): void {
    setSessionOrigin(this.#connection, this.#session.seq, cwd, createdAtMs);
  }

  linkToCall(call: Parameters<ImportTarget["linkToCall"]>[0]): void {
    linkToCall(this.#connection, this.#session.seq, call);
  }

  keepReading(reading: NewReading): void {
    setSourceSession(this.#connection, { ...reading, session: this.#session.seq });
  }

  settle(references: ReadonlySet<SessionId>): void {
    this.flushTotals();
    const { firstWritten: from } = this.writer;
    if (from !== undefined) connectCopies(this.#connection, this.#session, { from, references });
  }
}
