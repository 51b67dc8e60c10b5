import type { JudgedEntry } from "../entry/gate.js";
import type { EntryId } from "../ids/ids.js";
import { setLabel } from "../labels/labels.js";
import { setValue } from "../labels/values.js";
import type { OnConflict } from "../port/session-storage.js";
import type { Connection } from "../storage/connection.js";
import type { EntrySeq } from "../storage/schema.js";
import { isOnPath } from "./ancestry.js";
import { type Appended, EntryWriter, type Target } from "./entry-writer.js";
import { logMove, moveLeaf } from "./leaf-moves.js";
import { compareAndSetLeaf, leafSeq, setLeaf } from "./leaf-rows.js";
import { entrySeq, type Tip, tipAt } from "./tip.js";

/** One thing to write, its entry judged. */
export type JudgedWrite =
  | { readonly kind: "entry"; readonly entry: JudgedEntry }
  | { readonly kind: "label"; readonly entryId: EntryId; readonly label: string | null; readonly createdAtMs?: number | undefined }
  | { readonly kind: "value"; readonly key: string; readonly value: unknown }
  | { readonly kind: "moveLeaf"; readonly to: EntryId | null };

/** A batch for one leaf. */
export interface JudgedBatch {
  readonly target: Target;
  readonly leafName: string;
  readonly seen: Tip;
  readonly onConflict: OnConflict;
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

  constructor(connection: Connection, batch: JudgedBatch) {
    this.#connection = connection;
    this.#batch = batch;
    this.#writer = new EntryWriter(connection, batch.target);
    this.#stored = batch.seen;
    this.#tip = batch.seen;
  }

  run(): Committed {
    const appends = this.#batch.writes.some((write) => write.kind === "entry");
    if (appends && this.#batch.onConflict !== "error") this.#meetOtherWriter();
    for (const write of this.#batch.writes) this.#write(write);
    this.#settle();
    this.#writer.flush();
    return { appended: this.#appended, leaf: this.#tip };
  }

  #meetOtherWriter(): void {
    const { target, leafName, onConflict } = this.#batch;
    const actual = leafSeq(this.#connection, target, leafName);
    if (actual === this.#stored.seq) return;
    this.#stored = tipAt(this.#connection, actual);
    if (onConflict === "follow") this.#tip = this.#stored;
    // The other writer's branch is left as by a move, so that an undo leads back to it.
    else logMove(this.#connection, target.seq, leafName, this.#stored.seq, this.#tip.seq);
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

  #append(entry: JudgedEntry): void {
    const { target, leafName, onConflict } = this.#batch;
    const appended = this.#writer.append(this.#tip, entry);
    this.#appended.push(appended);
    if (!appended.known) {
      this.#tip = appended.tip;
      return;
    }
    // What this batch has written before it is on its way to be the leaf already.
    if (this.#tip.seq !== this.#stored.seq) return;
    // A repeated append whose first try did arrive: the leaf stands at it or below, and stays there. Where another writer
    // has put the leaf elsewhere, the handle has still to meet that: what it appends next must not slip under theirs.
    const leaf = leafSeq(this.#connection, target, leafName);
    if (onConflict === "error" && !isOnPath(this.#connection, appended.tip.seq, leaf)) return;
    this.#stored = tipAt(this.#connection, leaf);
    this.#tip = this.#stored;
  }

  /** Moves the leaf over what was appended. */
  #settle(): void {
    if (this.#tip.seq === this.#stored.seq) return;
    const { target, leafName, onConflict } = this.#batch;
    if (onConflict === "error") compareAndSetLeaf(this.#connection, target, leafName, this.#stored, this.#tip);
    else setLeaf(this.#connection, target.seq, leafName, this.#tip.seq);
    this.#stored = this.#tip;
  }

  #seqOf(id: EntryId): EntrySeq {
    return entrySeq(this.#connection, this.#batch.target.seq, this.#batch.target.id, id);
  }
}
