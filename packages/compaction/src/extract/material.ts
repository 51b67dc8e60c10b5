import type { SummarySource } from "../summarizers/summarizer.js";
import { BLOCK_NAMES, type BlockName, getShape, INLINE_BREAK, isUnderline, LEFT_OUT, type Line, MARKER, toSafeLine } from "./blocks.js";
import type { Fact } from "./find-facts.js";
import type { Timeline } from "./timeline.js";

/** What the parts of an extract are made from. */
export interface ExtractMaterial {
  readonly story: Timeline;
  readonly facts: readonly Fact[];
  readonly kind: SummarySource["kind"];
  /** The extract that this one carries on; null: there is none, or a model wrote it. */
  readonly old: ParsedExtract | null;
  /** Summaries that this one carries on or that stand among the messages, in order, those that are extracts and their goals left out. */
  readonly earlier: readonly string[];
  /** The goal as the first of them says it. */
  readonly goal: string | null;
  readonly limits: BlockLimits;
}

/** The lines of a block of the extract before. */
export function getPreviousLines({ old }: ExtractMaterial, name: BlockName): readonly string[] {
  return old?.get(name) ?? [];
}

/** A line on its way, and how many calls that changed or ran something stand behind it. */
export interface WeightedLine {
  readonly text: string;
  readonly work: number;
}

/**
 * Lines whose newest come last: the newest has the rank `first`, each older one `step` more. What much work stands behind
 * ages more slowly. A text stands once, where it is newest.
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

/** Lines in the order of their weight: the first has the rank `first`, each later one `step` more. */
export function rankInOrder(texts: readonly string[], first: number, step: number): readonly Line[] {
  return [...new Set(texts)].map((text, at) => ({ text, rank: first + step * at }));
}

/** Bounds of the parts of an extract, from the room it has. In UTF-16 code units and lines. */
interface BlockLimits {
  readonly goalChars: number;
  readonly latestChars: number;
  readonly lastChars: number;
  readonly earlierChars: number;
  /** Of one line of a list. */
  readonly lineChars: number;
}

/**
 * The goal, the last request and the state at the end are always there, so each may take only its share; what they leave
 * goes to the lists. An earlier summary may take a third: it does not grow, however often it is carried on.
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

/** No line of an extract is longer. */
const LINE_CHARS = 1_000;

/** The lines of an extract by block, without marks. */
type ParsedExtract = ReadonlyMap<BlockName, readonly string[]>;

/** A summary as the next extract carries it on. */
interface PreviousSummary {
  /** What is no extract: a summary that a model wrote. */
  readonly before: string;
  /** null: there is no extract in it. */
  readonly old: ParsedExtract | null;
}

/**
 * Reads a summary back, so that the lines of an extract are carried on instead of quoted. After a split turn there are two
 * in it: what the second was asked came later than the goal of the first, and its state is the later one. Linear.
 */
export function parsePrevious(summary: string): PreviousSummary {
  const pieces = summary.split(STARTS_EXTRACT).map((piece) => stripSeparator(piece));
  const [before = "", ...extracts] = pieces;
  const read = extracts.map(parseExtract);
  const [first, ...later] = read;
  return { before, old: first === undefined ? null : later.reduce(joinExtracts, first) };
}

const STARTS_EXTRACT = new RegExp(`^${MARKER.replaceAll(".", "\\.")}`, "m");

/** Without what stands between the two summaries of a split turn (pi's form): a line, and a title in bold type. */
function stripSeparator(piece: string): string {
  const line = piece.lastIndexOf("\n---\n");
  return line !== -1 && /^\*\*[^*\n]{1,80}\*\*$/.test(piece.slice(line + "\n---\n".length).trim()) ? piece.slice(0, line) : piece;
}

/** What is true at the end only: the later one counts. */
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

/** It was stored since, and may have been edited, so nothing is taken on trust. */
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

/** Items in backticks may have commas in them. */
function splitItems(text: string): readonly string[] {
  return text.split(text.startsWith("`") ? /(?<=`), (?=`)/ : INLINE_BREAK);
}

/** pi's structured summary, Claude Code's nine sections, and their like; with or without the mark of a heading. */
const GOAL = /^(?:#{1,3} )?(?:1\. )?(?:Goal|Primary Request(?: and Intent)?|Overall Goal|Objective)s?:?\s*$/i;
const HEADING = /^#{1,3} |^\d{1,2}\. [A-Z][^.]{2,60}:\s*$/;

/** A summary that a model wrote, and the section of it that says what is wanted. */
interface SummaryGoal {
  /** null: it has no such section. */
  readonly goal: string | null;
  readonly rest: string;
}

/** Takes the section about the goal out of a summary, wherever it stands. Linear. */
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
