import { graphemesOf } from "../terminal/graphemes.js";
import type { Reflow } from "../terminal/io.js";
import { fitLine, type Line, lineWidth, paintLine, textOfLine } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import type { Frame, FrameLine } from "./screen.js";

const HIDE_CURSOR = "\u001b[?25l";
const HOME = "\u001b[H";
const SHOW_CURSOR = "\u001b[?25h";
const ERASE_RIGHT = "\u001b[K";
const ERASE_BELOW = "\u001b[J";
// Mode 2026: the terminal shows what is between both at once. Mode 7: a character that the terminal takes for wider than `displayWidth`
// says moves no other line.
const BEGIN_UPDATE = "\u001b[?2026h";
const BEGIN = `${BEGIN_UPDATE}${HIDE_CURSOR}\u001b[?7l`;
const END = "\u001b[?7h\u001b[?2026l";

/** The terminal that frames are drawn on. */
interface Output {
  readonly columns: number;
  write(text: string): unknown;
}

/** Options of a `FrameDrawer`. */
interface DrawerOptions {
  /** `full`: from the first cell of the terminal. `inline`: from the line of the cursor. */
  readonly kind: "full" | "inline";
  readonly color: boolean;
  readonly reflow: Reflow;
}

/** A frame whose lines are cut to the width. */
interface PaintedFrame extends Frame {
  /** The text of each line with its escape codes. */
  readonly painted: readonly string[];
}

/**
 * Draws the frames of a screen: each replaces the last one, and only lines that differ are written. An inline frame is below the lines
 * that were printed.
 *
 * The start of an inline frame is counted from the cursor, never from the end of the frame: a terminal that gets lower drops
 * lines below the cursor, and one that gets narrower breaks them. What is counted too far up would erase printed lines.
 */
export class FrameDrawer {
  readonly #output: Output;
  readonly #options: DrawerOptions;
  /** The frame on the screen; null: none, and the cursor is where an inline one begins. */
  #shown: PaintedFrame | null = null;
  /** The row of the frame that the cursor is in. */
  #row = 0;

  constructor(output: Output, options: DrawerOptions) {
    this.#output = output;
    this.#options = options;
  }

  draw(frame: Frame): void {
    const columns = this.#columns;
    const lines = frame.lines.map((line) => ({ ...line, line: fitLine(line.line, columns) }));
    const text = this.#update({ ...frame, lines, painted: lines.map((line) => this.#paint(line)) });
    if (text !== undefined) this.#output.write(`${BEGIN}${text}${END}`);
  }

  /** Prints lines above an inline frame, where they stay. */
  print(lines: readonly Line[]): void {
    const shown = this.#shown;
    const text = `${this.#erase()}${lines.map((line) => `${paintLine(line, this.#options.color)}\n`).join("")}`;
    this.#shown = null;
    this.#output.write(shown === null ? text : `${BEGIN_UPDATE}${text}${BEGIN}${this.#update(shown)}${END}`);
  }

  /** Erases an inline frame; the cursor is then where it began. The next draw writes every line, also of a full one. */
  clear(): void {
    const erase = this.#erase();
    if (erase !== "") this.#output.write(erase);
    this.#shown = null;
  }

  get #columns(): number {
    return this.#output.columns || Number.POSITIVE_INFINITY;
  }

  /** The text that turns the shown frame into the next one; undefined: they are equal. */
  #update(next: PaintedFrame): string | undefined {
    const shown = this.#shown;
    this.#shown = next;
    let text = shown === null ? this.#begin() : "";
    // The rows of an inline frame that are on the terminal: the first is there before its line.
    let rows = Math.max(shown?.lines.length ?? 0, 1);
    for (const [row, painted] of next.painted.entries()) {
      if (painted === shown?.painted[row]) continue;
      if (row >= rows) {
        text += this.#addRow(rows);
        rows += 1;
      }
      text += `${this.#moveTo(row)}${painted}${this.#isFull(next, row) ? "" : ERASE_RIGHT}`;
    }
    if (shown !== null && shown.lines.length > next.lines.length) text += `${this.#moveTo(next.lines.length)}${ERASE_BELOW}`;
    return text === "" && isSameCell(shown?.cursor, next.cursor) ? undefined : text + this.#placeCursor(next);
  }

  #begin(): string {
    this.#row = 0;
    return this.#options.kind === "full" ? `${HOME}${ERASE_BELOW}` : "";
  }

  #addRow(row: number): string {
    if (this.#options.kind === "full") return "";
    const text = `${this.#moveTo(row - 1)}\r\n`;
    this.#row = row;
    return text;
  }

  #moveTo(row: number): string {
    if (this.#options.kind === "full") return `\u001b[${row + 1}H`;
    const down = row - this.#row;
    this.#row = row;
    return `${down < 0 ? up(-down) : down > 0 ? `\u001b[${down}B` : ""}\r`;
  }

  /** Behind a line of the whole width the cursor is still on its last character, which erasing would take. */
  #isFull({ lines }: Frame, row: number): boolean {
    const shown = lines[row];
    if (shown === undefined) return false;
    return (shown.isSelected === true && this.#options.color) || lineWidth(shown.line) >= this.#columns;
  }

  #paint({ line, isSelected }: FrameLine): string {
    const text = paintLine(line, this.#options.color);
    if (isSelected !== true || !this.#options.color) return text;
    const rest = Math.max(0, this.#columns - lineWidth(line));
    return `\u001b[7m${text}${" ".repeat(Number.isFinite(rest) ? rest : 0)}\u001b[27m`;
  }

  #placeCursor({ lines, cursor }: Frame): string {
    if (cursor !== undefined) return `${this.#moveTo(cursor.row)}${toColumn(cursor.column)}${SHOW_CURSOR}`;
    if (this.#options.kind === "full" || lines.length === 0) return "";
    const end = endOf(lines);
    return `${this.#moveTo(end.row)}${toColumn(end.column)}`;
  }

  #erase(): string {
    if (this.#shown === null || this.#options.kind === "full") return "";
    const columns = this.#columns;
    const { lines, cursor = endOf(lines) } = this.#shown;
    const above = lines.slice(0, cursor.row).reduce((sum, { line }) => sum + this.#rowsOf(textOfLine(line), columns), 0);
    // Rows of the cursor's own line that are above the cursor.
    const own = this.#options.reflow === "all" ? Math.floor(cursor.column / columns) : 0;
    return `${up(above + own)}\r${ERASE_BELOW}`;
  }

  #rowsOf(text: string, columns: number): number {
    return this.#options.reflow === "none" ? 1 : rowsOf(text, columns);
  }
}

/** Returns the position of the cursor after the last line was written. */
function endOf(lines: Frame["lines"]): { row: number; column: number } {
  return { row: lines.length - 1, column: Math.max(lineWidth(lines.at(-1)?.line ?? []) - 1, 0) };
}

function isSameCell(one: Frame["cursor"], other: Frame["cursor"]): boolean {
  return one?.row === other?.row && one?.column === other?.column;
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : "";
}

function toColumn(column: number): string {
  return `\u001b[${column + 1}G`;
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
