// Whole escape sequences: without its ESC, the rest of a color code would remain as `[31m`. An operating system command
// matches only if it is closed; otherwise a lone ESC ] would match the rest of the line.
const ESCAPE_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

// Control characters but tab and line feed; marks, embeddings and isolates of the writing direction; zero-width characters
// but the joiners that scripts and emoji need; fillers; tags and rare variation selectors, which can hide a whole text.
const INVISIBLE =
  /\u034f|[\u180b-\u180f]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

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
  let [at, from] = [0, 0];
  const keep = (end: number) => {
    if (end > from) pieces.push({ at, from, text: text.slice(from, end) });
    at += end - from;
  };
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    keep(index);
    from = index + hidden.length;
  }
  if (from === 0) return undefined;
  keep(text.length);
  const toOriginal = (index: number) => {
    let [low, high] = [0, pieces.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((pieces[middle]?.at ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    const { at: start = 0, from: original = 0 } = pieces[low] ?? {};
    return original + index - start;
  };
  return { text: pieces.map((piece) => piece.text).join(""), toOriginal };
}
