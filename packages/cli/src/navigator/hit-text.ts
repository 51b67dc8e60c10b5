import { createQueryFinder, type QueryFinder } from "@bough/session-core/internals";
import { findMarks, markLine } from "../preview/marks.js";
import { snippetFromMatch } from "../preview/snippet.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, styled, textOfLine } from "../terminal/line.js";
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

/** A line without its colors. */
export function dimmed(line: Line): Line {
  return [styled("dim", textOfLine(line))];
}
