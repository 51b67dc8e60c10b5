import { displayWidth } from "../terminal/width.js";

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
