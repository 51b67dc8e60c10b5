/**
 * Returns how many of `length` positions come first: `isBefore` is true for those, and false for all behind them. Calls it O(log length)
 * times.
 */
export function countBefore(length: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the number of elements of an ascending array that are at most `limit`. O(log n). */
export function countAtMost(ascending: ArrayLike<number>, limit: number): number {
  return countBefore(ascending.length, (at) => (ascending[at] ?? Number.POSITIVE_INFINITY) <= limit);
}
