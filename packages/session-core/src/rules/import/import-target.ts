import type { EntryPayload } from "../../entry/entry.js";
import type { ValidatedEntry } from "../../entry/validate.js";
import type { EntryId, SessionId } from "../../ids/ids.js";
import type { PreparedEntry } from "../../port/entry-facts.js";
import type { Label, SessionKind } from "../../port/records.js";
import type { SourceSessionRecord } from "../../port/source.js";
import type { EntryPathState, PathState } from "../derived-columns.js";

/** The session of an import before it, if there was one. */
export interface ExistingSession {
  readonly kind: SessionKind;
  readonly cwd: string | null;
  readonly entryCount: number;
  /** The tool call that started it. */
  readonly callId: string | null;
}

/** The title of a session, and who gave it. */
export interface GivenTitle {
  readonly title: string | null;
  readonly source: "user" | "auto" | null;
}

/** The record of a reading of a session by a sync; the storage adds the session itself. */
export interface NewReading extends Pick<SourceSessionRecord, "path" | "sourceId" | "revision" | "leafId" | "title" | "position"> {
  /** As in `ImportedSession`. */
  readonly heldUntilMs: number | null;
}

/** A validated entry of a source. `prepared`: what another thread has computed of it; its payload is then parsed only when it is read. */
export interface ImportedEntry extends ValidatedEntry {
  readonly prepared?: PreparedEntry | undefined;
}

/** The session that an import writes to, as a storage engine reads and changes it inside a transaction. `S`: numbers of entries. */
export interface ImportTarget<S extends number> {
  readonly id: SessionId;
  /** The entry with this id, or undefined. */
  find(id: EntryId): S | undefined;
  /** The payload of the entry with this id, or undefined. */
  payloadOf(id: EntryId): EntryPayload | undefined;
  /** The path state at an entry; `EMPTY_PATH` for null. */
  stateAt(seq: S | null): PathState<S>;
  /** True if `ancestor` is `seq` or above it. */
  isOnPath(ancestor: S, seq: S | null): boolean;
  /** True if an entry has no children. */
  isTip(seq: S): boolean;
  /**
   * Returns the existing entry of this id if its content is equal; with `parent`, if it is also below that entry.
   *
   * @throws {EntryConflictError} it differs.
   */
  findEqual(entry: ValidatedEntry, parent?: PathState<S>): EntryPathState<S> | undefined;
  /** Writes an entry whose id does not exist yet. @throws {InvalidReferenceError} */
  write(parent: PathState<S>, entry: ImportedEntry): EntryPathState<S>;
  /**
   * Writes an entry that is probably new: looks for an existing one only if it cannot be written.
   *
   * @throws {EntryConflictError | InvalidReferenceError}
   */
  writeNew(parent: PathState<S>, entry: ImportedEntry): WrittenEntry<S>;
  /** The position of a leaf; null: before the first entry; undefined: there is no leaf of this name. */
  findLeaf(name: string): S | null | undefined;
  setLeaf(name: string, seq: S | null): void;
  /** True if a leaf has a move that can be undone or redone. */
  hasLeafMoves(name: string): boolean;
  findLabel(entry: S): Omit<Label, "entryId"> | undefined;
  setLabel(entry: S, label: string | null, createdAtMs: number): void;
  /** undefined: there is none. */
  presentValue(key: string): unknown;
  /** undefined removes the value. */
  setValue(key: string, value: unknown): void;
  readonly title: GivenTitle;
  /** null removes the title. An automatic title never replaces one that a person gave. */
  rename(title: string | null, source: "user" | "auto"): void;
  /** Sets folder and time of a session whose first lines did not have them. */
  setOrigin(cwd: string | null, createdAtMs: number): void;
  /** Links the session of a subagent to the tool call that started it. */
  linkToCall(call: { readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly toolCallId: string }): void;
  /** Keeps how the session was read, for the next sync. */
  keepReading(reading: NewReading): void;
  /** Called after the last entry, before anything is decided from all of them. `references`: the sessions to whose entries new ones refer. */
  settle(references: ReadonlySet<SessionId>): void;
}

/** `isKnown`: an equal entry of the same id existed, and nothing was written. */
export interface WrittenEntry<S extends number> {
  readonly state: EntryPathState<S>;
  readonly isKnown: boolean;
}
