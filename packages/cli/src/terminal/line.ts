import { safe } from "./safe.js";
import { displayWidth, truncate } from "./width.js";

/** The styles of text, each with the codes that begin and end its color. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  user: ["1;36", "22;39"],
  assistant: [32, 39],
  summary: [35, 39],
  label: [33, 39],
  error: [31, 39],
  match: ["1;33", "22;39"],
  current: ["1;7;33", "22;27;39"],
  leaf: ["1;32", "22;39"],
  heading: ["1;34", "22;39"],
  code: [36, 39],
  added: [32, 39],
  removed: [31, 39],
} as const satisfies Readonly<Record<string, readonly [on: number | string, off: number | string]>>;

/** A style of text; `paintLine` maps it to a color. */
export type Style = keyof typeof CODES;

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly style: Style;
}

/** One line for the terminal, in pieces; a plain string has no style. `paintLine` makes it safe to write. */
export type Line = readonly (string | Span)[];

/** A text in a style. */
export function styled(style: Style, text: string): Span {
  return { text, style };
}

/** The text of a line as the terminal shows it. */
export function textOfLine(line: Line): string {
  return line.map((piece) => safe(typeof piece === "string" ? piece : piece.text)).join("");
}

/** The width of a line in columns. */
export function lineWidth(line: Line): number {
  return displayWidth(textOfLine(line));
}

/** The line, cut to `width` columns; a cut line ends with `ellipsis`. */
export function fitLine(line: Line, width: number, ellipsis = "…"): Line {
  if (width === Number.POSITIVE_INFINITY || lineWidth(line) <= width) return line;
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

/** The line, cut or filled with spaces to `width` columns. */
export function padLine(line: Line, width: number, ellipsis: string, align: "left" | "right" = "left"): Line {
  const fitted = fitLine(line, width, ellipsis);
  const space = " ".repeat(Math.max(0, width - lineWidth(fitted)));
  return align === "right" ? [space, ...fitted] : [...fitted, space];
}

/** A text on the left, cut if it must be to no fewer than `least` columns, and another one at the right end of `width` columns. */
export function spreadLine(left: Line, right: Line, width: number, ellipsis: string, least = 8): Line {
  return [...padLine(left, Math.max(width - lineWidth(right), least), ellipsis), ...right];
}

/** The columns that other parts of a line leave of `width`; it can be negative. Nothing is measured if there is no limit. */
export function roomBeside(left: Line, right: Line, width: number): number {
  return width === Number.POSITIVE_INFINITY ? width : width - lineWidth(left) - lineWidth(right);
}

/** The parts of a line in `width` columns; the middle is cut first, so that what is on the right stays visible. */
export function fitMiddle(left: Line, middle: Line, right: Line, width: number, ellipsis: string): Line {
  const room = roomBeside(left, right, width);
  return fitLine([...left, ...(room > 0 ? fitLine(middle, room, ellipsis) : []), ...right], width, ellipsis);
}

/** A line as text for the terminal: control characters made visible, with escape codes for styles if `color`. */
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
 * True if colors are written: with `FORCE_COLOR` (not 0) always, else with `NO_COLOR` never, else only on a terminal that is not
 * dumb. The same order as in Node.
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
