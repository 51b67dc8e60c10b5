import type { Line, Style } from "./line.js";
import { safe } from "./safe.js";

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

/** A line as it is written: every piece of it safe, and with its colours where they are wanted. */
export function painted(line: Line, colour: boolean): string {
  let text = "";
  for (const piece of line) {
    if (typeof piece === "string") text += safe(piece);
    else text += colour && piece.text !== "" ? inColour(piece.style, safe(piece.text)) : safe(piece.text);
  }
  return text;
}

function inColour(style: Style, text: string): string {
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

/**
 * Whether to colour: `FORCE_COLOR` (not 0) always, `NO_COLOR` never, else only on a terminal that is not dumb. The first
 * one that is set decides, as in Node.
 */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  return isTerminal && env["TERM"] !== "dumb";
}
