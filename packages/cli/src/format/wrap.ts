import { type Line, lineWidth, type Span } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { displayWidth, truncate } from "../terminal/width.js";

/** The line, broken between words so that no part is wider than `width`; a longer word is broken inside. */
export function wrapLine(line: Line, width: number): readonly Line[] {
  const wrapped: (string | Span)[][] = [[]];
  let used = 0;
  for (const piece of line) {
    for (const word of wordsOf(piece, width)) {
      const text = textOf(word);
      if (used + displayWidth(text.trimEnd()) > width && used > 0) {
        wrapped.push([]);
        used = 0;
      }
      wrapped.at(-1)?.push(word);
      used += displayWidth(text);
    }
  }
  return wrapped.filter((one) => lineWidth(one) > 0).map((one) => withoutHanging(one, width));
}

/** The spaces behind a last word may stand beyond the width, where a terminal would make a line of them. */
function withoutHanging(line: Line, width: number): Line {
  const last = line.at(-1);
  if (last === undefined || lineWidth(line) <= width) return line;
  const text = textOf(last).trimEnd();
  return [...line.slice(0, -1), typeof last === "string" ? text : { ...last, text }];
}

function textOf(piece: string | Span): string {
  return typeof piece === "string" ? piece : piece.text;
}

/** Words with the spaces behind them, none of them wider than a line. */
function wordsOf(piece: string | Span, width: number): readonly (string | Span)[] {
  const words = safe(textOf(piece)).match(/\S+\s*|\s+/g) ?? [];
  const fitting = words.flatMap((word) => (displayWidth(word.trimEnd()) > width ? broken(word, width) : [word]));
  return fitting.map((text) => (typeof piece === "string" ? text : { ...piece, text }));
}

function broken(word: string, width: number): readonly string[] {
  const parts: string[] = [];
  for (let rest = word; rest !== ""; ) {
    // A character that is wider than the line is put there all the same: something must be taken.
    const part = truncate(rest, width, "") || String.fromCodePoint(rest.codePointAt(0) ?? 32);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts;
}
