// Cutting texts. Lengths are in UTF-16 code units, and no cut splits a surrogate pair.

/**
 * The share of the kept characters that is taken from the start. The end gets more, because it contains errors and results.
 * VS Code uses the same share.
 */
export const HEAD_SHARE = 0.4;

/** The first `maxChars` of a text. */
export function takeStart(text: string, maxChars: number): string {
  return text.slice(0, pairStart(text, Math.max(0, maxChars)));
}

/** The last `maxChars` of a text. */
export function takeEnd(text: string, maxChars: number): string {
  const start = Math.max(0, text.length - Math.max(0, maxChars));
  return text.slice(pairStart(text, start) < start ? start + 1 : start);
}

/**
 * A text without its middle: `maxChars` of it, and between its start and its end a line with the number of missing
 * characters. A text of at most `maxChars` is returned unchanged.
 *
 * @example
 * cutMiddle("0123456789", 5); // "01\n[... 5 characters left out ...]\n789"
 */
export function cutMiddle(
  text: string,
  maxChars: number,
  headShare: number = HEAD_SHARE,
  mark: (missing: number) => string = (missing) => `[... ${missing} characters left out ...]`,
): string {
  if (text.length <= maxChars) return text;
  const headChars = Math.floor(maxChars * headShare);
  const start = takeStart(text, headChars);
  const end = takeEnd(text, maxChars - headChars);
  return [start, mark(text.length - start.length - end.length), end].filter((part) => part !== "").join("\n");
}

/** A text of at most `maxChars`; a longer one ends in "…". */
export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${takeStart(text, maxChars - 1).trimEnd()}…`;
}

/** A cut moves back to a space by at most this share of the text; if there is no space, a word is cut. */
const MAX_SHARE_CUT_FOR_SPACE = 0.2;

/** A text of at most `maxChars`; a longer one is cut between words where possible and ends in "…". */
export function shortenAtWord(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars < 2) return "";
  const space = text.lastIndexOf(" ", maxChars - 2);
  return shorten(text, space > maxChars * (1 - MAX_SHARE_CUT_FOR_SPACE) ? space + 1 : maxChars);
}

/** `index`, or the index before it if a cut at `index` would split a surrogate pair. */
export function pairStart(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff ? index - 1 : index;
}
