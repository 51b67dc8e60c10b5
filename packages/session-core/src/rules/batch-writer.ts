import type { EntryPayload } from "../entry/entry.js";
import { isSameJson } from "../entry/json.js";
import { toPayloadJson } from "../entry/stored-payload.js";
import { normalizeUsageOf } from "../entry/usage.js";
import type { ValidatedEntry } from "../entry/validate.js";
import { EntryConflictError, InvalidEntryError, LeafMovedError, LeafNotFoundError } from "../errors/session-errors.js";
import type { EntryId, EntrySeq, SessionId } from "../ids/ids.js";
import type { Batch, Write } from "../port/writes.js";
import { EMPTY_PATH, type EntryPathState, type PathState } from "./derived-columns.js";

/** Validates what a caller gave as an entry: `validateEntry`. */
export type Validate = (given: unknown, inSchemaOrder?: boolean) => ValidatedEntry;

let validate: Validate | undefined;

/** `validateEntry` if it is loaded already; an append then needs no `await` before its transaction. */
export function loadedValidation(): Validate | undefined {
  return validate;
}

/** Loads `validateEntry`, with zod and the schemas: about 40 ms. Programs that only read never load it. */
export async function loadValidation(): Promise<Validate> {
  validate ??= (await import("../entry/validate.js")).validateEntry;
  return validate;
}

/** A write whose entry has been validated. */
export type ValidatedWrite =
  | Exclude<Write, { readonly kind: "entry" }>
  | { readonly kind: "entry"; readonly entry: ValidatedEntry; readonly parentId?: EntryId | null | undefined };

/** Checks a write. @throws {InvalidEntryError} */
export function validateWrite(write: Write, validateEntry: Validate): ValidatedWrite {
  switch (write.kind) {
    case "entry":
      return { kind: "entry", entry: validateEntry(normalizeUsageOf(write.entry)), parentId: write.parentId };
    case "label":
      if (write.createdAtMs !== undefined && !Number.isSafeInteger(write.createdAtMs)) {
        throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970", "time of a label");
      }
      return write;
    case "value":
    case "deleteValues":
    case "moveLeaf":
      return write;
  }
  // JavaScript callers can pass any kind; an unknown kind must be rejected, not silently ignored.
  throw new InvalidEntryError("kind", "must be entry, label, value, deleteValues or moveLeaf", "kind of a write");
}

/** The session that a batch is written to, as a storage engine reads and changes it inside a transaction. */
export interface BatchTarget {
  readonly id: SessionId;
  /** The position of a leaf; null: before the first entry; undefined: there is no leaf of this name. */
  findLeaf(name: string): EntrySeq | null | undefined;
  setLeaf(name: string, seq: EntrySeq | null): void;
  /** @throws {InvalidEntryError} the name is not valid. */
  createLeaf(name: string, seq: EntrySeq | null): void;
  /** Moves the leaf from `expected`. Returns false if it is not there. */
  compareAndSetLeaf(name: string, expected: EntrySeq | null, to: EntrySeq | null): boolean;
  /** Records a move for undo, without moving the leaf. Undone moves can no longer be redone. */
  recordMove(name: string, from: EntrySeq | null, to: EntrySeq | null): void;
  /** The path state at an entry; `EMPTY_PATH` for null. */
  stateAt(seq: EntrySeq | null): PathState;
  /** @throws {EntryNotFoundError} */
  requireState(id: EntryId): EntryPathState;
  /** @throws {EntryNotFoundError} */
  requireSeq(id: EntryId): EntrySeq;
  /** True if `ancestor` is `seq` or above it. */
  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean;
  /**
   * Returns the existing entry of this id if its content is equal; with `parent`, if it is also below that entry.
   *
   * @throws {EntryConflictError} it differs.
   */
  findEqual(entry: ValidatedEntry, parent?: PathState): EntryPathState | undefined;
  /** Writes an entry whose id does not exist yet. @throws {InvalidReferenceError} */
  write(parent: PathState, entry: ValidatedEntry): EntryPathState;
  /** null or white space removes the label. */
  setLabel(entry: EntrySeq, label: string | null, createdAtMs: number): void;
  /** Throws unless the present value equals this one as JSON; undefined: unless there is none. @throws {ValueChangedError} */
  requireValue(key: string, expected: unknown): void;
  /** undefined removes the value. @throws {ValueTooLargeError | UnserializableValueError | InvalidEntryError} */
  setValue(key: string, value: unknown): void;
  deleteValues(prefix: string): void;
}

/** The fields of an existing entry that an append compares. */
export interface ExistingEntry {
  readonly type: EntryPayload["type"];
  /** Its payload without the type. */
  readonly json: string;
  readonly parentSeq: EntrySeq | null;
}

/**
 * Throws unless an entry equals the existing one of its id; with `parent`, unless that is also below this one.
 *
 * @throws {EntryConflictError} it differs.
 */
export function requireSameEntry(
  session: SessionId,
  { id = "", payload, payloadJson }: ValidatedEntry,
  existing: ExistingEntry,
  parent?: PathState,
): void {
  if (existing.type !== payload.type || !isSameJson(existing.json, payloadJson ?? toPayloadJson(payload)))
    throw new EntryConflictError(session, id, "with other content");
  if (parent !== undefined && parent.seq !== existing.parentSeq)
    throw new EntryConflictError(session, id, `that is not ${parent.entryId === null ? "a first entry" : `below ${parent.entryId}`}`);
}

/** The entries of a batch in order, and the path state at its leaf after it. */
export interface WrittenBatch {
  readonly entries: readonly { readonly id: EntryId; readonly seq: EntrySeq }[];
  readonly leaf: PathState;
}

/** Writes a batch by the rules of all engines: the places of its entries, the conflicts, and the leaves that move. */
export class BatchWriter {
  readonly #target: BatchTarget;
  readonly #batch: Omit<Batch, "sessionId" | "seen" | "writes">;
  readonly #entries: { readonly id: EntryId; readonly seq: EntrySeq }[] = [];
  /** The last known position of the leaf row. The row is written once per run of entries. */
  #stored: PathState;
  /** The parent of the next entry. */
  #parent: PathState;
  /** True if entries were written after the leaf row. */
  #leafIsBehind = false;

  /** `seen`: the leaf as the handle last read it. */
  constructor(target: BatchTarget, batch: Omit<Batch, "sessionId" | "seen" | "writes">, seen: PathState) {
    this.#target = target;
    this.#batch = batch;
    this.#stored = seen;
    this.#parent = seen;
  }

  /**
   * @throws {LeafMovedError} the stored leaf differs from `seen`, and `onConflict` is `error` or `onlyIfSeen` is set; the caller must
   * roll back.
   */
  run(writes: readonly ValidatedWrite[]): WrittenBatch {
    if (this.#batch.onlyIfSeen) this.#requireUnmoved();
    for (const write of writes) this.#write(write);
    this.#advanceLeaf();
    return { entries: this.#entries, leaf: this.#parent };
  }

  #write(write: ValidatedWrite): void {
    const target = this.#target;
    switch (write.kind) {
      case "entry":
        if (write.parentId === undefined) this.#append(write.entry);
        else this.#appendBelow(write.parentId, write.entry);
        return;
      case "label":
        target.setLabel(target.requireSeq(write.entryId), write.label, write.createdAtMs ?? Date.now());
        return;
      case "value":
        if ("ifEquals" in write) target.requireValue(write.key, write.ifEquals);
        target.setValue(write.key, write.value);
        return;
      case "deleteValues":
        target.deleteValues(write.prefix);
        return;
      case "moveLeaf":
        this.#moveLeaf(write.leaf ?? this.#batch.leafName, write.to === null ? null : target.requireSeq(write.to));
        return;
    }
  }

  #moveLeaf(name: string, to: EntrySeq | null): void {
    if (name !== this.#batch.leafName) {
      const from = this.#target.findLeaf(name);
      // A new leaf has not moved.
      if (from === undefined) this.#target.createLeaf(name, to);
      else this.#recordAndSet(name, from, to);
      return;
    }
    this.#advanceLeaf();
    this.#recordAndSet(name, this.#requireLeaf(), to);
    this.#parent = this.#target.stateAt(to);
    this.#stored = this.#parent;
  }

  #recordAndSet(name: string, from: EntrySeq | null, to: EntrySeq | null): void {
    if (from === to) return;
    this.#target.recordMove(name, from, to);
    this.#target.setLeaf(name, to);
  }

  #append(entry: ValidatedEntry): void {
    const known = this.#target.findEqual(entry);
    if (known !== undefined) {
      this.#entries.push({ id: known.entryId, seq: known.seq });
      if (!this.#leafIsBehind) this.#continueAfterRetry(known);
      return;
    }
    if (!this.#leafIsBehind) this.#resolveConflict();
    const state = this.#target.write(this.#parent, entry);
    this.#entries.push({ id: state.entryId, seq: state.seq });
    this.#parent = state;
    this.#leafIsBehind = true;
  }

  /** Appends below a given entry. Neither reads nor writes a leaf. */
  #appendBelow(parentId: EntryId | null, entry: ValidatedEntry): void {
    const parent = parentId === null ? EMPTY_PATH : this.#target.requireState(parentId);
    const state = this.#target.findEqual(entry, parent) ?? this.#target.write(parent, entry);
    this.#entries.push({ id: state.entryId, seq: state.seq });
  }

  /**
   * Handles a repeated append whose first attempt was stored: if the stored leaf is at or below that entry, the next entry is
   * appended below the leaf. If another writer moved the leaf elsewhere, nothing changes, and the next append detects the conflict.
   */
  #continueAfterRetry(known: EntryPathState): void {
    const leaf = this.#requireLeaf();
    if (!this.#target.isOnPath(known.seq, leaf)) return;
    this.#stored = this.#target.stateAt(leaf);
    this.#parent = this.#stored;
  }

  /**
   * If another writer moved the stored leaf: `follow` appends below it; `branch` keeps the parent and records a leaf move.
   * `error` is checked by `#advanceLeaf`, in the statement that writes the leaf row.
   */
  #resolveConflict(): void {
    const { leafName, onConflict } = this.#batch;
    if (onConflict === "error") return;
    const actual = this.#requireLeaf();
    if (actual === this.#stored.seq) return;
    this.#stored = this.#target.stateAt(actual);
    if (onConflict === "follow") {
      this.#parent = this.#stored;
    } else {
      // `branch`: recorded as a move away from the other writer's branch, so that an undo leads back to it.
      this.#target.recordMove(leafName, this.#stored.seq, this.#parent.seq);
    }
  }

  /** Moves the stored leaf to the last entry that was appended. */
  #advanceLeaf(): void {
    if (!this.#leafIsBehind) return;
    const { leafName, onConflict } = this.#batch;
    if (onConflict !== "error") this.#target.setLeaf(leafName, this.#parent.seq);
    else if (!this.#target.compareAndSetLeaf(leafName, this.#stored.seq, this.#parent.seq)) throw this.#leafMoved(this.#requireLeaf());
    this.#stored = this.#parent;
    this.#leafIsBehind = false;
  }

  #requireUnmoved(): void {
    const actual = this.#requireLeaf();
    if (actual !== this.#stored.seq) throw this.#leafMoved(actual);
  }

  #leafMoved(actual: EntrySeq | null): LeafMovedError {
    const { leafName } = this.#batch;
    return new LeafMovedError(this.#target.id, leafName, this.#stored.entryId, this.#target.stateAt(actual).entryId);
  }

  #requireLeaf(): EntrySeq | null {
    const { leafName } = this.#batch;
    const seq = this.#target.findLeaf(leafName);
    if (seq === undefined) throw new LeafNotFoundError(this.#target.id, leafName);
    return seq;
  }
}
