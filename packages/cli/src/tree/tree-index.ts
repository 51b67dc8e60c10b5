import type { EntryId, OutlineRow } from "@bough/session-core";
import { countAtMost } from "./binary-search.js";
import { filterBits } from "./filter.js";

/** No row; as a parent: the row is a first entry. */
export const NONE = -1;

/** How many rows an index holds in full that does not hold all of them. */
const MAX_HELD = 2000;

/**
 * The structure of a session in arrays, in order of arrival. A row number is an index into these arrays, counted from 0, and
 * never changes. Rows can only be added. An index of a long session holds only some rows in full (`row`), such as those on screen.
 */
export class TreeIndex {
  /** Rows in full, by row number. */
  readonly #held = new Map<number, OutlineRow>();
  readonly #holdsAll: boolean;
  readonly #idOf: EntryId[] = [];
  readonly #seqOf: number[] = [];
  // Ascending sequence numbers with their row numbers. A row that another writer stored earlier but that was read later goes to #late.
  readonly #seqs: number[] = [];
  readonly #seqRows: number[] = [];
  readonly #late = new Map<number, number>();
  readonly #parents: number[] = [];
  readonly #depths: number[] = [];
  readonly #bits: number[] = [];
  readonly #childCounts: number[] = [];
  readonly #ids = new Map<EntryId, number>();

  /** `holdsAll`: whether every row stays in full. */
  constructor(holdsAll = true) {
    this.#holdsAll = holdsAll;
  }

  /** An index of rows in order of arrival, parents first. Linear. */
  static of(rows: readonly OutlineRow[]): TreeIndex {
    const index = new TreeIndex();
    index.append(rows);
    return index;
  }

  /**
   * Adds rows, parents first; skips rows that are present already. A row whose parent is missing becomes a first entry. Linear
   * in the number of given rows.
   */
  append(rows: readonly OutlineRow[]): void {
    for (const row of rows) if (row.seq > this.#lastSeq || this.#rowOfSeq(row.seq) === NONE) this.#add(row);
  }

  /** Holds rows of the index in full. An index that does not hold all rows forgets the ones that it got first. */
  hold(rows: readonly OutlineRow[]): void {
    for (const row of rows) {
      const at = this.#rowOfSeq(row.seq);
      if (at === NONE) continue;
      // Deleted first, so that it becomes the newest one.
      this.#held.delete(at);
      this.#held.set(at, row);
    }
    if (this.#holdsAll) return;
    for (const at of this.#held.keys()) {
      if (this.#held.size <= MAX_HELD) return;
      this.#held.delete(at);
    }
  }

  /** How many rows there are. */
  get size(): number {
    return this.#idOf.length;
  }

  /** Whether a row is held in full. */
  isHeld(at: number): boolean {
    return this.#held.has(at);
  }

  /** The row with a row number. @throws {RangeError} there is none, or it is not held. */
  row(at: number): OutlineRow {
    const row = this.#held.get(at);
    if (row === undefined) throw new RangeError(`no row ${at}: there are ${this.size}`);
    return row;
  }

  /** The id of a row's entry. @throws {RangeError} there is none. */
  idOf(at: number): EntryId {
    const id = this.#idOf[at];
    if (id === undefined) throw new RangeError(`no row ${at}: there are ${this.size}`);
    return id;
  }

  /** The sequence number of a row. */
  seqOf(at: number): number {
    return this.#seqOf[at] ?? 0;
  }

  /** The row number of an entry, -1 if it is not in the index. The first call after rows were added is linear in their number. */
  indexOf(id: EntryId): number {
    for (let at = this.#ids.size; at < this.size; at += 1) this.#ids.set(this.idOf(at), at);
    return this.#ids.get(id) ?? NONE;
  }

  /** The row number of the parent, -1 for first entries. */
  parentOf(at: number): number {
    return this.#parents[at] ?? NONE;
  }

  /** How many entries are above a row on its path. */
  depthOf(at: number): number {
    return this.#depths[at] ?? 0;
  }

  /** Whether a row has several children. */
  isBranchPoint(at: number): boolean {
    return (this.#childCounts[at] ?? 0) > 1;
  }

  /** By row number: the row number of the parent, as `parentOf`. Live, for loops over all rows. */
  get parents(): readonly number[] {
    return this.#parents;
  }

  /** By row number: the filters that show a row because of its kind (`filterBits`). Live, for loops over all rows. */
  get filterBits(): readonly number[] {
    return this.#bits;
  }

  get #lastSeq(): number {
    return this.#seqs.at(-1) ?? 0;
  }

  #add(row: OutlineRow): void {
    const at = this.size;
    const parent = row.parentSeq === null ? NONE : this.#rowOfSeq(row.parentSeq);
    this.#idOf.push(row.id);
    this.#seqOf.push(row.seq);
    if (this.#holdsAll) this.#held.set(at, row);
    this.#parents.push(parent);
    this.#depths.push(parent === NONE ? 0 : this.depthOf(parent) + 1);
    this.#bits.push(filterBits(row));
    this.#childCounts.push(0);
    if (parent !== NONE) this.#childCounts[parent] = (this.#childCounts[parent] ?? 0) + 1;
    if (row.seq < this.#lastSeq) this.#late.set(row.seq, at);
    else {
      this.#seqs.push(row.seq);
      this.#seqRows.push(at);
    }
  }

  #rowOfSeq(seq: number): number {
    // Most rows are children of the row before them: that lookup needs no search.
    const slot = seq === this.#lastSeq ? this.#seqs.length - 1 : countAtMost(this.#seqs, seq) - 1;
    return this.#seqs[slot] === seq ? (this.#seqRows[slot] ?? NONE) : (this.#late.get(seq) ?? NONE);
  }
}

/** Where two paths part, and the rows that only one of them has, from the top. Row numbers. */
interface PathDifference {
  /** The last row that both paths have, -1: none. It may be one of the two rows themselves. */
  readonly ancestor: number;
  readonly onlyA: readonly number[];
  readonly onlyB: readonly number[];
}

/** What differs between the paths of two rows; -1 is a path without rows. Linear in the rows that differ. */
export function pathDifference(index: TreeIndex, a: number, b: number): PathDifference {
  const onlyA: number[] = [];
  const onlyB: number[] = [];
  while (a !== b) {
    const isADeeper = b === NONE || (a !== NONE && index.depthOf(a) >= index.depthOf(b));
    const isBDeeper = a === NONE || (b !== NONE && index.depthOf(b) >= index.depthOf(a));
    if (isADeeper) {
      onlyA.push(a);
      a = index.parentOf(a);
    }
    if (isBDeeper) {
      onlyB.push(b);
      b = index.parentOf(b);
    }
  }
  return { ancestor: a, onlyA: onlyA.reverse(), onlyB: onlyB.reverse() };
}
