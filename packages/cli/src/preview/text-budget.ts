import { count } from "@bough/session-core/view";
import { wrapLine } from "../format/wrap.js";
import { type Line, type Style, styled } from "../terminal/line.js";

/** Most lines of a preview. */
const MAX_LINES = 2000;

/** Most characters that a preview draws: more than 2,000 lines hold at usual widths. */
const MAX_CHARACTERS = 120_000;

/** Limits the text of one preview, so that the cost does not grow with the size of the entry. */
export class TextBudget {
  #left = MAX_CHARACTERS;
  #hiddenLines = 0;

  readonly width: number;

  constructor(width: number) {
    this.width = width;
  }

  /** The start of a text, as far as the budget goes. */
  take(text: string): string {
    const room = this.#left;
    this.#left = Math.max(0, room - text.length);
    if (text.length <= room) return text;
    this.#hiddenLines += Math.max(countNewlines(text, room), Math.ceil((text.length - room) / this.width));
    return text.slice(0, room).toWellFormed();
  }

  /** The first 2,000 lines, and a note of how many are left out and the command that prints all. */
  truncate(lines: readonly Line[], command: string): readonly Line[] {
    const hidden = Math.max(0, lines.length - MAX_LINES) + this.#hiddenLines;
    if (hidden === 0) return lines;
    const about = this.#hiddenLines === 0 ? "" : "about ";
    const note = `(${about}${count(hidden)} more lines; all: ${command})`;
    return [...lines.slice(0, MAX_LINES), ...wrapLine([styled("dim", note)], this.width)];
  }
}

function countNewlines(text: string, from: number): number {
  let found = 0;
  for (let at = text.indexOf("\n", from); at >= 0; at = text.indexOf("\n", at + 1)) found += 1;
  return found;
}

/** Draws `name: value`, wrapped. */
export function fieldLines(name: string, value: string | number, width: number, style?: Style): readonly Line[] {
  const text = String(value);
  return wrapLine([styled("dim", `${name}: `), style === undefined ? text : styled(style, text)], width);
}
