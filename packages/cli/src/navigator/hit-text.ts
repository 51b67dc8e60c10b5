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
  const snippet = hit === undefined ? undefined : snippetFromMatch(hit, Math.floor(room / 5), glyphs);
  if (snippet === undefined) return whole;
  return [...role, ...(role.length === 0 || textOfLine(role).endsWith(" ") ? [] : [" "]), ...snippet];
}

/** The part of a snippet from at most `before` characters before its first match on; undefined: it has no match. */
export function snippetFromMatch({ snippet, matches }: HitSnippet, before: number, glyphs: Glyphs): Line | undefined {
  const [first] = matches;
  if (first === undefined) return undefined;
  const start = cutStart(snippet, first[0], before);
  const marks = matches.map(([from, to]): Mark => ({ start: from - start, end: to - start }));
  const line = markLine([safe(snippet.slice(start))], marks);
  return start > 0 ? [styled("dim", glyphs.ellipsis), ...line] : line;
}

/** How far the word of a match may reach before the match: words of code may be long. */
const MAX_WORD = 24;

/** The start of a word, at most `before` characters before a position if the word of the position is not longer. */
function cutStart(text: string, at: number, before: number): number {
  const own = Math.max(text.lastIndexOf(" ", at - 1), text.startsWith("\u2026") ? 0 : -1) + 1;
  if (at === 0 || at - own > MAX_WORD) return Math.max(at - MAX_WORD, 0);
  const wanted = Math.min(own, at - before);
  if (wanted <= 0) return text.startsWith("\u2026") ? 1 : 0;
  const space = text.indexOf(" ", wanted - 1);
  return space < 0 || space >= own ? own : space + 1;
}

/** A line without its colors. */
export function dimmed(line: Line): Line {
  return [styled("dim", textOfLine(line))];
}
