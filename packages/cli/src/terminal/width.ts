import { graphemesOf } from "./graphemes.js";

const PLAIN = /^[\x20-\x7e]*$/;

let exactWidth: ((text: string) => number) | undefined;

/**
 * Loads `string-width`, which measures emoji, combining accents and Hangul exactly. Loading it and ICU takes 30 ms, so it is
 * done only before such texts are drawn.
 */
export async function loadExactWidths(): Promise<void> {
  exactWidth ??= (await import("string-width")).default;
}

/** Loads it if one of these texts needs it. */
export async function loadWidthsFor(texts: Iterable<string>): Promise<void> {
  if (exactWidth !== undefined) return;
  for (const text of texts) if (!SIMPLE_TEXT.test(text)) return loadExactWidths();
}

/**
 * The width of a text in columns of a terminal: two for wide characters, none for combining ones. Until `loadExactWidths` has run,
 * each code unit that is not known to be simple counts as two, which is an upper bound. Linear in the length of the text.
 */
export function displayWidth(text: string): number {
  return PLAIN.test(text) ? text.length : (simpleWidth(text) ?? exactOrBound(text));
}

/** Texts of fewer code units are measured whole and cached: measuring takes microseconds, and words repeat. */
const SHORT = 50;

const MAX_CACHED = 10_000;
const cachedWidths = new Map<string, number>();

function exactOrBound(text: string): number {
  if (exactWidth === undefined) return upperBound(text);
  if (text.length < SHORT) return shortWidth(text, exactWidth);
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += segment.length < SHORT ? shortWidth(segment, exactWidth) : exactWidth(segment);
  return width;
}

function shortWidth(text: string, measure: (text: string) => number): number {
  const known = cachedWidths.get(text);
  if (known !== undefined) return known;
  const width = measure(text);
  if (cachedWidths.size < MAX_CACHED) cachedWidths.set(text, width);
  return width;
}

function upperBound(text: string): number {
  let width = 0;
  for (let at = 0; at < text.length; at += 1) width += simpleColumns(text.charCodeAt(at)) || 2;
  return width;
}

/** The width of a text of simple characters; undefined: it has others. */
function simpleWidth(text: string): number | undefined {
  let width = 0;
  for (let at = 0; at < text.length; at += 1) {
    const columns = simpleColumns(text.charCodeAt(at));
    if (columns === 0) return undefined;
    width += columns;
  }
  return width;
}

// Characters that never combine with the next one. Not Hangul, whose letters join to syllables; not © and ®, which can be emoji.
const SIMPLE: readonly (readonly [from: number, to: number, columns: 1 | 2])[] = [
  [0x20, 0x7e, 1],
  [0xa0, 0xa8, 1],
  [0xaa, 0xac, 1],
  [0xaf, 0x2ff, 1],
  [0x391, 0x3a1, 1], // Greek
  [0x3a3, 0x3ff, 1],
  [0x400, 0x481, 1], // Cyrillic
  [0x2010, 0x2027, 1], // dashes, quotes, bullets, the ellipsis
  [0x2039, 0x203a, 1], // single angle quotes
  [0x2190, 0x2193, 1], // arrows; the next ones can be emoji
  [0x21b3, 0x21b3, 1], // the arrow before what an entry has started
  [0x2400, 0x2426, 1], // pictures of control characters
  [0x2500, 0x259f, 1], // box drawing and blocks
  [0x25b8, 0x25b9, 1], // small triangles and circles, check marks and crosses: those that cannot be emoji
  [0x25be, 0x25bf, 1],
  [0x25cb, 0x25cb, 1],
  [0x25cf, 0x25cf, 1],
  [0x2713, 0x2713, 1],
  [0x2717, 0x2718, 1],
  [0x2800, 0x28ff, 1], // Braille, of which spinners are made
  [0x3001, 0x3002, 2],
  [0x3041, 0x3096, 2], // kana
  [0x30a1, 0x30fa, 2],
  [0x4e00, 0x9fff, 2], // ideographs
];

/** A text of simple characters only. */
const SIMPLE_TEXT = new RegExp(`^[${SIMPLE.map(([from, to]) => `${unicode(from)}-${unicode(to)}`).join("")}]*$`);

function unicode(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Columns of a simple character; 0: it is not in the table. */
function simpleColumns(code: number): 0 | 1 | 2 {
  for (const [from, to, columns] of SIMPLE) if (code <= to) return code >= from ? columns : 0;
  return 0;
}

/** The longest prefix of a text that fits `width` columns with the ellipsis, without splitting a grapheme cluster. */
export function truncate(text: string, width: number, ellipsis = "…"): string {
  if (displayWidth(text) <= width) return text;
  const room = width - displayWidth(ellipsis);
  if (room < 0) return "";
  if (PLAIN.test(text)) return `${text.slice(0, room)}${ellipsis}`;
  if (simpleWidth(text) !== undefined) return `${simplePrefix(text, room)}${ellipsis}`;
  return `${exactPrefix(text, room)}${ellipsis}`;
}

function simplePrefix(text: string, room: number): string {
  let end = 0;
  for (let used = 0; end < text.length; end += 1) {
    used += simpleColumns(text.charCodeAt(end));
    if (used > room) break;
  }
  return text.slice(0, end);
}

function exactPrefix(text: string, room: number): string {
  let kept = "";
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    used += displayWidth(segment);
    if (used > room) break;
    kept += segment;
  }
  return kept;
}

/** Appends spaces up to `width` columns. */
export function padEnd(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - displayWidth(text)))}`;
}

/** Prepends spaces up to `width` columns. */
export function padStart(text: string, width: number): string {
  return `${" ".repeat(Math.max(0, width - displayWidth(text)))}${text}`;
}
