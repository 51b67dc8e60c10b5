import type { EntryPayload } from "../../entry/entry.js";
import type { ValidatedEntry } from "../../entry/validate.js";
import type { EntryId, EntrySeq, SessionId } from "../../ids/ids.js";
import type { PreparedEntry } from "../../port/entry-facts.js";
import type { Label, SessionKind } from "../../port/records.js";
import type { SourceSessionRecord } from "../../port/source.js";
import type { BatchTarget } from "../batch-writer.js";
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

/** The session that an import writes to, as a storage engine reads and changes it inside a transaction. */
export interface ImportTarget
  extends Pick<BatchTarget, "id" | "stateAt" | "isOnPath" | "findEqual" | "findLeaf" | "setLeaf" | "setLabel" | "setValue"> {
  /** The entry with this id, or undefined. */
  find(id: EntryId): EntrySeq | undefined;
  /** The payload of the entry with this id, or undefined. */
  payloadOf(id: EntryId): EntryPayload | undefined;
  /** True if an entry has no children. */
  isTip(seq: EntrySeq): boolean;
  /** Writes an entry whose id does not exist yet. @throws {InvalidReferenceError} */
  write(parent: PathState, entry: ImportedEntry): EntryPathState;
  /**
   * Writes an entry that is probably new: looks for an existing one only if it cannot be written.
   *
   * @throws {EntryConflictError | InvalidReferenceError}
   */
  writeNew(parent: PathState, entry: ImportedEntry): WrittenEntry;
  /** True if a leaf has a move that can be undone or redone. */
  hasLeafMoves(name: string): boolean;
  findLabel(entry: EntrySeq): Omit<Label, "entryId"> | undefined;
  /** undefined: there is none. */
  presentValue(key: string): unknown;
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
export interface WrittenEntry {
  readonly state: EntryPathState;
  readonly isKnown: boolean;
}
