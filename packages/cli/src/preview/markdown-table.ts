import type { Tokens } from "marked";
import { type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import { besides, flowed } from "./flow.js";
import { inlineLines } from "./markdown-inline.js";
import type { Marks } from "./marks.js";

/** Columns of text that a column of a table keeps. */
const LEAST = 4;

type Align = "center" | "left" | "right" | null;

/** A table that fits: columns give way, the widest first, and cells are wrapped; where that is not enough, rows become lists. */
export function markdownTable(table: Tokens.Table, width: number, marks: Marks): readonly Line[] {
  const columns = table.header.length;
  const between = (columns - 1) * 3;
  const header = table.header.map(({ tokens }) => inlineLines(tokens, "bold"));
  const rows = table.rows.map((row) => row.map(({ tokens }) => inlineLines(tokens)));
  if (columns === 0) return [];
  if (width - between < columns * LEAST) return rows.flatMap((row) => listedRow(header, row, width, marks));
  const widths = fittingWidths([header, ...rows], columns, width - between);
  const rule = widths.map((one) => marks.rule.repeat(one)).join(`${marks.rule}${marks.cross}${marks.rule}`);
  const drawn = (row: readonly (readonly Line[])[]) => rowLines(row, widths, table.align, marks);
  return [...drawn(header), [styled("dim", rule)], ...rows.flatMap(drawn)];
}

function fittingWidths(rows: readonly (readonly (readonly Line[])[])[], columns: number, room: number): readonly number[] {
  const widths = Array.from({ length: columns }, () => 1);
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 1, widest(cell, room));
  for (let excess = widths.reduce((sum, one) => sum + one, 0) - room; excess > 0; excess -= 1) {
    const at = widths.indexOf(Math.max(...widths.slice(0, columns)));
    widths[at] = (widths[at] ?? 1) - 1;
  }
  return widths;
}

function widest(cell: readonly Line[], room: number): number {
  return cell.reduce((most, line) => Math.max(most, Math.min(lineWidth(line), room)), 0);
}

function rowLines(row: readonly (readonly Line[])[], widths: readonly number[], align: readonly Align[], { bar }: Marks): readonly Line[] {
  const cells = widths.map((width, at) => (row[at] ?? []).flatMap((line) => flowed(line, width)));
  const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, at) => {
    const line: (string | Span)[] = [];
    for (const [column, width] of widths.entries()) {
      if (column > 0) line.push(styled("dim", ` ${bar} `));
      const text = cells[column]?.[at] ?? [];
      const [before, after] = spaces(width - lineWidth(text), align[column] ?? null);
      line.push(before, ...text, column === widths.length - 1 ? "" : after);
    }
    return line.filter((piece) => piece !== "");
  });
}

function spaces(free: number, align: Align): readonly [before: string, after: string] {
  const room = Math.max(0, free);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return [" ".repeat(before), " ".repeat(room - before)];
}

function listedRow(
  header: readonly (readonly Line[])[],
  row: readonly (readonly Line[])[],
  width: number,
  { bullet }: Marks,
): readonly Line[] {
  return row.flatMap((cell, at) => {
    const [name = [], ...more] = [...(header[at] ?? [])];
    const first: Line = [...name, ...(name.length > 0 ? [": "] : []), ...(cell[0] ?? [])];
    const mark = at === 0 ? `${bullet} ` : "  ";
    return besides(width, [mark], ["  "], (room) => [...more, first, ...cell.slice(1)].flatMap((line) => flowed(line, room)));
  });
}
