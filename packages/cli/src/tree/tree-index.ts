import type { EntryId, OutlineRow } from "@bough/session-core";
import { countBefore } from "@bough/session-core/engine";
import { splitPreview } from "@bough/session-core/view";
import { filterBits, hasOnlyCalls } from "./filter.js";

/** No row; as a parent: the row is a first entry. */
export const NONE = -1;

/** Maximum rows that an index holds in full, unless it holds all of them. */
const MAX_HELD = 2000;

/** Maximum lookups that scan the list of ids. Later ones use a table of all ids, which takes longer to build, and 60 bytes a row. */
const MAX_SCANS = 16;

/** The arrays of an index, by row number. They have room for more rows. */
interface Columns {
  /** Sequence numbers, ascending. */
  readonly seqs: Float64Array;
  readonly parents: Int32Array;
  readonly depths: Int32Array;
  readonly bits: Uint8Array;
  /** 0 or 1 child, or 2 for several. */
  readonly children: Uint8Array;
}

const NO_CALLS: readonly string[] = [];

/**
 * The structure of a session in arrays, in order of arrival. A row number is an index into these arrays, counted from 0, and
 * never changes. Rows can only be added. An index of a long session holds only some rows in full (`row`), such as those on screen.
 */
export class TreeIndex {
  /** Rows in full, by row number. */
  readonly #held = new Map<number, OutlineRow>();
  readonly #holdsAll: boolean;
  readonly #idOf: EntryId[] = [];
  #columns: Columns = newColumns(64);
  readonly #ids = new Map<EntryId, number>();
  #scans = 0;
  readonly #calls: (readonly string[])[] = [];
  // Few replies call a list of tools that no other reply calls, so that most rows share theirs.
  readonly #callsByKey = new Map<string, readonly string[]>();

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
   * Adds rows in order of arrival; skips those that are present already. A row whose parent is missing becomes a first entry. Linear
   * in the number of given rows.
   */
  append(rows: readonly OutlineRow[]): void {
    this.#reserve(this.size + rows.length);
    for (const row of rows) if (row.seq > this.seqOf(this.size - 1)) this.#add(row);
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

  /** Number of rows. */
  get size(): number {
    return this.#idOf.length;
  }

  /** True if a row is held in full. */
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
    return this.#columns.seqs[at] ?? 0;
  }

  /** The row number of an entry, -1 if it is not in the index. The first calls search the list of ids, later ones a table of them. */
  indexOf(id: EntryId): number {
    this.#scans += 1;
    if (this.#scans <= MAX_SCANS) return this.#idOf.lastIndexOf(id);
    for (let at = this.#ids.size; at < this.size; at += 1) this.#ids.set(this.idOf(at), at);
    return this.#ids.get(id) ?? NONE;
  }

  /** The row number of the parent, -1 for first entries. */
  parentOf(at: number): number {
    return at < this.size ? (this.#columns.parents[at] ?? NONE) : NONE;
  }

  /** Returns the number of entries above a row on its path. */
  depthOf(at: number): number {
    return this.#columns.depths[at] ?? 0;
  }

  /** The names of the tools that a reply calls if it has no text; empty for other rows. */
  callsOf(at: number): readonly string[] {
    return this.#calls[at] ?? NO_CALLS;
  }

  /** True if a row has several children. */
  isBranchPoint(at: number): boolean {
    return this.#columns.children[at] === 2;
  }

  /** By row number: the row number of the parent, as `parentOf`. For loops over all rows. */
  get parents(): Int32Array {
    return this.#columns.parents.subarray(0, this.size);
  }

  /** By row number: the filters that show a row because of its kind (`filterBits`). For loops over all rows. */
  get filterBits(): Uint8Array {
    return this.#columns.bits.subarray(0, this.size);
  }

  #add(row: OutlineRow): void {
    const index = this.size;
    const { seqs, parents, depths, bits, children } = this.#columns;
    const parent = row.parentSeq === null ? NONE : this.#rowOfSeq(row.parentSeq);
    const ownBits = filterBits(row);
    this.#idOf.push(row.id);
    this.#calls.push(hasOnlyCalls(ownBits) ? this.#namesOf(row.preview) : NO_CALLS);
    seqs[index] = row.seq;
    parents[index] = parent;
    bits[index] = ownBits;
    if (parent !== NONE) {
      depths[index] = (depths[parent] ?? 0) + 1;
      children[parent] = children[parent] === 0 ? 1 : 2;
    }
    if (this.#holdsAll) this.#held.set(index, row);
  }

  #namesOf(preview: string): readonly string[] {
    const names = callNames(preview);
    const key = names.join("\n");
    const shared = this.#callsByKey.get(key) ?? names;
    this.#callsByKey.set(key, shared);
    return shared;
  }

  #reserve(size: number): void {
    const { seqs, parents, depths, bits, children } = this.#columns;
    if (size <= seqs.length) return;
    const next = newColumns(Math.max(size, seqs.length * 2));
    next.seqs.set(seqs);
    next.parents.set(parents);
    next.depths.set(depths);
    next.bits.set(bits);
    next.children.set(children);
    this.#columns = next;
  }

  #rowOfSeq(seq: number): number {
    const { seqs } = this.#columns;
    const last = this.size - 1;
    // Most rows are children of the row before them: that lookup needs no search.
    if (seqs[last] === seq) return last;
    const at = countBefore(this.size, (row) => (seqs[row] ?? seq) < seq);
    return at <= last && seqs[at] === seq ? at : NONE;
  }
}

// Most replies call one tool, and only its name is wanted.
function callNames(preview: string): readonly string[] {
  const one = /^\[([^\]\s]+)[^\]]*\]$/.exec(preview)?.[1];
  return one === undefined ? splitPreview(preview).calls.map(({ name }) => name) : [one];
}

function newColumns(length: number): Columns {
  return {
    seqs: new Float64Array(length),
    parents: new Int32Array(length),
    depths: new Int32Array(length),
    bits: new Uint8Array(length),
    children: new Uint8Array(length),
  };
}

/** Where two paths part, and the rows that only one of them has, from the top. Row numbers. */
interface PathDifference {
  /** The last row that both paths have, -1: none. It may be one of the two rows themselves. */
  readonly ancestor: number;
  readonly onlyA: readonly number[];
  readonly onlyB: readonly number[];
}

/** Returns the rows that are on only one of two paths; -1 is a path without rows. Linear in the rows that differ. */
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
