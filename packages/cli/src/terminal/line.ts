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

/** The parts of a line in `width` columns; the middle is cut first, so that what is on the right stays visible. */
export function fitMiddle(left: Line, middle: Line, right: Line, width: number, ellipsis: string): Line {
  const room = width - lineWidth(left) - lineWidth(right);
  return fitLine([...left, ...(room > 0 ? fitLine(middle, room, ellipsis) : []), ...right], width, ellipsis);
}

const CODES: Readonly<Record<Style, readonly [on: number | string, off: number | string]>> = {
  bold: [1, 22],
  dim: [2, 22],
  user: ["1;36", "22;39"],
  assistant: [32, 39],
  summary: [35, 39],
  label: [33, 39],
  error: [31, 39],
  match: ["1;33", "22;39"],
  leaf: ["1;32", "22;39"],
  heading: ["1;34", "22;39"],
  code: [36, 39],
  added: [32, 39],
  removed: [31, 39],
};

/** A line as it is written: every piece of it safe, and with its colors where they are wanted. */
export function paintLine(line: Line, color: boolean): string {
  let text = "";
  for (const piece of line) {
    if (typeof piece === "string") text += safe(piece);
    else text += color && piece.text !== "" ? inStyle(piece.style, safe(piece.text)) : safe(piece.text);
  }
  return text;
}

function inStyle(style: Style, text: string): string {
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

/**
 * Whether to color: `FORCE_COLOR` (not 0) always, `NO_COLOR` never, else only on a terminal that is not dumb. The first
 * one that is set decides, as in Node.
 */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  return isTerminal && env["TERM"] !== "dumb";
}

/** A line of a report: a dim name and its value. */
export function fieldLine(name: string, value: string): Line {
  return [styled("dim", `${name}: `), value];
}
