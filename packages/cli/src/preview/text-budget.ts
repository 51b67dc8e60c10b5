import { count } from "../format/numbers.js";
import { wrapLine } from "../format/wrap.js";
import { type Line, type Style, styled } from "../terminal/line.js";

/** Lines of a preview. */
export const MAX_LINES = 2000;

/** Characters of an entry that a preview lays out: more than fills its lines at any width that a person reads at. */
const MAX_CHARACTERS = 120_000;

/** What is left of the text that one preview may lay out, and what it left out. Made for one preview. */
export class TextBudget {
  #left = MAX_CHARACTERS;
  #hiddenLines = 0;

  constructor(readonly width: number) {}

  /** The beginning of a text, as far as there is room. */
  take(text: string): string {
    const room = this.#left;
    this.#left = Math.max(0, room - text.length);
    if (text.length <= room) return text;
    this.#hiddenLines += Math.max(countNewlines(text, room), Math.ceil((text.length - room) / this.width));
    return text.slice(0, room).toWellFormed();
  }

  /** The lines that are shown, and a note of how many more there are. */
  truncate(lines: readonly Line[], command: string): readonly Line[] {
    const hidden = Math.max(0, lines.length - MAX_LINES) + this.#hiddenLines;
    if (hidden === 0) return lines;
    const about = this.#hiddenLines === 0 ? "" : "about ";
    const note = `(${about}${count(hidden)} more lines; all of it: ${command})`;
    return [...lines.slice(0, MAX_LINES), ...wrapLine([styled("dim", note)], this.width)];
  }
}

function countNewlines(text: string, from: number): number {
  let found = 0;
  for (let at = text.indexOf("\n", from); at >= 0; at = text.indexOf("\n", at + 1)) found += 1;
  return found;
}

/** A named fact, wrapped. */
export function factLines(name: string, value: string | number, width: number, style?: Style): readonly Line[] {
  const text = String(value);
  return wrapLine([styled("dim", `${name}: `), style === undefined ? text : styled(style, text)], width);
}
