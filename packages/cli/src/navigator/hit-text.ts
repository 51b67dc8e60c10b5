import { createQueryFinder, type QueryFinder } from "@bough/session-core/internals";
import { findMarks, type Mark, markLine } from "../preview/marks.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, styled, textOfLine } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import type { HitSnippet, Search } from "./model.js";

/** Finds the words of the search's hits in texts; null: there are no hits. */
export function hitFinder(search: Search | null): QueryFinder | null {
  if (search === null || search.hits === null || search.words === null) return null;
  return createQueryFinder(search.words.query, search.words.matched);
}

/**
 * The text of a hit's row, with its words marked. If the first `room` columns of the row's own text do not have a word, the row has
 * its role and the text that begins with the first word found.
 */
export function hitText(whole: Line, hit: HitSnippet | undefined, finder: QueryFinder, room: number, glyphs: Glyphs): Line {
  const [first, ...rest] = whole;
  const [role, text] = rest.length > 0 && typeof first === "object" ? [[first], rest] : [[], whole];
  const marks = findMarks(fitLine(text, Math.max(room - textOfLine(role).length, 0), ""), finder);
  if (marks.length > 0) return [...role, ...markLine(text, findMarks(text, finder))];
  const snippet = hit === undefined ? undefined : snippetFromMatch(hit, glyphs);
  if (snippet === undefined) return whole;
  return [...role, ...(role.length === 0 || textOfLine(role).endsWith(" ") ? [] : [" "]), ...snippet];
}

/** The part of a snippet from the word of its first match on; undefined: it has no match. */
export function snippetFromMatch({ snippet, matches }: HitSnippet, glyphs: Glyphs): Line | undefined {
  const [first] = matches;
  if (first === undefined) return undefined;
  const start = wordStart(snippet, first[0]);
  const marks = matches.map(([from, to]): Mark => ({ start: from - start, end: to - start }));
  const line = markLine([safe(snippet.slice(start))], marks);
  return start > 0 ? [styled("dim", glyphs.ellipsis), ...line] : line;
}

/** How far a row begins before a match at most: words of code may be long. */
const MAX_BEFORE = 24;

/** The start of the run of characters without spaces around a position. */
function wordStart(text: string, at: number): number {
  const space = Math.max(text.lastIndexOf(" ", at - 1), text.startsWith("\u2026") ? 0 : -1);
  return at === 0 || at - space - 1 > MAX_BEFORE ? Math.max(at - MAX_BEFORE, 0) : space + 1;
}

/** A line without its colors. */
export function dimmed(line: Line): Line {
  return [styled("dim", textOfLine(line))];
}
