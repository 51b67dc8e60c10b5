import { countAtMost, countBefore } from "@bough/session-core/engine";
import { hasOnlyCalls } from "./filter.js";
import { childrenOf, isBranchPoint, isSegmentStart, type RowOrder, ranksWhere } from "./row-order.js";
import type { LayoutOptions } from "./shown-rows.js";
import { NONE, type TreeIndex } from "./tree-index.js";

/** Maximum rows of side branches below one branch point that start unfolded; if there are more, each branch starts folded. */
const OPEN_ROWS = 8;
/** Maximum side branches of one branch point that are listed; if there are more, they start as one row. */
const LISTED_BRANCHES = 5;

/** Consecutive ranks that are drawn as one row until they are unfolded. */
export interface Group {
  readonly kind: "calls" | "branches";
  readonly first: number;
  readonly last: number;
}

/** The groups and branches that a layout folds unless the user unfolds them. */
export interface InitialFolds {
  /** Ascending by their first rank; they may contain each other. */
  readonly groups: readonly Group[];
  /** The ranks of side branches that start folded, ascending. */
  readonly folded: readonly number[];
}

/** The rows that start folded. Linear. `marked`: row numbers that stay rows of their own. */
export function initialFolds(
  index: TreeIndex,
  order: RowOrder,
  { foldsCalls, foldsBranches }: Pick<LayoutOptions, "foldsCalls" | "foldsBranches">,
  marked: ReadonlySet<number>,
): InitialFolds {
  const groups: Group[] = foldsCalls === true ? callRuns(index, order, marked) : [];
  const folded: number[] = [];
  if (foldsBranches === true) addBranches(order, groups, folded);
  return { groups: groups.sort((a, b) => a.first - b.first), folded: folded.sort((a, b) => a - b) };
}

/** Returns the last of ascending groups that begins at or before a rank. O(log groups). */
export function groupBefore(groups: readonly Group[], rank: number): Group | undefined {
  return groups[countBefore(groups.length, (at) => (groups[at]?.first ?? rank) <= rank) - 1];
}

/** The group that begins at a rank. O(log groups). */
export function groupAt(groups: readonly Group[], rank: number): Group | undefined {
  const group = groupBefore(groups, rank);
  return group?.first === rank ? group : undefined;
}

/**
 * Two or more replies in a row that only call tools. A row with a label, of a leaf, of a branch point, and the first row of a branch
 * are never part of it.
 */
function callRuns(index: TreeIndex, order: RowOrder, marked: ReadonlySet<number>): Group[] {
  const bits = index.filterBits;
  const runs: Group[] = [];
  let first = NONE;
  for (let rank = 0; rank <= order.rows.length; rank += 1) {
    const at = order.rows[rank] ?? NONE;
    const belongs =
      at !== NONE && hasOnlyCalls(bits[at] ?? 0) && !isSegmentStart(order, rank) && !isBranchPoint(order, rank) && !marked.has(at);
    if (belongs && first === NONE) first = rank;
    if (belongs) continue;
    if (first !== NONE && rank - first > 1) runs.push({ kind: "calls", first, last: rank - 1 });
    first = NONE;
  }
  return runs;
}

function addBranches(order: RowOrder, groups: Group[], folded: number[]): void {
  for (const branchPoint of [NONE, ...ranksWhere(order, isBranchPoint)]) {
    const children = childrenOf(order, branchPoint);
    const sides = children.slice(0, -1);
    const [first = NONE] = sides;
    const last = (children.at(-1) ?? NONE) - 1;
    if (last - first < OPEN_ROWS) continue;
    for (const side of sides) if ((order.end[side] ?? side) > side) folded.push(side);
    if (sides.length > LISTED_BRANCHES) groups.push({ kind: "branches", first, last });
  }
}

/** Returns the number of branches in a group of branches. */
export function branchesIn({ first, last }: Group, order: RowOrder): number {
  let count = 0;
  for (let child = first; child <= last; child = (order.end[child] ?? child) + 1) count += 1;
  return count;
}

/** The tool calls of a group of replies. */
export interface CallSummary {
  readonly total: number;
  /** By name of the tool, the most frequent first. */
  readonly byName: readonly (readonly [name: string, count: number])[];
  readonly failed: number;
}

/** Counts the calls of replies, and the failed ones. Linear in the replies. */
export function countCalls(index: TreeIndex, rows: Int32Array, failures: ReadonlyMap<number, number>): CallSummary {
  const counts = new Map<string, number>();
  let [total, failed] = [0, 0];
  for (const at of rows) {
    for (const name of index.callsOf(at)) counts.set(name, (counts.get(name) ?? 0) + 1);
    total += index.callsOf(at).length;
    failed += failures.get(at) ?? 0;
  }
  return { total, byName: [...counts].sort((a, b) => b[1] - a[1]), failed };
}

/** The ranks of rows, ascending, without those of hidden and unknown ones. */
export function ranksOf(order: RowOrder, rows: Iterable<number>): Int32Array {
  const ranks = Int32Array.from(rows, (at) => order.rank[at] ?? NONE).sort();
  return ranks.subarray(countAtMost(ranks, NONE));
}
