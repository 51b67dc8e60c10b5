import { fitLine, type Line, lineWidth, type Span, styled, textOfLine } from "../terminal/line.js";
import { loadWidthsFor } from "../terminal/width.js";

/** A column of a table. */
export interface Column {
  readonly heading: string;
  readonly align?: "left" | "right";
  /** A column that gives way where the table is too wide, but not below this many columns of text. */
  readonly shrinksTo?: number;
  /** Left out altogether where even shrinking does not help; the last such column goes first. */
  readonly optional?: boolean;
}

const GAP = "  ";

/**
 * Lines of a table that fits `width`: columns that may shrink give way, the widest first; then optional ones go. Widths are those of the
 * terminal, so wide characters, emoji and accents stay in line.
 */
export async function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Line[])[],
  width: number,
  ellipsis = "…",
): Promise<readonly Line[]> {
  await loadWidthsFor(rows.flatMap((row) => row.map(textOfLine)));
  return fittedTable(columns, rows, width, ellipsis);
}

function fittedTable(columns: readonly Column[], rows: readonly (readonly Line[])[], width: number, ellipsis: string): readonly Line[] {
  const headings = columns.map(({ heading }): Line => [styled("dim", heading)]);
  const widths = fittingWidths(columns, [headings, ...rows], width);
  const dropped = columns.findLastIndex(({ optional }) => optional === true);
  if (dropped >= 0 && total(widths) > width)
    return fittedTable(
      without(columns, dropped),
      rows.map((row) => without(row, dropped)),
      width,
      ellipsis,
    );
  return [headings, ...rows].map((row) => rowLine(columns, row, widths, ellipsis));
}

function fittingWidths(columns: readonly Column[], rows: readonly (readonly Line[])[], width: number): readonly number[] {
  const widths = columns.map((_, at) => rows.reduce((widest, row) => Math.max(widest, lineWidth(row[at] ?? [])), 0));
  let excess = total(widths) - width;
  while (excess > 0) {
    const at = widestThatShrinks(columns, widths);
    if (at === undefined) break;
    widths[at] = (widths[at] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
}

function without<T>(items: readonly T[], dropped: number): readonly T[] {
  return items.filter((_, at) => at !== dropped);
}

function widestThatShrinks(columns: readonly Column[], widths: readonly number[]): number | undefined {
  let widest: number | undefined;
  for (const [at, { shrinksTo }] of columns.entries()) {
    if (shrinksTo === undefined || (widths[at] ?? 0) <= shrinksTo) continue;
    if (widest === undefined || (widths[at] ?? 0) > (widths[widest] ?? 0)) widest = at;
  }
  return widest;
}

function rowLine(columns: readonly Column[], row: readonly Line[], widths: readonly number[], ellipsis: string): Line {
  const line: (string | Span)[] = [];
  for (const [at, column] of columns.entries()) {
    const cell = fitLine(row[at] ?? [], widths[at] ?? 0, ellipsis);
    const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - lineWidth(cell)));
    const isLast = at === columns.length - 1;
    if (column.align === "right") line.push(space, ...cell);
    else line.push(...cell, isLast ? "" : space);
    if (!isLast) line.push(GAP);
  }
  return line;
}
