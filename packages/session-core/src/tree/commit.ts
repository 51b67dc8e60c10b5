import type { ValidatedEntry } from "../entry/validate.js";
import type { EntryId } from "../ids/ids.js";
import type { OnConflict } from "../port/session-storage.js";
import { setLabel } from "../sessions/labels.js";
import { setValue } from "../sessions/values.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq } from "../storage/schema.js";
import { isOnPath } from "./ancestry.js";
import { entrySeq, type Tip, tipAt } from "./entry-rows.js";
import { type Appended, type EntryTip, EntryWriter, type Target } from "./entry-writer.js";
import { compareAndSetLeaf, leafSeq, logMove, moveLeaf, requireLeaf, setLeaf } from "./leaves.js";

/** One thing to write, its entry judged. */
export type JudgedWrite =
  | { readonly kind: "entry"; readonly entry: ValidatedEntry }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  | { readonly kind: "moveLeaf"; readonly to: EntryId | null };

/** A batch for one leaf. */
export interface JudgedBatch {
  readonly target: Target;
  readonly leafName: string;
  readonly seen: Tip;
  readonly onConflict: OnConflict;
  readonly onlyIfSeen: boolean;
  readonly writes: readonly JudgedWrite[];
}

/** The entries of a batch in order, and where the leaf stands after it. */
export interface Committed {
  readonly appended: readonly Appended[];
  readonly leaf: Tip;
}

/** Writes a batch in one transaction: all of it or, after any error, none. */
export function commit(connection: Connection, batch: JudgedBatch): Committed {
  return connection.write(() => new BatchWriter(connection, batch).run());
}

/** Where a batch stands while it is being written. */
class BatchWriter {
  readonly #connection: Connection;
  readonly #batch: JudgedBatch;
  readonly #writer: EntryWriter;
  readonly #appended: Appended[] = [];
  /** The leaf as the table has it; the batch moves it once, at its end. */
  #stored: Tip;
  #tip: Tip;
  /** Whether entries were written that the leaf has not been moved over yet. */
  #pending = false;

  constructor(connection: Connection, batch: JudgedBatch) {
    this.#connection = connection;
    this.#batch = batch;
    this.#writer = new EntryWriter(connection, batch.target);
    this.#stored = batch.seen;
    this.#tip = batch.seen;
  }

  run(): Committed {
    if (this.#batch.onlyIfSeen) requireLeaf(this.#connection, this.#batch.target, this.#batch.leafName, this.#stored);
    for (const write of this.#batch.writes) this.#write(write);
    this.#settle();
    this.#writer.flush();
    return { appended: this.#appended, leaf: this.#tip };
  }

  #write(write: JudgedWrite): void {
    const { target, leafName } = this.#batch;
    switch (write.kind) {
      case "entry":
        this.#append(write.entry);
        return;
      case "label":
        setLabel(this.#connection, target.seq, this.#seqOf(write.entryId), write.label, write.createdAtMs ?? Date.now());
        return;
      case "value":
        setValue(this.#connection, target.seq, write.key, write.value);
        return;
      case "moveLeaf":
        this.#settle();
        this.#tip = moveLeaf(this.#connection, target, leafName, write.to === null ? null : this.#seqOf(write.to));
        this.#stored = this.#tip;
        return;
    }
  }

  #append(entry: ValidatedEntry): void {
    const known = this.#writer.find(entry);
    if (known !== undefined) {
      this.#appended.push({ tip: known, known: true });
      if (!this.#pending) this.#standBelow(known);
      return;
    }
    if (!this.#pending) this.#meetOtherWriter();
    const appended = this.#writer.write(this.#tip, entry);
    this.#appended.push(appended);
    this.#tip = appended.tip;
    this.#pending = true;
  }

  /**
   * A repeated append whose first try did arrive: the leaf stands at it or below, and stays there. Where another writer
   * has put the leaf elsewhere, the handle has still to meet that: what it appends next must not slip under theirs.
   */
  #standBelow(known: EntryTip): void {
    const leaf = leafSeq(this.#connection, this.#batch.target, this.#batch.leafName);
    if (!isOnPath(this.#connection, known.seq, leaf)) return;
    this.#stored = tipAt(this.#connection, leaf);
    this.#tip = this.#stored;
  }

  #meetOtherWriter(): void {
    const { target, leafName, onConflict } = this.#batch;
    if (onConflict === "error") return;
    const actual = leafSeq(this.#connection, target, leafName);
    if (actual === this.#stored.seq) return;
    this.#stored = tipAt(this.#connection, actual);
    if (onConflict === "follow") this.#tip = this.#stored;
    // The other writer's branch is left as by a move, so that an undo leads back to it.
    else logMove(this.#connection, target.seq, leafName, this.#stored.seq, this.#tip.seq);
  }

  /** Moves the leaf over what was appended. */
  #settle(): void {
    if (!this.#pending) return;
    const { target, leafName, onConflict } = this.#batch;
    if (onConflict === "error") compareAndSetLeaf(this.#connection, target, leafName, this.#stored, this.#tip);
    else setLeaf(this.#connection, target.seq, leafName, this.#tip.seq);
    this.#stored = this.#tip;
    this.#pending = false;
  }

  #seqOf(id: EntryId): EntrySeq {
    return entrySeq(this.#connection, this.#batch.target.seq, this.#batch.target.id, id);
  }
}
