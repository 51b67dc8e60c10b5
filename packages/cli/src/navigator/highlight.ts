import { type Line, type Span, styled } from "../terminal/line.js";

/** The words of a query that can be seen in a text, in lower case: operators and quotes are none. */
export function wordsOf(query: string): readonly string[] {
  return (query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word, at, all) => all.indexOf(word) === at);
}

/** The line with these words marked wherever they stand, whatever the case. */
export function highlighted(line: Line, words: readonly string[]): Line {
  if (words.length === 0) return line;
  return line.flatMap((piece) => marked(piece, words));
}

function marked(piece: string | Span, words: readonly string[]): Line {
  const text = typeof piece === "string" ? piece : piece.text;
  const lower = text.toLowerCase();
  // Lower case can be longer than the text in some scripts; offsets would lie.
  if (lower.length !== text.length) return [piece];
  const restyled = (part: string) => (typeof piece === "string" ? part : { ...piece, text: part });
  const parts: (string | Span)[] = [];
  let done = 0;
  for (let at = nextMatch(lower, words, 0); at !== undefined; at = nextMatch(lower, words, done)) {
    if (at.from > done) parts.push(restyled(text.slice(done, at.from)));
    // What joins with the last letter stays with it: apart they take other columns than together.
    done = at.to + (/^[\p{M}\u200d]+/u.exec(text.slice(at.to))?.[0].length ?? 0);
    parts.push(styled("match", text.slice(at.from, done)));
  }
  if (done < text.length) parts.push(restyled(text.slice(done)));
  return parts;
}

function nextMatch(lower: string, words: readonly string[], from: number): { readonly from: number; readonly to: number } | undefined {
  let best: { readonly from: number; readonly to: number } | undefined;
  for (const word of words) {
    const at = lower.indexOf(word, from);
    if (at >= 0 && (best === undefined || at < best.from)) best = { from: at, to: at + word.length };
  }
  return best;
}
