// Other than format/wrap.ts this keeps what stands together (a comma behind code) on one line, breaks between Chinese
// and Japanese characters, and never lets spaces run over the edge.
import { type Line, lineWidth, type Span, type Style, styled, textOfLine } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";

type Piece = string | Span;

// Scripts written without spaces: a line may break between any two of these, with their marks.
const UNSPACED =
  "\\u2e80-\\u303e\\u3041-\\u3098\\u309b-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff01-\\uff60\\u{20000}-\\u{3ffff}";
const ATOM = new RegExp(` +|[${UNSPACED}][\\p{M}\\u200c\\u200d]*|[^ ${UNSPACED}]+`, "gu");
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
const NEVER_FIRST = /^[、。，．！？：；」』】）〕》〉］｝ー々〜]/;
const NEVER_LAST = /[「『【（〔《〈［｛]$/;

interface Atom {
  readonly text: string;
  readonly style: Style | undefined;
  readonly columns: number;
}

/** What is between two places where a line may break. */
interface Word {
  readonly atoms: readonly Atom[];
  readonly columns: number;
  /** The spaces before it. */
  readonly gap: Atom | undefined;
}

/**
 * The line, broken between words so that each part fits `width` columns (at least 1); a longer word is broken inside. Spaces
 * at a break are left out, spaces at the beginning kept as far as there is room. Cost: the length of the line.
 */
export function flowed(line: Line, width: number): readonly Line[] {
  const lines: Piece[][] = [[]];
  let used = 0;
  for (const { atoms, columns, gap } of wordsOf(line)) {
    const room = lines.length === 1 && used === 0 ? Math.floor(width / 2) : width - used;
    const space = gap === undefined || (used === 0 && lines.length > 1) ? 0 : Math.min(gap.columns, room);
    if (used > 0 && used + space + columns > width) {
      lines.push([]);
      used = 0;
    } else if (space > 0 && gap !== undefined) {
      addTo(lines, { ...gap, text: " ".repeat(space) });
      used += space;
    }
    used = used + columns <= width ? placed(lines, atoms, used + columns) : broken(lines, atoms, used, width);
  }
  return lines.flatMap((one) => fitted(one, width));
}

function placed(lines: Piece[][], atoms: readonly Atom[], used: number): number {
  for (const atom of atoms) addTo(lines, atom);
  return used;
}

function broken(lines: Piece[][], atoms: readonly Atom[], from: number, width: number): number {
  let used = from;
  for (const atom of atoms) {
    for (const [at, part] of chopped(atom.text, width, width - used).entries()) {
      if (at > 0) {
        lines.push([]);
        used = 0;
      }
      addTo(lines, { ...atom, text: part });
      used += columnsOf(part);
    }
  }
  return used;
}

function addTo(lines: readonly Piece[][], { text, style }: Atom): void {
  const line = lines.at(-1);
  if (line === undefined || text === "") return;
  const last = line.at(-1);
  if (typeof last === "string" && style === undefined) line[line.length - 1] = last + text;
  else if (typeof last === "object" && last.style === style) line[line.length - 1] = { ...last, text: last.text + text };
  else line.push(style === undefined ? text : styled(style, text));
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
    for (const [found] of text.matchAll(ATOM)) yield { text: found, style, columns: columnsOf(found) };
  }
}

function mayBreak(before: string, after: string): boolean {
  if (NEVER_FIRST.test(after) || NEVER_LAST.test(before)) return false;
  return STARTS_UNSPACED.test(after) || STARTS_UNSPACED.test(before);
}

/** The line itself where it fits; else its text in parts that do: characters of different pieces can join to wider ones. */
export function fitted(line: Line, width: number): readonly Line[] {
  const text = textOfLine(line);
  if (columnsOf(text) <= width) return [line];
  const style = line.find((piece) => typeof piece !== "string")?.style;
  return chopped(text, width).map((part) => [style === undefined ? part : styled(style, part)]);
}

/** The lines of a text, each broken at words. An empty line stays one. */
export function flowedText(text: string, width: number, style?: Style): readonly Line[] {
  return linesOf(text).flatMap((line) => flowed([style === undefined ? line : styled(style, line)], width));
}

/** The lines of a text as they stand, spaces and all; longer ones are broken at the edge (regression R149). */
export function standing(text: string, width: number, style?: Style): readonly Line[] {
  return linesOf(text).flatMap((line) => standingLine(line, width, style));
}

/** One line as it stands, broken at the edge. */
export function standingLine(line: string, width: number, style?: Style): readonly Line[] {
  const parts = chopped(safe(line.replaceAll("\t", "    ")), width);
  return parts.flatMap((part) => fitted([style === undefined ? part : styled(style, part)], width));
}

/** The lines of a text; a newline at its end begins none. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/(?:\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/);
}

/** Below this many columns of text, nothing is put before it. */
const LEAST_TEXT = 8;

/** What `draw` makes for the room that `first` leaves, with `first` before the first line and `rest` before the others. */
export function besides(width: number, first: Line, rest: Line, draw: (width: number) => readonly Line[]): readonly Line[] {
  const room = width - Math.max(lineWidth(first), lineWidth(rest));
  // In a narrow pane the text matters more than how deep it stands (regression R184).
  if (room < LEAST_TEXT) {
    const marked = lineWidth(first) > 0 ? flowed(first, width) : [];
    return [...marked, ...draw(width)];
  }
  return draw(room).map((line, at) => [...(at === 0 ? first : rest), ...line]);
}

const PLAIN = /^[\x20-\x7e]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Code units that are segmented at a time: in V8 the cost of a segment grows with the length of the whole text. */
const AT_A_TIME = 500;

/** What is seen as one character, one after the other. Longer ones than 500 code units are taken apart. */
function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (let from = 0; from < text.length; ) {
    const end = from + AT_A_TIME;
    const segments = Array.from(segmenter.segment(text.slice(from, end)), ({ segment }) => segment);
    // The last one may go on behind the end.
    if (end < text.length && segments.length > 1) segments.pop();
    for (const segment of segments) {
      yield segment;
      from += segment.length;
    }
  }
}

/** Measuring one takes ICU and a table of emoji some microseconds, and texts repeat their characters. */
const measured = new Map<string, number>();

const MOST_MEASURED = 10_000;

/** Two code units, one column: only the exact measure knows. Before it is loaded nothing is worth remembering. */
const NEEDS_EXACT = "e\u0301";

/** Code units of a text that is measured as a whole, and remembered. */
const SHORT = 50;

/** Columns of a short text. */
function columnsOfOne(grapheme: string): number {
  const known = measured.get(grapheme);
  if (known !== undefined) return known;
  const columns = displayWidth(grapheme);
  if (grapheme.length < SHORT && measured.size < MOST_MEASURED && displayWidth(NEEDS_EXACT) === 1) measured.set(grapheme, columns);
  return columns;
}

/** Columns that a safe text takes: what `displayWidth` says, at the cost of its length also for megabytes of emoji. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  if (text.length < SHORT) return columnsOfOne(text);
  let columns = 0;
  for (const segment of graphemes(text)) columns += columnsOfOne(segment);
  return columns;
}

/** Stands for a character that is wider than the whole line. */
const TOO_WIDE = "?";

/**
 * A safe text in parts that are at most `width` columns wide (the first `firstRoom`), never splitting what is seen as one
 * character. Nothing is lost, except characters wider than `width`. Cost: the length of the text.
 */
export function chopped(text: string, width: number, firstRoom = width): readonly string[] {
  return PLAIN.test(text) ? sliced(text, width, firstRoom) : byGraphemes(text, width, firstRoom);
}

function sliced(text: string, width: number, firstRoom: number): readonly string[] {
  const parts: string[] = [text.slice(0, firstRoom)];
  for (let at = firstRoom; at < text.length; at += width) parts.push(text.slice(at, at + width));
  return parts;
}

function byGraphemes(text: string, width: number, firstRoom: number): readonly string[] {
  const parts: string[] = [];
  let part = "";
  let room = firstRoom;
  for (const segment of graphemes(text)) {
    const columns = columnsOfOne(segment);
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
