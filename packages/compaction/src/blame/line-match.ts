import { countBefore } from "@bough/session-core/engine";

/** Most comparisons of a block of lines in which no line is the only one of its kind on both sides. */
const MOST_COMPARED = 250_000;

/**
 * For each line of `after` the index of the line of `before` that it is; -1: it is another one. The order of lines is kept. Lines that
 * occur once on both sides are matched first (the patience algorithm), what lies between them in the same way, and small blocks without
 * such lines by their longest common subsequence. Cost: about linear; large blocks without a line that occurs once stay unmatched.
 *
 * @example
 * matchLines(["a", "b", "c"], ["a", "x", "c"]); // Int32Array [0, -1, 2]
 */
export function matchLines(before: readonly string[], after: readonly string[]): Int32Array {
  const matches = new Int32Array(after.length).fill(-1);
  const open: Block[] = [{ start: 0, end: before.length, newStart: 0, newEnd: after.length }];
  for (let block = open.pop(); block !== undefined; block = open.pop()) {
    const rest = matchEdges(before, after, block, matches);
    if (rest.start === rest.end || rest.newStart === rest.newEnd) continue;
    const pairs = uniquePairs(before, after, rest);
    if (pairs.length === 0) matchSubsequence(before, after, rest, matches);
    let [start, newStart] = [rest.start, rest.newStart];
    for (const [old, now] of pairs) {
      matches[now] = old;
      open.push({ start, end: old, newStart, newEnd: now });
      [start, newStart] = [old + 1, now + 1];
    }
    if (pairs.length > 0) open.push({ start, end: rest.end, newStart, newEnd: rest.newEnd });
  }
  return matches;
}

/** Lines of both sides, the ends not included. */
interface Block {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Matches equal lines at the start and at the end of a block. Returns the block between them. */
function matchEdges(before: readonly string[], after: readonly string[], block: Block, found: Int32Array): Block {
  let { start, end, newStart, newEnd } = block;
  while (start < end && newStart < newEnd && before[start] === after[newStart]) found[newStart++] = start++;
  while (start < end && newStart < newEnd && before[end - 1] === after[newEnd - 1]) found[--newEnd] = --end;
  return { start, end, newStart, newEnd };
}

type Pair = readonly [old: number, now: number];

/** The longest chain of lines that occur once on both sides, in the order of both. */
function uniquePairs(before: readonly string[], after: readonly string[], block: Block): readonly Pair[] {
  const old = singles(before, block.start, block.end);
  const now = singles(after, block.newStart, block.newEnd);
  const pairs: Pair[] = [];
  for (const [line, at] of now) {
    const other = old.get(line) ?? -1;
    if (at >= 0 && other >= 0) pairs.push([other, at]);
  }
  return longestChain(pairs);
}

/** The index of each line that occurs once; -1 for the others. In the order of the first occurrence. */
function singles(lines: readonly string[], start: number, end: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let at = start; at < end; at += 1) {
    const line = lines[at] ?? "";
    found.set(line, found.has(line) ? -1 : at);
  }
  return found;
}

/** The longest subsequence of pairs, which come in the order of their second index, in which the first index grows. */
function longestChain(pairs: readonly Pair[]): readonly Pair[] {
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, [old]] of pairs.entries()) {
    const lower = countBefore(ends.length, (at) => (pairs[ends[at] ?? 0]?.[0] ?? 0) < old);
    previous.push(ends[lower - 1] ?? -1);
    ends[lower] = index;
  }
  const chain: Pair[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) chain.push(pair);
  }
  return chain.reverse();
}

/** Matches a small block by the longest common subsequence of its lines. */
function matchSubsequence(before: readonly string[], after: readonly string[], block: Block, matches: Int32Array): void {
  const { start, end, newStart, newEnd } = block;
  const [rows, columns] = [end - start, newEnd - newStart];
  if (rows * columns > MOST_COMPARED) return;
  const width = columns + 1;
  const lengths = new Int32Array((rows + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  const isEqual = (row: number, column: number): boolean => before[start + row] === after[newStart + column];
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const longest = Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
      lengths[row * width + column] = isEqual(row, column) ? lengthAt(row + 1, column + 1) + 1 : longest;
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (isEqual(row, column)) matches[newStart + column++] = start + row++;
    else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row += 1;
    else column += 1;
  }
}
