// A text of PostgreSQL cannot have the character U+0000; ids, titles, paths and keys can. It is stored as U+0001 U+0001, and U+0001 as
// U+0001 U+0002, which keeps the order by code points. JSON texts have neither: JSON writes both as escapes.

const HAS_SPECIAL = /[\0\x01]/;

/** A parameter as the server can store it. */
export function toParameter(value: unknown): unknown {
  if (typeof value === "string") return toServer(value);
  return Array.isArray(value) ? value.map(toParameter) : value;
}

/** A value of a column as it was given to `toParameter`. */
export function fromColumn(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\x01") ? value.replaceAll("\x01\x01", "\0").replaceAll("\x01\x02", "\x01") : value;
  return Array.isArray(value) ? value.map(fromColumn) : value;
}

/** A text as the server stores it. */
export function toServer(text: string): string {
  return HAS_SPECIAL.test(text) ? text.replaceAll("\x01", "\x01\x02").replaceAll("\0", "\x01\x01") : text;
}
