import { fitLine, type Line, lineWidth, type Span, styled, textOfLine } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { loadWidthsFor } from "../terminal/width.js";
import { pathEnd } from "./path.js";

/** A column of a table. */
interface Column {
  readonly heading: string;
  readonly align?: "left" | "right";
  /** Minimum width; a column with it shrinks if the table is too wide, and further if nothing else makes it fit. */
  readonly shrinksTo?: number;
  /** The cells are paths, in one piece each: one that does not fit is cut at its start. */
  readonly isPath?: boolean;
  /** Dropped if shrinking is not enough; the last such column first. */
  readonly optional?: boolean;
}

/** A column that writes its cell of an item. */
export interface ItemColumn<Item> extends Column {
  readonly cell: (item: Item, out: Printer) => Line | Promise<Line>;
}

const GAP = "  ";

/** Minimum width of shrinkable columns on a narrow terminal. */
const NARROWEST = 4;

/**
 * The lines of a table, heading first, that fits `width`: first the shrinkable columns shrink, the widest first, then optional columns
 * are dropped, then the shrinkable columns shrink below their minimum. A table that is too wide even then stays so. Wide characters, emoji
 * and accents are aligned by their width on the terminal.
 */
export async function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Line[])[],
  width: number,
  ellipsis = "…",
): Promise<readonly Line[]> {
  await loadWidthsFor(rows.flatMap((row) => row.map(textOfLine)));
  return fitTable(columns, rows, width, ellipsis);
}

/** The lines of a table with a row for each item, in the width of the output. */
export async function itemLines<Item>(
  out: Printer,
  columns: readonly ItemColumn<Item>[],
  items: readonly Item[],
): Promise<readonly Line[]> {
  const rows = await Promise.all(items.map((item) => Promise.all(columns.map(({ cell }) => cell(item, out)))));
  return tableLines(columns, rows, out.width, out.glyphs.ellipsis);
}

/** Prints a row for each item, in the width of the output. */
export async function printTable<Item>(out: Printer, columns: readonly ItemColumn<Item>[], items: readonly Item[]): Promise<void> {
  await out.lines(await itemLines(out, columns, items));
}

function fitTable(columns: readonly Column[], rows: readonly (readonly Line[])[], width: number, ellipsis: string): readonly Line[] {
  const headings = columns.map(({ heading }): Line => [styled("dim", heading)]);
  const widths = fitWidths(columns, [headings, ...rows], width);
  const optionalAt = columns.findLastIndex(({ optional }) => optional === true);
  if (optionalAt >= 0 && total(widths) > width)
    return fitTable(
      dropColumn(columns, optionalAt),
      rows.map((row) => dropColumn(row, optionalAt)),
      width,
      ellipsis,
    );
  if (total(widths) > width) shrink(widths, columns.map(narrower), width);
  return [headings, ...rows].map((row) => rowLine(columns, row, widths, ellipsis));
}

function narrower(column: Column): Column {
  return column.shrinksTo === undefined ? column : { ...column, shrinksTo: Math.min(column.shrinksTo, NARROWEST) };
}

function fitWidths(columns: readonly Column[], rows: readonly (readonly Line[])[], width: number): number[] {
  const widths = columns.map((_, at) => rows.reduce((widest, row) => Math.max(widest, lineWidth(row[at] ?? [])), 0));
  shrink(widths, columns, width);
  return widths;
}

/** Makes shrinkable columns narrower, the widest first, until the table fits or each has its minimum. */
function shrink(widths: number[], columns: readonly Column[], width: number): void {
  for (let excess = total(widths) - width; excess > 0; excess -= 1) {
    const at = widestShrinkable(columns, widths);
    if (at === undefined) return;
    widths[at] = (widths[at] ?? 0) - 1;
  }
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
}

function dropColumn<T>(items: readonly T[], column: number): readonly T[] {
  return items.filter((_, at) => at !== column);
}

function widestShrinkable(columns: readonly Column[], widths: readonly number[]): number | undefined {
  let widest: number | undefined;
  for (const [at, { shrinksTo }] of columns.entries()) {
    if (shrinksTo === undefined || (widths[at] ?? 0) <= shrinksTo) continue;
    if (widest === undefined || (widths[at] ?? 0) > (widths[widest] ?? 0)) widest = at;
  }
  return widest;
}

function fitCell({ isPath }: Column, cell: Line, width: number, ellipsis: string): Line {
  const [path] = cell;
  if (isPath !== true || path === undefined || cell.length > 1 || lineWidth(cell) <= width) return fitLine(cell, width, ellipsis);
  return typeof path === "string" ? [pathEnd(path, width, ellipsis)] : [{ ...path, text: pathEnd(path.text, width, ellipsis) }];
}

function rowLine(columns: readonly Column[], row: readonly Line[], widths: readonly number[], ellipsis: string): Line {
  const line: (string | Span)[] = [];
  for (const [at, column] of columns.entries()) {
    const cell = fitCell(column, row[at] ?? [], widths[at] ?? 0, ellipsis);
    const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - lineWidth(cell)));
    const isLast = at === columns.length - 1;
    if (column.align === "right") line.push(space, ...cell);
    else line.push(...cell, isLast ? "" : space);
    if (!isLast) line.push(GAP);
  }
  return line;
}
