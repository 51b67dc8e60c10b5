/** Minimum length of a short id. */
const MIN_LENGTH = 4;

/**
 * For each id its shortest unique prefix of at least four characters, which is enough to type. Most ids differ within four
 * characters; the others are sorted, so that each has to be compared with its two neighbors only.
 */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const start = prefix(id, MIN_LENGTH);
    const group = groups.get(start);
    if (group === undefined) groups.set(start, [id]);
    else group.push(id);
  }
  const short = new Map<string, string>();
  for (const [start, group] of groups) {
    if (group.length === 1) short.set(group[0] ?? start, start);
    else addUniquePrefixes(group.sort(), short);
  }
  return short;
}

function addUniquePrefixes(sorted: readonly string[], short: Map<string, string>): void {
  let before = 0;
  for (const [at, id] of sorted.entries()) {
    const after = sharedLength(id, sorted[at + 1] ?? "");
    short.set(id, prefix(id, Math.max(MIN_LENGTH, before + 1, after + 1)));
    before = after;
  }
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

/** A prefix that does not end inside a surrogate pair. */
function prefix(id: string, length: number): string {
  const last = id.charCodeAt(length - 1);
  return id.slice(0, last >= 0xd800 && last <= 0xdbff ? length + 1 : length);
}
