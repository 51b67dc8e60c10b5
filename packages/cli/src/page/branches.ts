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
  readonly #rows: readonly OutlineRow[];
  /** By row number: the child with which the line continues, -1 at its end. */
  readonly #next: Int32Array;
  /** The other children of each row; of -1 the other first entries. */
  readonly #others = new Map<number, number[]>();

  /**
   * Linear in the rows, which are all of the session in order of arrival. The first line ends at `leaf` (null: no line is active);
   * every other line ends at the newest entry below its first.
   */
  constructor(rows: readonly OutlineRow[], leaf: OutlineRow | null) {
    this.#rows = rows;
    this.parents = parentsOf(rows);
    this.#next = new Int32Array(rows.length + 1).fill(NONE);
    this.#chooseNext(leaf === null ? NONE : rows.findIndex(({ id }) => id === leaf.id));
  }

  /** All lines, each after the one that it leaves; the active path first. */
  lines(): readonly BranchLine[] {
    const lines: BranchLine[] = [];
    const first = this.#next[this.#rows.length] ?? NONE;
    const waiting = [...(first === NONE ? [] : [first]), ...(this.#others.get(NONE) ?? [])].map((start) => newLine(start, 1));
    for (const line of waiting) {
      lines.push(line);
      this.#fill(line, waiting);
    }
    return lines;
  }

  #fill(line: OpenLine, waiting: OpenLine[]): void {
    let rows: number[] = [];
    for (let at = line.start; at !== NONE; at = this.#next[at] ?? NONE) {
      rows.push(at);
      line.entries += 1;
      const branches = (this.#others.get(at) ?? []).map((start) => newLine(start, line.level + 1));
      if (branches.length === 0 && this.#next[at] !== NONE) continue;
      waiting.push(...branches);
      line.segments.push({ rows, branches });
      rows = [];
    }
  }

  #chooseNext(leaf: number): void {
    const newest = Int32Array.from(this.#rows, (_, at) => at);
    const onPath = new Uint8Array(this.#rows.length);
    for (let at = leaf; at !== NONE; at = this.parents[at] ?? NONE) onPath[at] = 1;
    for (let at = this.#rows.length - 1; at >= 0; at -= 1) {
      const parent = this.parents[at] ?? NONE;
      if (parent !== NONE) newest[parent] = Math.max(newest[parent] ?? 0, newest[at] ?? 0);
    }
    const rank = (at: number) => (onPath[at] === 1 ? Number.POSITIVE_INFINITY : (newest[at] ?? 0));
    for (let at = 0; at < this.#rows.length; at += 1) this.#addChild(this.parents[at] ?? NONE, at, leaf, rank);
  }

  #addChild(parent: number, child: number, leaf: number, rank: (at: number) => number): void {
    const slot = parent === NONE ? this.#rows.length : parent;
    const known = this.#next[slot] ?? NONE;
    // The active path ends at the leaf: what is below it are branches.
    const goesOn = (parent !== leaf || leaf === NONE) && (known === NONE || rank(child) > rank(known));
    if (goesOn) this.#next[slot] = child;
    const other = goesOn ? known : child;
    if (other !== NONE) this.#others.set(parent, [...(this.#others.get(parent) ?? []), other]);
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

function parentsOf(rows: readonly OutlineRow[]): Int32Array {
  const rowOfSeq = new Map(rows.map(({ seq }, at) => [seq, at]));
  return Int32Array.from(rows, ({ parentSeq }) => (parentSeq === null ? NONE : (rowOfSeq.get(parentSeq) ?? NONE)));
}
