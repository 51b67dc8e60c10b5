import { countBefore } from "../collections/binary-search.js";

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

/** The default maximum length: one line of a wide terminal. */
export const LINE_CHARS = 160;

// Escape sequences of terminals (colors, cursor moves); each match stops before the next escape character: linear.
const ESCAPE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;

/** A text without escape sequences of terminals. */
export function withoutEscapes(text: string): string {
  return text.includes("\u001b") ? text.replace(ESCAPE, "") : text;
}

/**
 * A text as a model or a screen may read it: every line break as \n, no control characters but those and tabs, no lone surrogate, and
 * nothing invisible, such as tag characters, in which a text can hide.
 */
export function cleanText(text: string): string {
  return removeInvisible(text.replace(ESCAPE, ""));
}

// Replaced by one space: white space other than single plain spaces, control and direction characters. Most
// texts have no match.
const GAPS =
  / *[\t-\r\u0000-\u0008\u000e-\u001f\u007f-\u00a0\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff][\s\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069]*| {2,}/g;

/** A line as `oneLine` returns most: words of ASCII, and the mark of a cut. */
const ONE_LINE = /^[!-~…]+(?: [!-~…]+)*$/;

/**
 * A text on one line of at most `maxChars` UTF-16 code units; a longer one ends in "…". Runs of white space and control
 * characters become one space, lone surrogates U+FFFD.
 */
export function oneLine(text: string, maxChars: number = LINE_CHARS): string {
  if (text.length <= maxChars && ONE_LINE.test(text)) return text;
  const ascii = joinAscii(text, maxChars);
  return shorten(ascii ?? joinLines(opening(text, maxChars)), maxChars);
}

/**
 * The same without escape sequences of terminals, and cut between words where possible.
 *
 * @example
 * shortLine("Fix the\n\tparser now", 12); // "Fix the…"
 */
export function shortLine(text: string, maxChars: number): string {
  return shortenAtWord(joinLines(opening(text, maxChars).replace(ESCAPE, "")), maxChars);
}

// White space is seldom more than three quarters of a text, so a megabyte need not be read for one line.
function opening(text: string, maxChars: number): string {
  return takeStart(text.trimStart(), openingChars(maxChars));
}

function openingChars(maxChars: number): number {
  return maxChars * 4 + 200;
}

function joinLines(text: string): string {
  return text.replace(GAPS, " ").trim().toWellFormed();
}

/**
 * The first characters of the same line, more than `maxChars` if it has more; undefined if they are not all ASCII. A third of the time
 * of the pattern.
 */
function joinAscii(text: string, maxChars: number): string | undefined {
  let from = 0;
  while (isAsciiSpace(text.charCodeAt(from))) from++;
  const end = Math.min(text.length, from + openingChars(maxChars));
  while (from < end && isAsciiGap(text.charCodeAt(from))) from++;
  let line = "";
  let position = from;
  // One character more than needed, because the last one may be a space, which is removed.
  for (; position < end && line.length + position - from < maxChars + 2; position++) {
    const code = text.charCodeAt(position);
    if (code > DELETE) return undefined;
    if (!isAsciiGap(code)) continue;
    const start = position;
    while (position + 1 < end && isAsciiGap(text.charCodeAt(position + 1))) position++;
    if (code === SPACE && position === start) continue;
    line += `${text.slice(from, start)} `;
    from = position + 1;
  }
  return (line + text.slice(from, position)).trim();
}

const SPACE = 0x20;
const DELETE = 0x7f;

function isAsciiGap(code: number): boolean {
  return code <= SPACE || code === DELETE;
}

function isAsciiSpace(code: number): boolean {
  return code === SPACE || (code >= 0x09 && code <= 0x0d);
}

// Whole escape sequences: without its ESC, the rest of a color code would remain as `[31m`. An operating system command
// matches only if it is closed; otherwise a lone ESC ] would match the rest of the line.
const ESCAPE_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

/**
 * The pattern of characters that are not seen, for a regular expression with the flag `u`: marks, embeddings and isolates of the writing
 * direction; zero-width characters but the joiners that scripts and emoji need; fillers; format characters of shorthand and music; tags and rare
 * variation selectors, which can hide a whole text.
 */
export const UNSEEN = String.raw`\u034f|[\u180b-\u180f]|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]`;

// And control characters but tab and line feed.
const INVISIBLE = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|${UNSEEN}`, "gu");

/**
 * Removes characters that a page or a terminal would interpret or hide: control characters except tab and line feed, escape
 * sequences, marks of the writing direction, invisible characters. Every kind of line end becomes a line feed.
 *
 * @example
 * removeInvisible("\u001b[31mred\u001b[0m\r\n"); // "red\n"
 */
export function removeInvisible(text: string): string {
  return text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCE, "")
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(INVISIBLE, "");
}

/** The characters and sequences that `removeInvisible` removes, without the line ends. */
const HIDDEN = new RegExp(`${ESCAPE_SEQUENCE.source}|(?!\\r)(?:${INVISIBLE.source})`, "gu");

/** A text without the characters that `removeInvisible` removes, and the positions of its characters in the original. */
export interface VisibleText {
  readonly text: string;
  /** The index in the original of the character at an index of `text`. */
  readonly toOriginal: (index: number) => number;
}

/** undefined: nothing in the text is invisible. Line ends stay as they are. */
export function visibleText(text: string): VisibleText | undefined {
  const pieces: { readonly at: number; readonly from: number; readonly text: string }[] = [];
  let [position, from] = [0, 0];
  const keep = (end: number) => {
    if (end > from) pieces.push({ at: position, from, text: text.slice(from, end) });
    position += end - from;
  };
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    keep(index);
    from = index + hidden.length;
  }
  if (from === 0) return undefined;
  keep(text.length);
  const toOriginal = (index: number) => {
    const last = countBefore(pieces.length, (at) => (pieces[at]?.at ?? 0) <= index) - 1;
    const { at: start = 0, from: original = 0 } = pieces[Math.max(last, 0)] ?? {};
    return original + index - start;
  };
  return { text: pieces.map((piece) => piece.text).join(""), toOriginal };
}
