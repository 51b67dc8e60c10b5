import { shorten, shortenAtWord, takeStart } from "./cut.js";
import { removeInvisible } from "./invisible.js";

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

/**
 * A text on one line of at most `maxChars` UTF-16 code units; a longer one ends in "…". Runs of white space and control
 * characters become one space, lone surrogates U+FFFD.
 */
export function oneLine(text: string, maxChars: number = LINE_CHARS): string {
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
  let at = from;
  // One character more than needed, because the last one may be a space, which is removed.
  for (; at < end && line.length + at - from < maxChars + 2; at++) {
    const code = text.charCodeAt(at);
    if (code > DELETE) return undefined;
    if (!isAsciiGap(code)) continue;
    const start = at;
    while (at + 1 < end && isAsciiGap(text.charCodeAt(at + 1))) at++;
    if (code === SPACE && at === start) continue;
    line += `${text.slice(from, start)} `;
    from = at + 1;
  }
  return (line + text.slice(from, at)).trim();
}

const SPACE = 0x20;
const DELETE = 0x7f;

function isAsciiGap(code: number): boolean {
  return code <= SPACE || code === DELETE;
}

function isAsciiSpace(code: number): boolean {
  return code === SPACE || (code >= 0x09 && code <= 0x0d);
}
