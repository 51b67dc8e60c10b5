import { graphemesOf } from "../terminal/graphemes.js";
import { type Line, lineWidth, type Span, type Style, styled, textOfLine } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";

// Scripts written without spaces: a line may break between any two of these characters (with their combining marks).
const UNSPACED =
  "\\u2e80-\\u303e\\u3041-\\u3098\\u309b-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff01-\\uff60\\u{20000}-\\u{3ffff}";
const ATOM = new RegExp(` +|[${UNSPACED}][\\p{M}\\u200c\\u200d]*|[^ ${UNSPACED}]+`, "gu");
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
// Japanese and Chinese punctuation that must not begin, or end, a line.
const NEVER_FIRST = /^[、。，．！？：；」』】）〕》〉］｝ー々〜]/;
const NEVER_LAST = /[「『【（〔《〈［｛]$/;

/** A run of text in one style that is never broken unless it is wider than a line. */
interface Atom {
  readonly text: string;
  readonly style: Style | undefined;
  readonly columns: number;
}

/** The atoms between two places where a line may break, such as a word in code style and the comma behind it. */
interface Word {
  readonly atoms: readonly Atom[];
  readonly columns: number;
  /** The spaces before it. */
  readonly gap: Atom | undefined;
}

type Pieces = (string | Span)[];

/**
 * Wraps a line between words, so that each part fits `width` columns (at least 1); breaks longer words inside, and
 * between Chinese and Japanese characters. Drops spaces at a break and at the end; keeps leading spaces, up to half of
 * the width. A blank line gives one empty line. Linear in the length of the line.
 */
export function wrapLine(line: Line, width: number): readonly Line[] {
  const lines: Pieces[] = [[]];
  let used = 0;
  for (const { atoms, columns, gap } of wordsOf(line)) {
    const room = lines.length === 1 && used === 0 ? Math.floor(width / 2) : width - used;
    const space = gap === undefined || (used === 0 && lines.length > 1) ? 0 : Math.min(gap.columns, room);
    if (used > 0 && used + space + columns > width) {
      lines.push([]);
      used = 0;
    } else if (space > 0 && gap !== undefined) {
      append(lines, { ...gap, text: " ".repeat(space) });
      used += space;
    }
    used = used + columns <= width ? appendWhole(lines, atoms, used + columns) : appendBroken(lines, atoms, used, width);
  }
  return lines.flatMap((one) => forceWidth(one, width));
}

/** Wraps each line of a text between words. An empty line stays one. */
export function wrapText(text: string, width: number, style?: Style): readonly Line[] {
  return splitLines(text).flatMap((line) => wrapLine([withStyle(line, style)], width));
}

/** The lines of a text with all their spaces (tabs become four), each broken at the edge: for code and output of tools. */
export function breakText(text: string, width: number, style?: Style): readonly Line[] {
  return splitLines(text).flatMap((line) => breakLine(line, width, style));
}

/** One line with all its spaces, broken at the edge. */
export function breakLine(line: string, width: number, style?: Style): readonly Line[] {
  const parts = splitAtWidth(safe(line.replaceAll("\t", "    ")), width);
  return parts.flatMap((part) => forceWidth([withStyle(part, style)], width));
}

/** The lines of a text; a newline at its end begins none. */
export function splitLines(text: string): readonly string[] {
  return text.replace(/(?:\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/);
}

/** The line itself if it fits, otherwise its text broken at the edge. Characters of two pieces can join to a wider one. */
export function forceWidth(line: Line, width: number): readonly Line[] {
  const text = textOfLine(line);
  if (displayWidth(text) <= width) return [line];
  const style = line.find((piece) => typeof piece !== "string")?.style;
  return splitAtWidth(text, width).map((part) => [withStyle(part, style)]);
}

/** With less room than this for its text, a block is drawn without its prefix. */
const MIN_TEXT_COLUMNS = 8;

/** The lines that `draw` returns for the remaining width, with `first` before the first and `rest` before the others. */
export function prefixLines(width: number, first: Line, rest: Line, draw: (width: number) => readonly Line[]): readonly Line[] {
  const room = width - Math.max(lineWidth(first), lineWidth(rest));
  if (room < MIN_TEXT_COLUMNS) {
    const marker = lineWidth(first) > 0 ? wrapLine(first, width) : [];
    return [...marker, ...draw(width)];
  }
  return draw(room).map((line, at) => [...(at === 0 ? first : rest), ...line]);
}

function withStyle(text: string, style: Style | undefined): string | Span {
  return style === undefined ? text : styled(style, text);
}

/** Appends to the last line, and to its last piece where the style is the same. */
function append(lines: readonly Pieces[], { text, style }: Atom): void {
  const line = lines.at(-1);
  if (line === undefined || text === "") return;
  const last = line.at(-1);
  if (typeof last === "string" && style === undefined) line[line.length - 1] = last + text;
  else if (typeof last === "object" && last.style === style) line[line.length - 1] = { ...last, text: last.text + text };
  else line.push(withStyle(text, style));
}

function appendWhole(lines: Pieces[], atoms: readonly Atom[], used: number): number {
  for (const atom of atoms) append(lines, atom);
  return used;
}

/** Appends a word that is wider than a line; returns the columns used of the last line. */
function appendBroken(lines: Pieces[], atoms: readonly Atom[], from: number, width: number): number {
  let used = from;
  for (const atom of atoms) {
    for (const [at, part] of splitAtWidth(atom.text, width, width - used).entries()) {
      if (at > 0) {
        lines.push([]);
        used = 0;
      }
      append(lines, { ...atom, text: part });
      used += displayWidth(part);
    }
  }
  return used;
}

function* wordsOf(line: Line): Generator<Word> {
  let gap: Atom | undefined;
  let atoms: Atom[] = [];
  for (const atom of atomsOf(line)) {
    const before = atoms.at(-1);
    const isSpace = atom.text.startsWith(" ");
    if (before !== undefined && (isSpace || mayBreak(before.text, atom.text))) {
      yield wordOf(atoms, gap);
      gap = undefined;
      atoms = [];
    }
    if (!isSpace) atoms.push(atom);
    else gap = gap === undefined ? atom : { ...gap, text: gap.text + atom.text, columns: gap.columns + atom.columns };
  }
  if (atoms.length > 0) yield wordOf(atoms, gap);
}

function wordOf(atoms: readonly Atom[], gap: Atom | undefined): Word {
  return { atoms, gap, columns: atoms.reduce((sum, { columns }) => sum + columns, 0) };
}

function* atomsOf(line: Line): Generator<Atom> {
  for (const piece of line) {
    const style = typeof piece === "string" ? undefined : piece.style;
    const text = safe((typeof piece === "string" ? piece : piece.text).replaceAll("\t", "    "));
    for (const [found] of text.matchAll(ATOM)) yield { text: found, style, columns: displayWidth(found) };
  }
}

function mayBreak(before: string, after: string): boolean {
  if (NEVER_FIRST.test(after) || NEVER_LAST.test(before)) return false;
  return STARTS_UNSPACED.test(after) || STARTS_UNSPACED.test(before);
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Replaces a character that is wider than the whole line. */
const TOO_WIDE = "?";

/**
 * Splits a safe text into parts of at most `width` columns (the first of at most `firstRoom`), never inside a grapheme
 * cluster. Linear in the length of the text.
 */
function splitAtWidth(text: string, width: number, firstRoom = width): readonly string[] {
  return PLAIN.test(text) ? splitPlain(text, width, firstRoom) : splitGraphemes(text, width, firstRoom);
}

function splitPlain(text: string, width: number, firstRoom: number): readonly string[] {
  const parts: string[] = [text.slice(0, firstRoom)];
  for (let at = firstRoom; at < text.length; at += width) parts.push(text.slice(at, at + width));
  return parts;
}

function splitGraphemes(text: string, width: number, firstRoom: number): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let room = firstRoom;
  for (const { segment } of graphemesOf(text)) {
    const columns = displayWidth(segment);
    const [shown, taken] = columns > width ? [TOO_WIDE, 1] : [segment, columns];
    if (taken > room) {
      parts.push(part);
      part = "";
      room = width;
    }
    part += shown;
    room -= taken;
  }
  parts.push(part);
  return parts;
}
