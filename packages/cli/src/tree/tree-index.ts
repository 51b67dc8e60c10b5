import type { EntryId, OutlineRow } from "@bough/session-core";
import { countUpTo } from "./binary-search.js";
import { filterBits } from "./filter.js";

/** No row; as a parent: the place above all first entries. */
export const NONE = -1;

/**
 * All entries of a session in arrays, in order of arrival. A row is named by its place, counted from 0, which it keeps
 * for good. Grows in place; nothing else changes.
 */
export class TreeIndex {
  readonly #rows: OutlineRow[] = [];
  // Sequence numbers that came in order, with their places, and the few that came late: two writers are read in turns.
  readonly #seqs: number[] = [];
  readonly #seqPlaces: number[] = [];
  readonly #late = new Map<number, number>();
  readonly #parents: number[] = [];
  readonly #depths: number[] = [];
  readonly #bits: number[] = [];
  readonly #nextSibling: number[] = [];
  // Of the row before: the first is of the place above all first entries.
  readonly #firstChild: number[] = [NONE];
  readonly #lastChild: number[] = [NONE];
  readonly #ids = new Map<EntryId, number>();
  // Right for the places it covers: what is appended may turn a row into a branch point.
  readonly #branchDepths: number[] = [];

  /** An index of rows in order of arrival, parents first. Linear. */
  static of(rows: readonly OutlineRow[]): TreeIndex {
    const index = new TreeIndex();
    index.append(rows);
    return index;
  }

  /**
   * Adds rows that arrived since, parents first; a row that is known already is left out. A row whose parent is not
   * known counts as a first entry. Linear in the number of new rows.
   */
  append(rows: readonly OutlineRow[]): void {
    for (const row of rows) if (row.seq > this.lastSeq || this.#placeOfSeq(row.seq) === NONE) this.#add(row);
  }

  /** How many rows there are. */
  get size(): number {
    return this.#rows.length;
  }

  /** The highest sequence number: what to read on from. 0 where there is no row. */
  get lastSeq(): number {
    return this.#seqs.at(-1) ?? 0;
  }

  /** The row at a place. Throws a `RangeError` where there is none. */
  row(at: number): OutlineRow {
    const row = this.#rows[at];
    if (row === undefined) throw new RangeError(`no row at place ${at}: there are ${this.size}`);
    return row;
  }

  /** The row of an entry; undefined: not known. Cost as of `placeOf`. */
  rowOfEntry(id: EntryId): OutlineRow | undefined {
    return this.#rows[this.placeOf(id)];
  }

  /** The place of an entry, -1 where it is not known. The first call after rows were added is linear in their number. */
  placeOf(id: EntryId): number {
    for (let at = this.#ids.size; at < this.size; at += 1) this.#ids.set(this.row(at).id, at);
    return this.#ids.get(id) ?? NONE;
  }

  /** The place of the parent, -1 for first entries. */
  parentOf(at: number): number {
    return this.#parents[at] ?? NONE;
  }

  /** How many entries are above a row on its path. */
  depthOf(at: number): number {
    return this.#depths[at] ?? 0;
  }

  /** The places of the children in order of arrival; of -1: of the first entries. Linear in their number. */
  childrenOf(at: number): number[] {
    const children: number[] = [];
    for (let child = this.#firstChild[at + 1] ?? NONE; child !== NONE; child = this.#nextSibling[child] ?? NONE) children.push(child);
    return children;
  }

  /** Whether a row has several children; -1: whether there are several first entries. */
  isBranchPoint(at: number): boolean {
    return this.#firstChild[at + 1] !== this.#lastChild[at + 1];
  }

  /**
   * How many branch points are above a row: as many levels as it is indented where everything is shown, so several
   * first entries count as one. Constant; linear in the rows not asked for since the tree last branched.
   */
  branchDepth(at: number): number {
    for (let next = this.#branchDepths.length; next <= at && next < this.size; next += 1) {
      const parent = this.parentOf(next);
      this.#branchDepths.push((this.#branchDepths[parent] ?? 0) + (this.isBranchPoint(parent) ? 1 : 0));
    }
    return this.#branchDepths[at] ?? 0;
  }

  /** By place: the place of the parent, as `parentOf`. Live; for loops over all rows, as the next. */
  get parents(): readonly number[] {
    return this.#parents;
  }

  /** By place: the filters that show a row for what it is (`filterBits`). Live. */
  get filterBits(): readonly number[] {
    return this.#bits;
  }

  #add(row: OutlineRow): void {
    const at = this.size;
    const parent = row.parentSeq === null ? NONE : this.#placeOfSeq(row.parentSeq);
    this.#rows.push(row);
    this.#parents.push(parent);
    this.#depths.push(parent === NONE ? 0 : this.depthOf(parent) + 1);
    this.#bits.push(filterBits(row));
    this.#firstChild.push(NONE);
    this.#lastChild.push(NONE);
    this.#nextSibling.push(NONE);
    this.#addSeq(row.seq, at);
    this.#addChild(parent, at);
  }

  #addSeq(seq: number, at: number): void {
    if (seq < this.lastSeq) this.#late.set(seq, at);
    else {
      this.#seqs.push(seq);
      this.#seqPlaces.push(at);
    }
  }

  #placeOfSeq(seq: number): number {
    // Mostly asked for the row that came last.
    const slot = seq === this.lastSeq ? this.#seqs.length - 1 : countUpTo(this.#seqs, seq) - 1;
    return this.#seqs[slot] === seq ? (this.#seqPlaces[slot] ?? NONE) : (this.#late.get(seq) ?? NONE);
  }

  #addChild(parent: number, at: number): void {
    const last = this.#lastChild[parent + 1] ?? NONE;
    if (last === NONE) this.#firstChild[parent + 1] = at;
    else {
      // All rows below a new branch point come after it: what is known of them is forgotten.
      if (last === this.#firstChild[parent + 1] && this.#branchDepths.length > parent + 1) this.#branchDepths.length = parent + 1;
      this.#nextSibling[last] = at;
    }
    this.#lastChild[parent + 1] = at;
  }
}

/** Where two paths part, and what each of them has alone, from the top. Places in the index. */
export interface PathDifference {
  /** The last row that both paths have, -1: none. It may be one of the two rows themselves. */
  readonly ancestor: number;
  readonly onlyA: readonly number[];
  readonly onlyB: readonly number[];
}

/** What differs between the paths of two rows. -1 is a path without rows. Linear in the rows that differ. */
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
