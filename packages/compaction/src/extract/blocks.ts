import { EXTRACT_NOTE, shortenAtWord, shortLine } from "@bough/session-core/view";
import type { SummarySource } from "../summarizers/summarizer.js";
import type { Fact } from "./facts.js";
import type { Timeline } from "./timeline.js";

/** The first line of an extract starts with this, so that a model knows it; people see it last (`readableSummary`). */
export const MARKER = EXTRACT_NOTE;

/** A line with the number of omitted lines of a block; it is not carried over to the next extract. */
const LEFT_OUT = /^\(\d+ more left out\)$/;

/** The style of the lines of a block. */
type LineStyle = "quote" | "list" | "done" | "open" | "steps" | "inline" | "plain";

/** One block of an extract. */
interface BlockShape {
  readonly heading: string;
  /** A second heading, as `### Done`. */
  readonly under?: string | undefined;
  /** On a line of its own before the block's lines, or at the start of their one line (`inline`). */
  readonly lead?: string | undefined;
  readonly style: LineStyle;
}

/** The blocks of an extract, in order. The headings are those of pi's structured summary and four more that need no model. */
export const BLOCK_SHAPES = {
  goal: { heading: "Goal", style: "quote" },
  requests: { heading: "Goal", lead: "Then asked:", style: "list" },
  latest: { heading: "Goal", lead: "Asked last:", style: "quote" },
  earlier: { heading: "Earlier Summary", style: "plain" },
  rules: { heading: "Constraints & Preferences", style: "list" },
  done: { heading: "Progress", under: "Done", style: "done" },
  open: { heading: "Progress", under: "In Progress", style: "open" },
  blocked: { heading: "Progress", under: "Blocked", style: "list" },
  decisions: { heading: "Key Decisions", style: "list" },
  errors: { heading: "Errors", style: "list" },
  changed: { heading: "Files", lead: "Changed:", style: "list" },
  read: { heading: "Files", lead: "Read:", style: "inline" },
  last: { heading: "Last State", style: "quote" },
  next: { heading: "Next Steps", style: "steps" },
  commands: { heading: "Critical Context", lead: "Commands that worked:", style: "inline" },
  names: { heading: "Critical Context", lead: "Names:", style: "inline" },
  numbers: { heading: "Critical Context", lead: "Numbers:", style: "inline" },
} as const satisfies Readonly<Record<string, BlockShape>>;

/** The name of a block. */
export type BlockName = keyof typeof BLOCK_SHAPES;

/** All block names, in order. */
// Cast: Object.keys returns string[].
export const BLOCK_NAMES = Object.keys(BLOCK_SHAPES) as readonly BlockName[];

/** The shape of a block. */
function getShape(name: BlockName): BlockShape {
  return BLOCK_SHAPES[name];
}

/** One line of a block. */
export interface Line {
  readonly text: string;
  /** Lines with a lower rank are chosen first. */
  readonly rank: number;
}

/** The lines of each block, in order, as safe Markdown. */
export type Blocks = Readonly<Record<BlockName, readonly Line[]>>;

/** A line with a lower rank is cut instead of omitted: the goal and the last request. */
const CUT_BELOW_RANK = 2;
/** Least length of a cut line. */
const LEAST = 16;
/** Below this size an extract has no headings. */
const WITHOUT_HEADINGS = 260;
/** Blocks that show how many of their lines were omitted. */
const COUNTED: readonly BlockName[] = ["requests", "done", "errors", "changed"];
const COUNTS_COST = COUNTED.length * "- (99999 more left out)\n".length;
/** Below this size the counts are omitted. */
const COUNTS_FROM = 1_000;

interface Placed extends Line {
  readonly name: BlockName;
  readonly at: number;
}

/** Builds an extract of at most `maxChars` from the lines with the lowest ranks, in block order. */
export function fitBlocks(first: string, blocks: Blocks, maxChars: number): string {
  if (maxChars < WITHOUT_HEADINGS) return fitShort(blocks, maxChars);
  const counts = maxChars >= COUNTS_FROM;
  const chosen = chooseLines(blocks, maxChars - first.length - (counts ? COUNTS_COST : 0));
  const lines = new Map(BLOCK_NAMES.map((name) => [name, listShownLines(name, blocks[name], { chosen, counts })]));
  return renderExtract(first, lines);
}

function chooseLines(blocks: Blocks, room: number): ReadonlyMap<BlockName, ReadonlyMap<number, string>> {
  const chosen = new Map<BlockName, Map<number, string>>();
  let left = room;
  for (const line of sortByRank(blocks)) {
    const frame = chosen.has(line.name) ? 0 : countFrameChars(getShape(line.name));
    const cost = frame + countLineChars(line.name, line.text);
    const text = cost <= left ? line.text : cutLineTo(line, left - frame - countLineChars(line.name, ""));
    if (text === "") continue;
    left -= frame + countLineChars(line.name, text);
    const block = chosen.get(line.name) ?? new Map<number, string>();
    chosen.set(line.name, block.set(line.at, text));
  }
  return chosen;
}

function sortByRank(blocks: Blocks): readonly Placed[] {
  return BLOCK_NAMES.flatMap((name) => blocks[name].map((line, at) => ({ ...line, name, at }))).sort((a, b) => a.rank - b.rank);
}

function cutLineTo({ text, rank }: Placed, room: number): string {
  return rank < CUT_BELOW_RANK && room >= LEAST ? toSafeLine(text, room) : "";
}

function listShownLines(
  name: BlockName,
  lines: readonly Line[],
  { chosen, counts }: { readonly chosen: ReturnType<typeof chooseLines>; readonly counts: boolean },
): readonly string[] {
  const block = chosen.get(name);
  if (block === undefined) return [];
  const kept = [...block].sort(([a], [b]) => a - b).map(([, text]) => text);
  const out = lines.length - kept.length;
  return counts && out > 0 && COUNTED.includes(name) ? [`(${out} more left out)`, ...kept] : kept;
}

/** An extract of one or two sentences: the first and the last request. */
function fitShort(blocks: Blocks, maxChars: number): string {
  const goal = blocks.goal[0]?.text ?? blocks.earlier[0]?.text ?? blocks.last[0]?.text ?? "";
  const last = blocks.latest[0]?.text ?? "";
  const words = last === "" ? 1 : 2;
  const room = Math.floor((maxChars - "Extract. Asked:  Last: ".length) / words);
  if (room < 1) return toSafeLine(last === "" ? goal : last, Math.max(0, maxChars));
  const sentences = [`Extract. Asked: ${toSafeLine(goal, room)}`, ...(last === "" ? [] : [`Last: ${toSafeLine(last, room)}`])];
  return sentences.join(" ");
}

const MARKS: Readonly<Record<LineStyle, string>> = {
  quote: "> ",
  list: "- ",
  done: "- [x] ",
  open: "- [ ] ",
  steps: "1. ",
  inline: "",
  plain: "",
};
/** Separates the lines of an inline block. */
const INLINE_BREAK = ", ";

/** Characters that a line takes, including its mark and line break. */
function countLineChars(name: BlockName, text: string): number {
  return getShape(name).style === "inline" ? text.length + INLINE_BREAK.length : MARKS[getShape(name).style].length + text.length + 1;
}

/** The most characters that a block's headings and lead take. */
function countFrameChars({ heading, under, lead }: BlockShape): number {
  const below = under === undefined ? "" : `### ${under}\n\n`;
  return `\n\n## ${heading}\n\n${below}${lead ?? ""}\n`.length;
}

/** The extract as Markdown, without empty blocks. */
function renderExtract(first: string, lines: ReadonlyMap<BlockName, readonly string[]>): string {
  const pieces = [first];
  let heading = "";
  for (const name of BLOCK_NAMES) {
    const shown = lines.get(name) ?? [];
    if (shown.length === 0) continue;
    const shape = getShape(name);
    if (shape.heading !== heading) pieces.push(`## ${shape.heading}`);
    heading = shape.heading;
    if (shape.under !== undefined) pieces.push(`### ${shape.under}`);
    pieces.push(renderBlock(shape, shown));
  }
  return pieces.join("\n\n");
}

function renderBlock({ style, lead }: BlockShape, lines: readonly string[]): string {
  if (style === "inline") return `${lead ?? ""} ${lines.join(INLINE_BREAK)}`.trim();
  const body = lines.map((line, at) => markLine(style, line, at));
  return [...(lead === undefined ? [] : [lead]), ...body].join("\n");
}

function markLine(style: LineStyle, line: string, at: number): string {
  if (LEFT_OUT.test(line)) return MARKS.list + line;
  return style === "steps" ? `${at + 1}. ${line}` : MARKS[style] + line;
}

/** A heading may be inside quotes and lists. */
const HEADING = /^((?:(?:[->*+]|\d{1,9}[.)])\s+)*)(?=#)/;

/** True if a line turns the line above it into a heading, or is a thematic break. */
export function isUnderline(line: string): boolean {
  return /^\s*(?:-+|=+|[*_]{3,})\s*$/.test(line);
}

/**
 * A text as one line of Markdown without syntax that affects other lines: no heading, no open code, at most `maxChars`
 * UTF-16 code units. Idempotent.
 */
export function toSafeLine(text: string, maxChars: number): string {
  const line = shortLine(text, maxChars).replace(/`{3,}/g, "``").replace(/~{3,}/g, "~~");
  const whole = closeCode(line.replace(HEADING, "$1\\"));
  return whole.length > maxChars ? closeCode(shortenAtWord(whole, maxChars)) : whole;
}

/** Rather than cutting lines shorter than this, fewer lines are kept. */
const READABLE = 60;

/**
 * Several lines of a text, each safe. With more than `maxLines` lines or `maxChars` characters, lines in the middle are
 * removed.
 */
export function toSafeLines(
  text: string,
  { maxLines, maxChars }: { readonly maxLines: number; readonly maxChars: number },
): readonly string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const shown =
    text.length <= maxChars && lines.length <= maxLines ? lines : takeEnds(lines, Math.min(maxLines, Math.floor(maxChars / READABLE)));
  // Each line gets an equal share; what short lines leave goes to the first long lines.
  const share = Math.floor(maxChars / Math.max(1, shown.length));
  let spare = maxChars - shown.reduce((sum, line) => sum + Math.min(line.length, share), 0);
  return shown.map((line) => {
    const extra = Math.min(spare, Math.max(0, line.length - share));
    spare -= extra;
    return toSafeLine(line, Math.min(line.length, share) + extra);
  });
}

/** The first and the last lines with "…" between them. */
function takeEnds(lines: readonly string[], count: number): readonly string[] {
  if (lines.length <= count) return lines;
  if (count < 3) return lines.slice(0, Math.max(1, count));
  return [...lines.slice(0, Math.ceil(count / 2)), "…", ...lines.slice(-Math.floor(count / 2))];
}

/** Removes an unpaired backtick, which would turn the rest into code. */
function closeCode(line: string): string {
  if ((line.match(/`/g)?.length ?? 0) % 2 === 0) return line;
  const last = line.lastIndexOf("`");
  return line.slice(0, last) + line.slice(last + 1);
}

/** The material of an extract. */
export interface ExtractMaterial {
  readonly timeline: Timeline;
  readonly facts: readonly Fact[];
  readonly kind: SummarySource["kind"];
  /** The previous extract; null: there is none, or a model wrote the previous summary. */
  readonly old: ParsedExtract | null;
  /** Summaries to carry over and summaries among the messages, in order, without extracts and without their goals. */
  readonly earlier: readonly string[];
  /** The goal in the first of them. */
  readonly goal: string | null;
  readonly limits: BlockLimits;
}

/** The lines of a block of the previous extract. */
export function getPreviousLines({ old }: ExtractMaterial, name: BlockName): readonly string[] {
  return old?.get(name) ?? [];
}

/** A line, and the number of calls behind it that changed or ran something. */
export interface WeightedLine {
  readonly text: string;
  readonly work: number;
}

/**
 * Ranks lines whose newest is last: the newest gets the rank `first`, each older one `step` more. Lines with much work
 * age more slowly. A repeated text is kept once, at its newest place.
 */
export function rankNewestFirst(given: readonly (string | WeightedLine)[], first: number, step: number): readonly Line[] {
  const lines = given.map((one) => (typeof one === "string" ? { text: one, work: 1 } : one));
  const newest = new Map(lines.map(({ text }, at) => [text, at]));
  const kept = lines.filter(({ text }, at) => newest.get(text) === at);
  return kept.map(({ text, work }, at) => ({
    text,
    rank: first + (step * (kept.length - 1 - at)) / (1 + Math.log2(Math.max(1, work))),
  }));
}

/** Ranks lines in order: the first gets the rank `first`, each later one `step` more. */
export function rankInOrder(texts: readonly string[], first: number, step: number): readonly Line[] {
  return [...new Set(texts)].map((text, at) => ({ text, rank: first + step * at }));
}

/** Bounds of blocks, in UTF-16 code units. */
interface BlockLimits {
  readonly goalChars: number;
  readonly latestChars: number;
  readonly lastChars: number;
  readonly earlierChars: number;
  /** Of one line of a list. */
  readonly lineChars: number;
}

/**
 * The bounds for an extract of `maxChars`. Goal, last request and last state are always included, each within its share;
 * what they leave goes to the lists. Earlier summaries may take a third.
 */
export function computeBlockLimits(maxChars: number): BlockLimits {
  return {
    goalChars: clamp(40, maxChars * 0.25, 700),
    latestChars: clamp(40, maxChars * 0.25, 1_000),
    lastChars: clamp(40, maxChars * 0.2, 1_000),
    earlierChars: Math.floor(maxChars / 3),
    lineChars: clamp(100, maxChars * 0.1, 200),
  };
}

function clamp(least: number, wanted: number, most: number): number {
  return Math.floor(Math.min(most, Math.max(least, wanted)));
}

/** Longest line of an extract. */
const LINE_CHARS = 1_000;

/** The lines of an extract by block, without marks. */
type ParsedExtract = ReadonlyMap<BlockName, readonly string[]>;

/** A previous summary, parsed. */
interface PreviousSummary {
  /** The text that is not an extract: a summary written by a model. */
  readonly before: string;
  /** null: the summary contains no extract. */
  readonly old: ParsedExtract | null;
}

/**
 * Parses a previous summary, so that the lines of an extract are carried over instead of quoted. A summary of a split
 * turn has two extracts: the requests of the second follow the goal of the first, and its state is the current one.
 * Linear.
 */
export function parsePrevious(summary: string): PreviousSummary {
  const pieces = summary.split(STARTS_EXTRACT).map((piece) => stripSeparator(piece));
  const [before = "", ...extracts] = pieces;
  const read = extracts.map(parseExtract);
  const [first, ...later] = read;
  return { before, old: first === undefined ? null : later.reduce(joinExtracts, first) };
}

const STARTS_EXTRACT = new RegExp(`^${MARKER.replaceAll(".", "\\.")}`, "m");

/** Removes the separator between the two summaries of a split turn: a line, and a title in bold type. */
function stripSeparator(piece: string): string {
  const line = piece.lastIndexOf("\n---\n");
  return line !== -1 && /^\*\*[^*\n]{1,80}\*\*$/.test(piece.slice(line + "\n---\n".length).trim()) ? piece.slice(0, line) : piece;
}

/** Blocks about the end of the conversation; those of the later extract count. */
const STATE: readonly BlockName[] = ["last", "next", "open", "blocked"];

function joinExtracts(first: ParsedExtract, second: ParsedExtract): ParsedExtract {
  const all = new Map(BLOCK_NAMES.map((name) => [name, [...getLines(first, name), ...getLines(second, name)]]));
  for (const name of STATE) all.set(name, [...getLines(second.has(name) ? second : first, name)]);
  all.set("goal", [...getLines(first.has("goal") ? first : second, "goal")]);
  if (!first.has("goal") || !second.has("goal")) return all;
  const asked = [getLines(first, "latest"), second.has("latest") ? getLines(second, "goal") : []].map((lines) => lines.slice(0, 1));
  all.set("requests", [...getLines(first, "requests"), ...asked.flat(), ...getLines(second, "requests")]);
  all.set("latest", [...getLines(second, second.has("latest") ? "latest" : "goal")]);
  return all;
}

function getLines(read: ParsedExtract, name: BlockName): readonly string[] {
  return read.get(name) ?? [];
}

function parseExtract(text: string): ParsedExtract {
  const read = new Map<BlockName, string[]>();
  let candidates: readonly BlockName[] = [];
  let current: BlockName | null = null;
  for (const line of text.split("\n")) {
    const heading = /^##(#)? (.+)$/.exec(line);
    if (heading !== null) {
      candidates = findBlocksUnder(heading[2] ?? "", heading[1] === "#");
      current = candidates.find((name) => getShape(name).lead === undefined) ?? null;
      continue;
    }
    current = candidates.find((name) => startsWithLead(name, line)) ?? current;
    if (current === null) continue;
    const lines = read.get(current) ?? [];
    lines.push(...readSafeLines(current, line));
    if (lines.length > 0) read.set(current, lines);
  }
  return read;
}

function findBlocksUnder(heading: string, below: boolean): readonly BlockName[] {
  return BLOCK_NAMES.filter((name) => (below ? getShape(name).under : getShape(name).heading) === heading);
}

function startsWithLead(name: BlockName, line: string): boolean {
  const { lead, style } = getShape(name);
  return lead !== undefined && (style === "inline" ? line.startsWith(`${lead} `) : line === lead);
}

/** A stored extract may have been edited, so its lines are made safe again. */
function readSafeLines(name: BlockName, line: string): readonly string[] {
  return readTexts(name, line)
    .map((text) => toSafeLine(text, LINE_CHARS))
    .filter((text) => text !== "");
}

function readTexts(name: BlockName, line: string): readonly string[] {
  const { style, lead } = getShape(name);
  if (line.trim() === "" || isUnderline(line) || line === lead) return [];
  if (style === "inline") return startsWithLead(name, line) ? splitItems(line.slice((lead ?? "").length).trim()) : [];
  const text = line.replace(MARK[style], "");
  const isOurs = style === "plain" || text !== line;
  return isOurs && !LEFT_OUT.test(text) ? [text] : [];
}

const MARK = { quote: /^> /, list: /^- /, done: /^- \[x\] /, open: /^- \[ \] /, steps: /^\d+\. /, plain: /^/ } as const;

/** Items in backticks may contain commas. */
function splitItems(text: string): readonly string[] {
  return text.split(text.startsWith("`") ? /(?<=`), (?=`)/ : INLINE_BREAK);
}

/** The goal heading of pi's structured summary, Claude Code's nine sections and similar forms. */
const GOAL = /^(?:#{1,3} )?(?:1\. )?(?:Goal|Primary Request(?: and Intent)?|Overall Goal|Objective)s?:?\s*$/i;
const SUMMARY_HEADING = /^#{1,3} |^\d{1,2}\. [A-Z][^.]{2,60}:\s*$/;

/** A summary written by a model, split into the goal and the rest. */
interface SummaryGoal {
  /** null: no such section. */
  readonly goal: string | null;
  readonly rest: string;
}

/** Removes the section with the goal from a summary. Linear. */
export function takeGoal(summary: string): SummaryGoal {
  const lines = summary.split("\n");
  const start = lines.findIndex((line) => GOAL.test(line));
  if (start === -1) return { goal: null, rest: summary };
  const next = lines.findIndex((line, at) => at > start && SUMMARY_HEADING.test(line));
  const end = next === -1 ? lines.length : next;
  const goal = lines
    .slice(start + 1, end)
    .join("\n")
    .trim();
  return goal === "" ? { goal: null, rest: summary } : { goal, rest: [...lines.slice(0, start), ...lines.slice(end)].join("\n") };
}
