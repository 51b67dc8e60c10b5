import { pairStart } from "../text/cut.js";

/** The fewest characters of a short id. */
const MIN_LENGTH = 4;

/** The shortest prefix of an id, of at least four characters, that its neighbors in the order of ids do not have. */
export function shortenId(id: string, neighbors: readonly (string | undefined)[]): string {
  const length = Math.max(MIN_LENGTH, ...neighbors.map((other) => (other === undefined ? 0 : sharedLength(id, other) + 1)));
  return id.slice(0, pairStart(id, length) < length ? length + 1 : length);
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}
