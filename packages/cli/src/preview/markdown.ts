import type { Token, Tokens } from "marked";
import { breakText, forceWidth, prefixLines, wrapLine, wrapText } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import { inlineLines } from "./markdown-inline.js";
import { asMarkedToken, lexMarkdown } from "./markdown-lexer.js";
import { patchLines, patchParts } from "./patch-text.js";

/** Longer texts are wrapped as plain text: lexing them would block the screen. */
const MAX_LENGTH = 60_000;

/**
 * Renders Markdown for a terminal: headings, emphasis, code, lists, tasks, quotes, tables, links with their addresses, HTML
 * as text, diffs (fenced or not) in colors. Keeps line breaks. Each line fits `width` columns (at least 2). Text that is
 * nested too deeply or longer than 60,000 characters is wrapped as plain text. Never throws. Linear in the length of the
 * text. Call `loadExactWidths` first.
 */
export function markdownLines(text: string, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  if (text.trim() === "") return [];
  const lines: Line[] = [];
  for (const part of patchParts(text)) {
    const drawn = part.kind === "patch" ? patchLines(part.text, width) : documentLines(part.text, width, glyphs);
    if (lines.length > 0 && drawn.length > 0) lines.push([]);
    for (const line of drawn) for (const one of forceWidth(line, width)) lines.push(one);
  }
  return lines;
}

function documentLines(text: string, width: number, glyphs: Glyphs): readonly Line[] {
  if (text.length > MAX_LENGTH) return wrapText(text, width);
  try {
    return blockLines(lexMarkdown(text), width, glyphs);
  } catch (error) {
    // The lexer overflows the stack on some texts; they are shown as plain text.
    if (!(error instanceof RangeError)) throw error;
    return wrapText(text, width);
  }
}

/** Draws blocks with an empty line between two, unless `close`. The lexer limits their depth. */
function blockLines(tokens: readonly Token[], width: number, glyphs: Glyphs, close = false): readonly Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    const block = drawBlock(token, width, glyphs);
    if (block.length > 0 && lines.length > 0 && !close) lines.push([]);
    for (const line of block) lines.push(line);
  }
  return lines;
}

function drawBlock(given: Token, width: number, glyphs: Glyphs): readonly Line[] {
  const token = asMarkedToken(given);
  switch (token.type) {
    case "space":
    case "checkbox":
      return [];
    case "heading":
      return prefixLines(width, [styled("heading", `${"#".repeat(token.depth)} `)], [" ".repeat(token.depth + 1)], (room) =>
        inlineLines(token.tokens, "heading").flatMap((line) => wrapLine(line, room)),
      );
    case "paragraph":
      return inlineLines(token.tokens).flatMap((line) => wrapLine(line, width));
    case "text":
      return inlineLines([token]).flatMap((line) => wrapLine(line, width));
    case "code":
      return codeLines(token, width);
    case "blockquote": {
      const bar: Line = [styled("dim", `${glyphs.bar} `)];
      return prefixLines(width, bar, bar, (room) => blockLines(token.tokens, room, glyphs));
    }
    case "list":
      return listLines(token, width, glyphs);
    case "table":
      return tableLines(token, width, glyphs);
    case "hr":
      return [[styled("dim", glyphs.rule.repeat(Math.min(width, 40)))]];
    case "def":
      return breakText(token.raw.trim(), width, "dim");
    default:
      return breakText(token.raw, width);
  }
}

/** Code is indented by two columns and never rewrapped, so that its spaces stay. */
function codeLines({ text, lang }: Tokens.Code, width: number): readonly Line[] {
  const isPatch = /^(?:diff|patch)\b/i.test(lang ?? "");
  return prefixLines(width, ["  "], ["  "], (room) => (isPatch ? patchLines(text, room) : breakText(text, room, "code")));
}

function listLines({ items, ordered, loose }: Tokens.List, width: number, glyphs: Glyphs): readonly Line[] {
  const numbers = items.map(({ raw }, at) => (ordered ? itemNumber(raw, at) : ""));
  const widest = numbers.reduce((most, { length }) => Math.max(most, length), 0);
  const lines: Line[] = [];
  for (const [at, item] of items.entries()) {
    const mark = ordered ? `${(numbers[at] ?? "").padStart(widest)} ` : `${glyphs.bullet} `;
    const box = item.task ? `[${item.checked === true ? "x" : " "}] ` : "";
    const drawn = prefixLines(width, [mark, box], [" ".repeat(mark.length)], (room) => itemLines(item, room, glyphs));
    if (loose && at > 0) lines.push([]);
    for (const line of drawn) lines.push(line);
  }
  return lines;
}

/** The number as written, not as Markdown renumbers it: the conversation refers to "point 10" by the written number. */
function itemNumber(raw: string, at: number): string {
  return /^\s*(\d{1,9}[.)])/.exec(raw)?.[1] ?? `${at + 1}.`;
}

/** The content of an item; an empty item is one empty line, so that its bullet is drawn. */
function itemLines({ tokens, loose }: Tokens.ListItem, width: number, glyphs: Glyphs): readonly Line[] {
  const lines = blockLines(tokens, width, glyphs, !loose);
  return lines.length === 0 ? [[]] : lines;
}

const MIN_CELL_COLUMNS = 4;

type Align = "center" | "left" | "right" | null;

/** Draws a table: shrinks the widest columns and wraps their cells until it fits; if that is not enough, draws each row as a list. */
function tableLines(table: Tokens.Table, width: number, glyphs: Glyphs): readonly Line[] {
  const columns = table.header.length;
  const between = (columns - 1) * 3;
  const header = table.header.map(({ tokens }) => inlineLines(tokens, "bold"));
  const rows = table.rows.map((row) => row.map(({ tokens }) => inlineLines(tokens)));
  if (columns === 0) return [];
  if (width - between < columns * MIN_CELL_COLUMNS) return rows.flatMap((row) => rowAsList(header, row, width, glyphs));
  const widths = fitColumns([header, ...rows], columns, width - between);
  const rule = widths.map((one) => glyphs.rule.repeat(one)).join(`${glyphs.rule}${glyphs.cross}${glyphs.rule}`);
  const drawn = (row: readonly (readonly Line[])[]) => rowLines(row, widths, table.align, glyphs);
  return [...drawn(header), [styled("dim", rule)], ...rows.flatMap(drawn)];
}

function fitColumns(rows: readonly (readonly (readonly Line[])[])[], columns: number, room: number): readonly number[] {
  const widths = Array.from({ length: columns }, () => 1);
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 1, cellWidth(cell, room));
  for (let excess = widths.reduce((sum, one) => sum + one, 0) - room; excess > 0; excess -= 1) {
    const at = widths.indexOf(Math.max(...widths.slice(0, columns)));
    widths[at] = (widths[at] ?? 1) - 1;
  }
  return widths;
}

function cellWidth(cell: readonly Line[], room: number): number {
  return cell.reduce((most, line) => Math.max(most, Math.min(lineWidth(line), room)), 0);
}

function rowLines(row: readonly (readonly Line[])[], widths: readonly number[], align: readonly Align[], { bar }: Glyphs): readonly Line[] {
  const cells = widths.map((width, at) => (row[at] ?? []).flatMap((line) => wrapLine(line, width)));
  const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, at) => {
    const line: (string | Span)[] = [];
    for (const [column, width] of widths.entries()) {
      if (column > 0) line.push(styled("dim", ` ${bar} `));
      const text = cells[column]?.[at] ?? [];
      const [before, after] = alignmentSpaces(width - lineWidth(text), align[column] ?? null);
      line.push(before, ...text, column === widths.length - 1 ? "" : after);
    }
    return line.filter((piece) => piece !== "");
  });
}

function alignmentSpaces(free: number, align: Align): readonly [before: string, after: string] {
  const room = Math.max(0, free);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return [" ".repeat(before), " ".repeat(room - before)];
}

function rowAsList(
  header: readonly (readonly Line[])[],
  row: readonly (readonly Line[])[],
  width: number,
  { bullet }: Glyphs,
): readonly Line[] {
  return row.flatMap((cell, at) => {
    const [name = [], ...more] = [...(header[at] ?? [])];
    const first: Line = [...name, ...(name.length > 0 ? [": "] : []), ...(cell[0] ?? [])];
    const mark = at === 0 ? `${bullet} ` : "  ";
    return prefixLines(width, [mark], ["  "], (room) => [...more, first, ...cell.slice(1)].flatMap((line) => wrapLine(line, room)));
  });
}
