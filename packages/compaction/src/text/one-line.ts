import { cleanText } from "./clean-text.js";

/** A cut goes back to the last space where one is in this last share of the line; else it cuts a word. */
const SPACE_IN_LAST = 0.2;

/**
 * A text as one line of at most `maxChars` UTF-16 code units: control characters are gone, white space is one space. What
 * is longer is cut, between words where it can be and never inside a surrogate pair, and ends in "…".
 *
 * @example
 * oneLine("Fix the\n\tparser now", 12); // "Fix the…"
 */
export function oneLine(text: string, maxChars: number): string {
  // What white space takes away is seldom more than half; a megabyte need not be read for a line.
  const opening = cleanText(text.trimStart().slice(0, maxChars * 4 + 200));
  return cutLine(opening.replace(/\s+/g, " ").trim(), maxChars);
}

/** The same for what is one line already. */
export function cutLine(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  if (maxChars < 2) return "";
  const kept = line.slice(0, maxChars - 1);
  const space = kept.lastIndexOf(" ");
  const whole = space > maxChars * (1 - SPACE_IN_LAST) ? kept.slice(0, space) : kept;
  return `${withoutHalf(whole).trimEnd()}…`;
}

function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
