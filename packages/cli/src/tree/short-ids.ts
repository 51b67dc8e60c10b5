/** The shortest that an id is cut to: less is hard to tell apart from a word. */
const SHORTEST = 4;

/**
 * For each id its shortest beginning that no other one has, of at least four characters: what can be typed for it.
 * Most are told apart by four; of the others, sorting puts those that share most beside each other.
 */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const start = beginning(id, SHORTEST);
    const group = groups.get(start);
    if (group === undefined) groups.set(start, [id]);
    else group.push(id);
  }
  const short = new Map<string, string>();
  for (const [start, group] of groups) {
    if (group.length === 1) short.set(group[0] ?? start, start);
    else tellApart(group.sort(), short);
  }
  return short;
}

function tellApart(sorted: readonly string[], short: Map<string, string>): void {
  let before = 0;
  for (const [at, id] of sorted.entries()) {
    const after = sharedLength(id, sorted[at + 1] ?? "");
    short.set(id, beginning(id, Math.max(SHORTEST, before + 1, after + 1)));
    before = after;
  }
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
