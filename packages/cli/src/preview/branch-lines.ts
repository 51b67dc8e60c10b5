import { count, counted } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import type { BranchFacts, BranchOverview } from "./branches.js";
import { fitted, flowed } from "./flow.js";
import { marksOf, UNICODE_GLYPHS } from "./marks.js";

/** From this width on branches stand beside each other. */
const SIDE_BY_SIDE = 80;

/** Columns that one of them keeps. */
const LEAST_COLUMN = 30;

/** Beside each other at most. */
const MAX_COLUMNS = 4;

/** Lines that a text or a list of files takes. */
const TEXT_LINES = 3;

/** Branches side by side: from 80 columns on in 2 to 4 columns, below each other where it is narrower. Each line fits `width`. */
export function branchLines(overview: BranchOverview, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  const { branches, more, isPartial } = overview;
  const heading = flowed([styled("heading", `${count(branches.length + more)} branches from here`)], width);
  const columns = width < SIDE_BY_SIDE ? 1 : Math.max(1, Math.min(MAX_COLUMNS, branches.length, Math.floor(width / LEAST_COLUMN)));
  const lines: Line[] = [...heading];
  for (let at = 0; at < branches.length; at += columns) {
    lines.push([]);
    for (const line of besideEachOther(branches.slice(at, at + columns), columns, at, width, glyphs)) lines.push(line);
  }
  if (more > 0) lines.push([], ...flowed([styled("dim", `and ${counted(more, "more branch", "more branches")}`)], width));
  if (isPartial) lines.push(...flowed([styled("dim", "Only the first 100,000 entries below were counted.")], width));
  return lines.flatMap((line) => fitted(line, width));
}

function besideEachOther(branches: readonly BranchFacts[], columns: number, from: number, width: number, glyphs: Glyphs): readonly Line[] {
  const gap = ` ${marksOf(glyphs).bar} `;
  const room = Math.floor((width - gap.length * (columns - 1)) / columns);
  const cells = branches.map((branch, at) => cellLines(branch, from + at + 1, room, glyphs));
  const height = cells.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: height }, (_, row) => {
    const line: (string | Span)[] = [];
    for (const [at, cell] of cells.entries()) {
      const text = cell[row] ?? [];
      line.push(...(at > 0 ? [styled("dim", gap)] : []), ...text);
      if (at < cells.length - 1) line.push(" ".repeat(Math.max(0, room - lineWidth(text))));
    }
    return line;
  });
}

function cellLines(branch: BranchFacts, number: number, width: number, glyphs: Glyphs): readonly Line[] {
  const { label, isActive, entries, messages, tips } = branch;
  const name: Line = [
    ...(isActive ? [styled("leaf", `${glyphs.onPath} `)] : []),
    styled("bold", `${number}`),
    ...(label === null ? [] : [" ", styled("label", `[${label}]`)]),
    ...(isActive ? [styled("leaf", " active")] : []),
  ];
  const figures = `${counted(messages, "message")}, ${counted(entries, "entry", "entries")}${tips > 1 ? `, ${counted(tips, "end")}` : ""}`;
  return [
    fitLine(name, width, glyphs.ellipsis),
    ...short([styled("dim", figures)], width, glyphs),
    ...short([styled("dim", "first: "), branch.firstText || "(empty)"], width, glyphs),
    ...short([styled("dim", "last: "), branch.lastText || "(empty)"], width, glyphs),
    ...filesLines("modified", branch.filesModified, width, glyphs),
    ...filesLines("read", branch.filesRead, width, glyphs),
  ];
}

/** A list of files in a few lines; nothing for none. */
export function filesLines(name: string, files: readonly string[], width: number, glyphs: Glyphs, most = TEXT_LINES): readonly Line[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, most);
  const rest = files.length - shown.length;
  return [
    ...flowed([styled("dim", `${counted(files.length, "file")} ${name}${rest > 0 ? `, the first ${shown.length}` : ""}:`)], width),
    ...shown.map((path) => fitLine(["  ", path], width, glyphs.ellipsis)),
  ];
}

function short(line: Line, width: number, { ellipsis }: Glyphs): readonly Line[] {
  const lines = flowed(line, width);
  const last = lines[TEXT_LINES - 1];
  if (lines.length <= TEXT_LINES || last === undefined) return lines;
  return [...lines.slice(0, TEXT_LINES - 1), fitLine([...last, ` ${ellipsis}`], width, ellipsis)];
}
