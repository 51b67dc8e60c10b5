import { NONE, type TreeIndex } from "./tree-index.js";

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
