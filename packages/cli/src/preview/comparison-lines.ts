import { counted } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, styled } from "../terminal/line.js";
import { filesLines } from "./branch-lines.js";
import type { ComparedSide, Comparison } from "./compare.js";
import { besides, fitted, flowed } from "./flow.js";
import { markdownLines } from "./markdown.js";
import { UNICODE_GLYPHS } from "./marks.js";
import { TextBudget } from "./text-budget.js";

/** Files of one list that are named. */
const MOST_FILES = 200;

/** What differs between two branches: where they part, what was said on each, their files and summaries. Each line fits `width`. */
export function comparisonLines(comparison: Comparison, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  const { filesInBoth, onlyLeft, onlyRight, left, right } = comparison;
  const budget = new TextBudget(width);
  const files = [
    ...filesLines("touched in both", filesInBoth, width, glyphs, MOST_FILES),
    ...filesLines("only in A", onlyLeft, width, glyphs, MOST_FILES),
    ...filesLines("only in B", onlyRight, width, glyphs, MOST_FILES),
  ];
  const lines = [
    ...flowed([styled("heading", "What differs")], width),
    ...flowed([styled("dim", whereTheyPart(comparison))], width),
    [],
    ...sideLines("A", left, budget, glyphs),
    [],
    ...sideLines("B", right, budget, glyphs),
    [],
    ...(files.length > 0 ? files : flowed([styled("dim", "No files were touched on either side.")], width)),
  ];
  return budget.bounded(lines, "bough show SESSION ENTRY").flatMap((line) => fitted(line, width));
}

function whereTheyPart({ commonAncestorId, left, right }: Comparison): string {
  if (left.id === right.id) return "A and B are the same entry.";
  if (commonAncestorId === null) return "They share no entry.";
  if (commonAncestorId === left.id) return "A is above B on the same branch.";
  if (commonAncestorId === right.id) return "B is above A on the same branch.";
  return `They part after ${commonAncestorId}.`;
}

function sideLines(name: string, side: ComparedSide, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const { width } = budget;
  const { entries, messages, firstTexts, filesModified, filesRead, summary } = side;
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}; ${counted(filesModified.length, "file")} modified, ${filesRead.length} only read`;
  const text = summary === null ? [] : markdownLines(budget.take(summary.text), width - 2, glyphs);
  return [
    ...flowed([styled("bold", name), styled("dim", `  ${side.id}`)], width),
    ...flowed([entries === 0 ? styled("dim", "nothing of its own") : figures], width),
    ...firstTexts.flatMap((first) => besides(width, [styled("user", "user: ")], ["      "], (room) => flowed([first], room))),
    ...(summary === null ? [] : flowed([styled("summary", "summary"), styled("dim", `  ${summary.entryId}`)], width)),
    ...text.map((line): Line => ["  ", ...line]),
  ];
}
