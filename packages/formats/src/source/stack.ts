/**
 * A stack that never changes: its later states share its elements. A reader whose state may be kept before each record would otherwise
 * copy its list for each of them. undefined: it is empty.
 */
export type Stack<T> = { readonly top: T; readonly below: Stack<T> } | undefined;

export function push<T>(below: Stack<T>, top: T): Stack<T> {
  return { top, below };
}

/** A stack of these elements, the last one on top. */
export function stackOf<T>(elements: readonly T[]): Stack<T> {
  return elements.reduce<Stack<T>>(push, undefined);
}

/** The elements, the top one last. `most`: the maximum number of elements, from the top. */
export function listOf<T>(stack: Stack<T>, most = Number.POSITIVE_INFINITY): T[] {
  const elements: T[] = [];
  for (let rest = stack; rest !== undefined && elements.length < most; rest = rest.below) elements.push(rest.top);
  return elements.reverse();
}

/**
 * Removes elements from the top as long as they match. Returns the last one removed, and the rest. Linear in the removed elements.
 */
export function removeWhile<T>(
  stack: Stack<T>,
  matches: (element: T) => boolean,
): { readonly removed: T | undefined; readonly rest: Stack<T> } {
  let removed: T | undefined;
  let rest = stack;
  for (; rest !== undefined && matches(rest.top); rest = rest.below) removed = rest.top;
  return { removed, rest };
}
