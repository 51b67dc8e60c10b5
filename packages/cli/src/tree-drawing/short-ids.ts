/** The shortest that an id is cut to: less is hard to tell apart from a word. */
const SHORTEST = 4;

/**
 * For each id its shortest beginning that no other one has, of at least four characters: what can be typed for it.
 * Sorting puts those that share most beside each other, so each is compared with two others only.
 */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...ids].sort();
  const short = new Map<string, string>();
  let before = 0;
  for (const [at, id] of sorted.entries()) {
    const after = sharedLength(id, sorted[at + 1] ?? "");
    short.set(id, beginning(id, Math.max(SHORTEST, before + 1, after + 1)));
    before = after;
  }
  return short;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

/** Never half of a surrogate pair. */
function beginning(id: string, length: number): string {
  const last = id.charCodeAt(length - 1);
  return id.slice(0, last >= 0xd800 && last <= 0xdbff ? length + 1 : length);
}
