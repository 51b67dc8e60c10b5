import { safe } from "./safe.js";
import { displayWidth, truncate } from "./width.js";

/** What a piece of text is, for the eye. */
export type Style =
  | "bold"
  | "dim"
  | "user"
  | "assistant"
  | "summary"
  | "label"
  | "error"
  | "match"
  | "leaf"
  | "heading"
  | "code"
  | "added"
  | "removed";

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly style: Style;
}

/** One line for the terminal, in pieces; a bare text has no style. It goes through `safe` before it is written. */
export type Line = readonly (string | Span)[];

/** A piece of a line in a style. */
export function styled(style: Style, text: string): Span {
  return { text, style };
}

/** The text of a line, as it will be seen. */
export function textOfLine(line: Line): string {
  return line.map((piece) => safe(typeof piece === "string" ? piece : piece.text)).join("");
}

/** Columns that a line takes. */
export function lineWidth(line: Line): number {
  return displayWidth(textOfLine(line));
}

/** The line, cut to `width` columns; `ellipsis` says that something was cut. */
export function fitLine(line: Line, width: number, ellipsis = "…"): Line {
  if (lineWidth(line) <= width) return line;
  const fitted: (string | Span)[] = [];
  let room = width - displayWidth(ellipsis);
  for (const piece of line) {
    const text = safe(typeof piece === "string" ? piece : piece.text);
    const cut = truncate(text, Math.max(room, 0), "");
    fitted.push(typeof piece === "string" ? cut : { ...piece, text: cut });
    room -= displayWidth(cut);
    if (cut !== text) break;
  }
  fitted.push(truncate(ellipsis, width, ""));
  return fitted;
}
