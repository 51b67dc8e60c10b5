import type { SummarySource } from "../summarizers/summarizer.js";
import { BLOCK_NAMES, type BlockName, getShape, INLINE_BREAK, isUnderline, LEFT_OUT, type Line, MARKER, toSafeLine } from "./blocks.js";
import type { Fact } from "./find-facts.js";
import type { Timeline } from "./timeline.js";

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
const HEADING = /^#{1,3} |^\d{1,2}\. [A-Z][^.]{2,60}:\s*$/;

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
  const next = lines.findIndex((line, at) => at > start && HEADING.test(line));
  const end = next === -1 ? lines.length : next;
  const goal = lines
    .slice(start + 1, end)
    .join("\n")
    .trim();
  return goal === "" ? { goal: null, rest: summary } : { goal, rest: [...lines.slice(0, start), ...lines.slice(end)].join("\n") };
}
