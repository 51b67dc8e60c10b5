import type { SearchHit } from "@bough/session-core";
import type { Glyphs } from "../terminal/glyphs.js";
import { graphemeAfter } from "../terminal/graphemes.js";
import { type Line, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";
import { type Mark, markLine } from "./marks.js";

/**
 * The part of a snippet from some words before its first match on, for a line of `room` columns: the match begins in its first half.
 * undefined: it has no match.
 */
export function snippetFromMatch(
  { snippet, matches }: Pick<SearchHit, "snippet" | "matches">,
  room: number,
  glyphs: Glyphs,
): Line | undefined {
  const at = matches[0]?.[0];
  if (at === undefined) return undefined;
  let start = cutStart(snippet, at, Math.floor(room / 5));
  while (start < at && displayWidth(safe(snippet.slice(start, at))) >= room / 2) start = Math.min(graphemeAfter(snippet, start), at);
  const marks = matches.map(([from, to]): Mark => ({ start: from - start, end: to - start }));
  const line = markLine([safe(snippet.slice(start))], marks);
  return start > 0 ? [styled("dim", glyphs.ellipsis), ...line] : line;
}

/** Maximum characters of the word of a match before the match: words of code may be long. */
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
