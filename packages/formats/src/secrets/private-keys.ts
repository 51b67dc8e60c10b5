import type { FoundSecret } from "./secret.js";

const KEY_EDGE = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The body of a key without an end; line breaks may be escaped. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\]*/y;
/** The largest keys in use have 16,384 bits, about 13,000 characters; longer text between two edges is not a key. */
const MAX_KEY_CHARS = 16_384;
/** A body shorter than this is prose about keys, or a test for the edge. */
const MIN_KEY_CHARS = 40;

/** Private keys in PEM. One pass over the edges: a pattern for a whole key would scan to the end of the text from each edge. */
export function findPrivateKeys(text: string): readonly FoundSecret[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: FoundSecret[] = [];
  let begin: { readonly at: number; readonly after: number } | null = null;
  const add = (from: number, end: number, body: string): void => {
    if (hasKeyBody(body)) found.push({ start: from, end, kind: "private key" });
  };
  for (const edge of text.matchAll(KEY_EDGE)) {
    if (begin !== null) add(begin.at, ...keyAfter(text, begin.after, edge));
    begin = edge[1] === "BEGIN" ? { at: edge.index, after: edge.index + edge[0].length } : null;
  }
  if (begin !== null) add(begin.at, ...bodyAfter(text, begin.after));
  return found;
}

/** Returns the end of a key that starts before the next edge, and its body. */
function keyAfter(text: string, from: number, edge: RegExpExecArray): readonly [end: number, body: string] {
  const between = text.slice(from, edge.index);
  // A key contains no angle bracket; otherwise a tag between two edges would be removed.
  const isKey = edge[1] === "END" && between.length <= MAX_KEY_CHARS && !between.includes("<");
  return isKey ? [edge.index + edge[0].length, between] : bodyAfter(text, from);
}

function bodyAfter(text: string, from: number): readonly [end: number, body: string] {
  KEY_BODY.lastIndex = from;
  const body = KEY_BODY.exec(text)?.[0] ?? "";
  return [from + body.length, body];
}

function hasKeyBody(text: string): boolean {
  return text.replace(/[^A-Za-z0-9+/=]/g, "").length >= MIN_KEY_CHARS;
}
