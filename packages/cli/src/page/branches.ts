import type { OutlineRow } from "@bough/session-core";

/** A run of entries: each is the only shown child of the one before. Only its last one can be a branch point. */
export interface Segment {
  /** Row numbers in order of arrival, first to last; at least one. */
  readonly rows: readonly number[];
  /** The branches that leave at its end, without the one on which its line continues. */
  readonly branches: readonly BranchLine[];
}

/** A branch from where it leaves another one to its end. The first line of a session is its active path. */
export interface BranchLine {
  /** 1: the active path; each branch is one below the line that it leaves. */
  readonly level: number;
  readonly segments: readonly Segment[];
  /** The entries of the line, without those of the branches that leave it. */
  readonly entries: number;
}

const NONE = -1;

/** The shape of a session's tree for a page. Row numbers count the given rows from 0. */
export class BranchShape {
  /** By row number, -1 for first entries. */
  readonly parents: Int32Array;
  readonly #size: number;
  /** By row number: the newest row below it, or itself. */
  readonly #newest: Int32Array;
  /** By row number: the child with which the line continues, -1 at its end. */
  readonly #next: Int32Array;
  /** The other children of each row; of -1 the other first entries. */
  readonly #others = new Map<number, number[]>();

  /**
   * Linear in the rows, which are all of the session in order of arrival, given by the row numbers of their parents. The first line ends
   * at the row `leaf` (-1: no line is active); every other line ends at the newest entry below its first.
   */
  constructor(parents: Int32Array, leaf: number) {
    this.#size = parents.length;
    this.parents = parents;
    this.#newest = Int32Array.from(parents, (_, at) => at);
    this.#next = new Int32Array(parents.length + 1).fill(NONE);
    this.#chooseNext(leaf);
  }

  /** All lines, each after the one that it leaves; the active path first. */
  lines(): readonly BranchLine[] {
    const lines: BranchLine[] = [];
    const first = this.#next[this.#size] ?? NONE;
    const waiting = [...(first === NONE ? [] : [first]), ...(this.#others.get(NONE) ?? [])].map((start) => newLine(start, 1));
    for (const line of waiting) {
      lines.push(line);
      this.#fill(line, waiting);
    }
    return lines;
  }

  /** The newest row below a row, or the row itself. */
  newestBelow(at: number): number {
    return this.#newest[at] ?? at;
  }

  /** The row with which the line of a row continues, -1 at its end. */
  next(at: number): number {
    return this.#next[at] ?? NONE;
  }

  #fill(line: OpenLine, waiting: OpenLine[]): void {
    let rows: number[] = [];
    for (let at = line.start; at !== NONE; at = this.next(at)) {
      rows.push(at);
      line.entries += 1;
      const branches = (this.#others.get(at) ?? []).map((start) => newLine(start, line.level + 1));
      if (branches.length === 0 && this.next(at) !== NONE) continue;
      for (const branch of branches) waiting.push(branch);
      line.segments.push({ rows, branches });
      rows = [];
    }
  }

  #chooseNext(leaf: number): void {
    const newest = this.#newest;
    const onPath = new Uint8Array(this.#size);
    for (let at = leaf; at !== NONE; at = this.parents[at] ?? NONE) onPath[at] = 1;
    for (let at = this.#size - 1; at >= 0; at -= 1) {
      const parent = this.parents[at] ?? NONE;
      if (parent !== NONE) newest[parent] = Math.max(newest[parent] ?? 0, newest[at] ?? 0);
    }
    const rank = (at: number) => (onPath[at] === 1 ? Number.POSITIVE_INFINITY : (newest[at] ?? 0));
    for (let at = 0; at < this.#size; at += 1) this.#addChild(this.parents[at] ?? NONE, at, leaf, rank);
  }

  #addChild(parent: number, child: number, leaf: number, rank: (at: number) => number): void {
    const slot = parent === NONE ? this.#size : parent;
    const known = this.#next[slot] ?? NONE;
    // The active path ends at the leaf: what is below it are branches.
    const goesOn = (parent !== leaf || leaf === NONE) && (known === NONE || rank(child) > rank(known));
    if (goesOn) this.#next[slot] = child;
    const other = goesOn ? known : child;
    if (other === NONE) return;
    const others = this.#others.get(parent);
    if (others === undefined) this.#others.set(parent, [other]);
    else others.push(other);
  }
}

interface OpenLine {
  readonly start: number;
  readonly level: number;
  readonly segments: Segment[];
  entries: number;
}

function newLine(start: number, level: number): OpenLine {
  return { start, level, segments: [], entries: 0 };
}

/** By row number: the row number of the parent, -1 for first entries. */
export function parentsOf(rows: readonly OutlineRow[]): Int32Array {
  const rowOfSeq = new Map(rows.map(({ seq }, at) => [seq, at]));
  return Int32Array.from(rows, ({ parentSeq }) => (parentSeq === null ? NONE : (rowOfSeq.get(parentSeq) ?? NONE)));
}
