import type { ValueRange } from "../port/records.js";

/** The keys of a range for SQL: from `from` up to but not including `to`. */
export interface KeyBounds {
  readonly from: string;
  /** An empty buffer if there is no end: SQLite orders every BLOB after every TEXT. */
  readonly to: string | Buffer;
}

const NO_END = Buffer.alloc(0);

/** Returns the bounds of a range, so that its start and end, and not every key, are compared. */
export function keyBounds({ prefix = "", order = "asc", after }: Pick<ValueRange, "prefix" | "order" | "after">): KeyBounds {
  const start = prefix.toWellFormed();
  const end = endOfPrefix(start);
  if (after === undefined) return { from: start, to: end };
  if (order === "desc") return { from: start, to: typeof end === "string" && comesBefore(end, after) ? end : after };
  // The next text after a text is the same one with a NUL character.
  const next = `${after}\0`;
  return { from: comesBefore(next, start) ? start : next, to: end };
}

/** The first text after all texts that start with `prefix`. */
function endOfPrefix(prefix: string): KeyBounds["to"] {
  const characters = [...prefix];
  for (;;) {
    const last = characters.pop()?.codePointAt(0);
    if (last === undefined) return NO_END;
    if (last < 0x10ffff) return characters.join("") + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

/** The order of SQLite, by bytes of UTF-8. JavaScript compares UTF-16 code units, which differs beyond U+FFFF. */
function comesBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}
