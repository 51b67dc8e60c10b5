import type { QueryFinder } from "@bough/session-core/engine";
import { type Line, type Span, type Style, styled, textOfLine } from "../terminal/line.js";

/** A part of a drawn line that is marked, in UTF-16 code units of the line's text (`textOfLine`). */
export interface Mark {
  readonly start: number;
  readonly end: number;
}

/** A place of the search words in drawn lines: a mark in one line, or in several if the place was wrapped. */
export interface MarkedPlace extends Mark {
  /** The index of the line. */
  readonly line: number;
  /** The number of the place, from 0. Parts of a wrapped place have the same number. */
  readonly place: number;
}

/** Maximum places of each word that are marked in one text. */
const MAX_PLACES = 2000;

/**
 * Finds the words of a search in lines, from line `from` on. Lines are searched as one text, so that a phrase is found across a
 * line break. Places that overlap are one place. Linear in the text.
 */
export function findPlaces(lines: readonly Line[], from: number, finder: QueryFinder): readonly MarkedPlace[] {
  const texts = lines.slice(from).map(textOfLine);
  const places = mergeOverlaps(finder.find(texts.join("\n"), MAX_PLACES));
  const marked: MarkedPlace[] = [];
  let position = 0;
  let offset = 0;
  for (const [place, { start, end }] of places.entries()) {
    while (position < texts.length && offset + textLength(texts, position) < start) {
      offset += textLength(texts, position) + 1;
      position += 1;
    }
    let lineStart = offset;
    for (let line = position; line < texts.length && lineStart < end; line += 1) {
      const length = textLength(texts, line);
      const mark = { start: Math.max(start - lineStart, 0), end: Math.min(end - lineStart, length) };
      if (mark.start < mark.end) marked.push({ line: from + line, place, ...mark });
      lineStart += length + 1;
    }
  }
  return marked;
}

function textLength(texts: readonly string[], at: number): number {
  return texts[at]?.length ?? 0;
}

/** Sorted marks as disjoint ones. */
function mergeOverlaps(marks: readonly Mark[]): readonly Mark[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of marks) {
    const last = merged.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else if (end > start) merged.push({ start, end });
  }
  return merged;
}

/** The marks of a search in one line. */
export function findMarks(line: Line, finder: QueryFinder): readonly Mark[] {
  return mergeOverlaps(finder.find(textOfLine(line), MAX_PLACES));
}

/** A line with marked parts. Marks are sorted and disjoint. Combining characters after a mark belong to its last letter. */
export function markLine(line: Line, marks: readonly (Mark & { readonly style?: Style | undefined })[]): Line {
  if (marks.length === 0) return line;
  const pieces: (string | Span)[] = [];
  let offset = 0;
  for (const piece of line) {
    const text = textOfLine([piece]);
    const restyled = (part: string) => (typeof piece === "string" ? part : { ...piece, text: part });
    let done = 0;
    for (const { start, end, style = "match" } of marks) {
      const from = Math.max(start - offset, done);
      if (from >= text.length || end - offset <= from) continue;
      if (from > done) pieces.push(restyled(text.slice(done, from)));
      const to = Math.min(end - offset, text.length);
      done = to + (/^[\p{M}\u200d]+/u.exec(text.slice(to))?.[0].length ?? 0);
      pieces.push(styled(style, text.slice(from, done)));
    }
    if (done < text.length) pieces.push(restyled(text.slice(done)));
    offset += text.length;
  }
  return pieces;
}
