import type { SearchHit, SearchMatch } from "@bough/session-core";

// A query as somebody types it, and its hits in words. The help of a command and the script of the page have this file too: it loads nothing.

/** The filters that can be typed in a query. Their parser is `typed-filters`. */
export const TYPED_FILTERS = ["agent", "dir", "model", "cost", "since", "until", "role", "type", "in", "tool", "path"] as const;

/** The same for a line of help: `agent: dir: …`. */
export const TYPED_FILTER_LINE: string = TYPED_FILTERS.map((name) => `${name}:`).join(" ");

/** A text of more words is a question. */
const FEW_WORDS = 3;

/**
 * The query for a text that is still being typed: its last word may be the start of one where a search finds only whole words. A question is
 * searched as it is: its other words find enough until the last one is complete.
 */
export function unfinishedQuery(typed: string): string {
  const last = /(?:^|\s)([\p{L}\p{N}]+)$/u.exec(typed)?.[1] ?? "";
  const isInPhrase = (typed.split('"').length - 1) % 2 === 1;
  const isQuestion = typed.trim().split(/\s+/).length > FEW_WORDS;
  return last.length === 1 && !isQuestion && !isInPhrase ? `${typed}*` : typed;
}

/** A text in pieces: its matches, and what is between them. */
export function splitMatches(text: string, matches: SearchHit["matches"]): readonly { readonly text: string; readonly isMatch: boolean }[] {
  const ends = [0, ...matches.flat(), text.length];
  const pieces = ends.slice(1).map((end, at) => ({ text: text.slice(ends[at], end), isMatch: at % 2 === 1 }));
  return pieces.filter((piece) => piece.text !== "");
}

/** Describes how hits differ from the query; empty if they have all its words. */
export function describeMatched(matched: SearchMatch): string {
  if (matched.kind === "all") return "";
  if (matched.kind === "words") return ", other characters between the words";
  if (matched.kind === "ranked") return ", best first";
  return matched.kind === "spelling" ? `, spelled ${matched.found.join(", ")}` : `, with ${matched.words} of ${matched.of} words`;
}
