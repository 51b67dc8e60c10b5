import stringWidth from "string-width";

const PLAIN = /^[\x20-\x7e]*$/;

/** Columns that a text takes on a terminal: wide characters two, combining ones none. */
export function displayWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The beginning of a text that takes at most `width` columns, never splitting what is seen as one character. */
export function truncate(text: string, width: number, ellipsis = "…"): string {
  if (displayWidth(text) <= width) return text;
  const room = width - displayWidth(ellipsis);
  if (room < 0) return "";
  if (PLAIN.test(text)) return `${text.slice(0, room)}${ellipsis}`;
  return `${beginning(text, room)}${ellipsis}`;
}

function beginning(text: string, room: number): string {
  let kept = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += displayWidth(segment);
    if (used > room) break;
    kept += segment;
  }
  return kept;
}

/** The text, with spaces behind it up to `width` columns. */
export function padEnd(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - displayWidth(text)))}`;
}

/** The text, with spaces before it up to `width` columns. */
export function padStart(text: string, width: number): string {
  return `${" ".repeat(Math.max(0, width - displayWidth(text)))}${text}`;
}
