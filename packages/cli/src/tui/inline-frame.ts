import { graphemesOf } from "../terminal/graphemes.js";
import type { Reflow } from "../terminal/io.js";
import { type Line, lineWidth, paintLine, textOfLine } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import type { Frame } from "./screen.js";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const ERASE_BELOW = "\u001b[J";
// Mode 2026: the terminal shows what is between both at once.
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/** The terminal of an inline frame. */
interface Output {
  readonly columns: number;
  write(text: string): unknown;
}

/**
 * The lines of an inline screen below the lines that were printed. Each frame replaces the last one.
 *
 * The start of the old frame is counted from the cursor, never from the end of the frame: a terminal that gets lower drops
 * lines below the cursor, and one that gets narrower breaks them. What is counted too far up would erase printed lines.
 */
export class InlineFrame {
  readonly #output: Output;
  readonly #color: boolean;
  readonly #reflow: Reflow;
  /** The frame on the screen; null: none, and the cursor is where it begins. */
  #shown: Frame | null = null;

  constructor(output: Output, color: boolean, reflow: Reflow) {
    this.#output = output;
    this.#color = color;
    this.#reflow = reflow;
  }

  draw(frame: Frame): void {
    this.#output.write(`${BEGIN}${this.#erase()}${this.#paint(frame)}${END}`);
    this.#shown = frame;
  }

  /** Prints lines above the frame, where they stay. */
  print(lines: readonly Line[]): void {
    const shown = this.#shown;
    const text = lines.map((line) => `${paintLine(line, this.#color)}\n`).join("");
    const whole = `${this.#erase()}${text}`;
    this.#output.write(shown === null ? whole : `${BEGIN}${whole}${this.#paint(shown)}${END}`);
  }

  /** Erases the frame; the cursor is then where it began. */
  clear(): void {
    const erase = this.#erase();
    if (erase !== "") this.#output.write(erase);
    this.#shown = null;
  }

  #paint({ lines, cursor }: Frame): string {
    const text = lines.map(({ line }) => paintLine(line, this.#color)).join("\n");
    if (cursor === undefined) return `${HIDE_CURSOR}${text}`;
    return `${HIDE_CURSOR}${text}${up(lines.length - 1 - cursor.row)}\u001b[${cursor.column + 1}G${SHOW_CURSOR}`;
  }

  #erase(): string {
    if (this.#shown === null) return "";
    const columns = this.#output.columns || Number.POSITIVE_INFINITY;
    const { lines, cursor = endOf(lines) } = this.#shown;
    const above = lines.slice(0, cursor.row).reduce((sum, { line }) => sum + this.#rowsOf(textOfLine(line), columns), 0);
    // Rows of the cursor's own line that are above the cursor.
    const own = this.#reflow === "all" ? Math.floor(cursor.column / columns) : 0;
    return `${up(above + own)}\r${ERASE_BELOW}`;
  }

  #rowsOf(text: string, columns: number): number {
    return this.#reflow === "none" ? 1 : rowsOf(text, columns);
  }
}

/** Where the cursor is after the last line was written. */
function endOf(lines: Frame["lines"]): { row: number; column: number } {
  return { row: lines.length - 1, column: Math.max(lineWidth(lines.at(-1)?.line ?? []) - 1, 0) };
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : "";
}

/** The rows that a line takes on a terminal of `columns` columns, which does not break wide characters. */
function rowsOf(text: string, columns: number): number {
  if (displayWidth(text) <= columns) return 1;
  let rows = 1;
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    const width = displayWidth(segment);
    if (used + width > columns) {
      rows += 1;
      used = 0;
    }
    used += width;
  }
  return rows;
}
