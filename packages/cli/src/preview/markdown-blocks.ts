import type { Token, Tokens } from "marked";
import { type Line, styled } from "../terminal/line.js";
import { besides, flowed, standing } from "./flow.js";
import { inlineLines } from "./markdown-inline.js";
import { markdownTable } from "./markdown-table.js";
import { known } from "./markdown-tokens.js";
import type { Marks } from "./marks.js";
import { patchLines } from "./patch-text.js";

/** Blocks below each other, an empty line between two unless they are `close`. The lexer bounds how deep they stand. */
export function blockLines(tokens: readonly Token[], width: number, marks: Marks, close = false): readonly Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    const block = oneBlock(token, width, marks);
    if (block.length > 0 && lines.length > 0 && !close) lines.push([]);
    for (const line of block) lines.push(line);
  }
  return lines;
}

function oneBlock(given: Token, width: number, marks: Marks): readonly Line[] {
  const token = known(given);
  switch (token.type) {
    case "space":
    case "checkbox":
      return [];
    case "heading":
      return besides(width, [styled("heading", `${"#".repeat(token.depth)} `)], [" ".repeat(token.depth + 1)], (room) =>
        inlineLines(token.tokens, "heading").flatMap((line) => flowed(line, room)),
      );
    case "paragraph":
      return inlineLines(token.tokens).flatMap((line) => flowed(line, width));
    case "text":
      return inlineLines([token]).flatMap((line) => flowed(line, width));
    case "code":
      return codeLines(token, width);
    case "blockquote": {
      const bar: Line = [styled("dim", `${marks.bar} `)];
      return besides(width, bar, bar, (room) => blockLines(token.tokens, room, marks));
    }
    case "list":
      return listLines(token, width, marks);
    case "table":
      return markdownTable(token, width, marks);
    case "hr":
      return [[styled("dim", marks.rule.repeat(Math.min(width, 40)))]];
    case "def":
      return standing(token.raw.trim(), width, "dim");
    default:
      return standing(token.raw, width);
  }
}

/** Code as it stands, two columns in (regression R149). */
function codeLines({ text, lang }: Tokens.Code, width: number): readonly Line[] {
  const isPatch = /^(?:diff|patch)\b/i.test(lang ?? "");
  return besides(width, ["  "], ["  "], (room) => (isPatch ? patchLines(text, room) : standing(text, room, "code")));
}

function listLines({ items, ordered, loose }: Tokens.List, width: number, marks: Marks): readonly Line[] {
  const numbers = items.map(({ raw }, at) => (ordered ? writtenNumber(raw, at) : ""));
  const widest = numbers.reduce((most, { length }) => Math.max(most, length), 0);
  const lines: Line[] = [];
  for (const [at, item] of items.entries()) {
    const mark = ordered ? `${(numbers[at] ?? "").padStart(widest)} ` : `${marks.bullet} `;
    const box = item.task ? `[${item.checked === true ? "x" : " "}] ` : "";
    const drawn = besides(width, [mark, box], [" ".repeat(mark.length)], (room) => itemLines(item, room, marks));
    if (loose && at > 0) lines.push([]);
    for (const line of drawn) lines.push(line);
  }
  return lines;
}

/** The number as it was written: people and models refer to "point 10" by what they wrote, not by what Markdown counts. */
function writtenNumber(raw: string, at: number): string {
  return /^\s*(\d{1,9}[.)])/.exec(raw)?.[1] ?? `${at + 1}.`;
}

/** What stands in an item; an empty one is a line too, with its mark. */
function itemLines({ tokens, loose }: Tokens.ListItem, width: number, marks: Marks): readonly Line[] {
  const lines = blockLines(tokens, width, marks, !loose);
  return lines.length === 0 ? [[]] : lines;
}
