import type { ValidatedEntry } from "../../entry/validate.js";
import type { EntryId, SessionId } from "../../ids/ids.js";
import type { EntrySeq } from "../../port/rows.js";
import type { BatchTarget } from "../../rules/batch-writer.js";
import type { EntryPathState, PathState } from "../../rules/path-rules.js";
import type { Connection } from "../file/connection.js";
import { setLabel } from "../sessions/labels.js";
import { deleteValues, requireValue, setValue } from "../sessions/values.js";
import { isOnPath } from "./ancestry.js";
import { requireEntrySeq } from "./entry-rows.js";
import { EntryWriter, type WriteTarget } from "./entry-writer.js";
import { compareAndSetLeaf, createLeaf, findLeaf, recordMove, setLeaf } from "./leaves.js";
import { readPathState, requirePathState } from "./path-state.js";

/** A session in the file. Each answer and each change is a statement. */
export class StoredSession implements BatchTarget<EntrySeq> {
  readonly #connection: Connection;
  readonly #session: WriteTarget;
  protected readonly writer: EntryWriter;

  constructor(connection: Connection, session: WriteTarget) {
    this.#connection = connection;
    this.#session = session;
    this.writer = new EntryWriter(connection, session);
  }

  get id(): SessionId {
    return this.#session.id;
  }

  findLeaf(name: string): EntrySeq | null | undefined {
    return findLeaf(this.#connection, this.#session.seq, name)?.seq;
  }

  setLeaf(name: string, seq: EntrySeq | null): void {
    setLeaf(this.#connection, this.#session.seq, name, seq);
  }

  createLeaf(name: string, seq: EntrySeq | null): void {
    createLeaf(this.#connection, this.#session.seq, name, seq);
  }

  compareAndSetLeaf(name: string, expected: EntrySeq | null, to: EntrySeq | null): boolean {
    return compareAndSetLeaf(this.#connection, this.#session.seq, name, expected, to);
  }

  recordMove(name: string, from: EntrySeq | null, to: EntrySeq | null): void {
    recordMove(this.#connection, this.#session.seq, name, from, to);
  }

  stateAt(seq: EntrySeq | null): PathState {
    return readPathState(this.#connection, seq);
  }

  requireState(id: EntryId): EntryPathState {
    return requirePathState(this.#connection, this.#session, id);
  }

  requireSeq(id: EntryId): EntrySeq {
    return requireEntrySeq(this.#connection, this.#session, id);
  }

  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean {
    return isOnPath(this.#connection, ancestor, seq);
  }

  findEqual(entry: ValidatedEntry, parent?: PathState): EntryPathState | undefined {
    return this.writer.findEqual(entry, parent);
  }

  write(parent: PathState, entry: ValidatedEntry): EntryPathState {
    return this.writer.write(parent, entry).state;
  }

  setLabel(entry: EntrySeq, label: string | null, createdAtMs: number): void {
    setLabel(this.#connection, this.#session.seq, entry, label, createdAtMs);
  }

  requireValue(key: string, expected: unknown): void {
    requireValue(this.#connection, this.#session, key, expected);
  }

  setValue(key: string, value: unknown): void {
    setValue(this.#connection, this.#session.seq, key, value);
  }

  deleteValues(prefix: string): void {
    deleteValues(this.#connection, this.#session.seq, prefix);
  }

  flushTotals(): void {
    this.writer.flushTotals();
  }
}
