import type { SummarySource } from "../summarizers/summarizer.js";
import { BLOCK_NAMES, type BlockName, INLINE_BREAK, isUnderline, LEFT_OUT, type Line, MARKER, safeLine, shapeOf } from "./blocks.js";
import type { Fact } from "./find-facts.js";
import type { Story } from "./timeline.js";

/** What the parts of an extract are made from. */
export interface Material {
  readonly story: Story;
  readonly facts: readonly Fact[];
  readonly kind: SummarySource["kind"];
  /** The extract that this one carries on; null: there is none, or a model wrote it. */
  readonly old: ReadExtract | null;
  /** Summaries that this one carries on or that stand among the messages, in order, those that are extracts and their goals left out. */
  readonly earlier: readonly string[];
  /** The goal as the first of them says it. */
  readonly goal: string | null;
  readonly limits: PartLimits;
}

/** The lines of a block of the extract before. */
export function oldLines({ old }: Material, name: BlockName): readonly string[] {
  return old?.get(name) ?? [];
}

/** A line on its way, and how many calls that changed or ran something stand behind it. */
export interface Weighted {
  readonly text: string;
  readonly work: number;
}

/**
 * Lines whose newest come last: the newest has the rank `first`, each older one `step` more. What much work stands behind
 * ages more slowly. A text stands once, where it is newest.
 */
export function newestFirst(given: readonly (string | Weighted)[], first: number, step: number): readonly Line[] {
  const lines = given.map((one) => (typeof one === "string" ? { text: one, work: 1 } : one));
  const newest = new Map(lines.map(({ text }, at) => [text, at]));
  const kept = lines.filter(({ text }, at) => newest.get(text) === at);
  return kept.map(({ text, work }, at) => ({
    text,
    rank: first + (step * (kept.length - 1 - at)) / (1 + Math.log2(Math.max(1, work))),
  }));
}

/** Lines in the order of their weight: the first has the rank `first`, each later one `step` more. */
export function firstFirst(texts: readonly string[], first: number, step: number): readonly Line[] {
  return [...new Set(texts)].map((text, at) => ({ text, rank: first + step * at }));
}

/** Bounds of the parts of an extract, from the room it has. In UTF-16 code units and lines. */
export interface PartLimits {
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
export function partLimits(maxChars: number): PartLimits {
  return {
    goalChars: between(40, maxChars * 0.25, 700),
    latestChars: between(40, maxChars * 0.25, 1_000),
    lastChars: between(40, maxChars * 0.2, 1_000),
    earlierChars: Math.floor(maxChars / 3),
    lineChars: between(100, maxChars * 0.1, 200),
  };
}

function between(least: number, wanted: number, most: number): number {
  return Math.floor(Math.min(most, Math.max(least, wanted)));
}

/** No line of an extract is longer. */
const LINE_CHARS = 1_000;

/** The lines of an extract by block, without marks. */
export type ReadExtract = ReadonlyMap<BlockName, readonly string[]>;

/** A summary as the next extract carries it on. */
export interface PreviousSummary {
  /** What is no extract: a summary that a model wrote. */
  readonly before: string;
  /** null: there is no extract in it. */
  readonly old: ReadExtract | null;
}

/**
 * Reads a summary back, so that the lines of an extract are carried on instead of quoted. After a split turn there are two
 * in it: what the second was asked came later than the goal of the first, and its state is the later one. Linear.
 */
export function readPrevious(summary: string): PreviousSummary {
  const pieces = summary.split(STARTS_EXTRACT).map((piece) => withoutSeparator(piece));
  const [before = "", ...extracts] = pieces;
  const read = extracts.map(readExtract);
  const [first, ...later] = read;
  return { before, old: first === undefined ? null : later.reduce(joined, first) };
}

const STARTS_EXTRACT = new RegExp(`^${MARKER.replaceAll(".", "\\.")}`, "m");

/** Without what stands between the two summaries of a split turn (pi's form): a line, and a title in bold type. */
function withoutSeparator(piece: string): string {
  const line = piece.lastIndexOf("\n---\n");
  return line !== -1 && /^\*\*[^*\n]{1,80}\*\*$/.test(piece.slice(line + "\n---\n".length).trim()) ? piece.slice(0, line) : piece;
}

/** What is true at the end only: the later one counts. */
const STATE: readonly BlockName[] = ["last", "next", "open", "blocked"];

function joined(first: ReadExtract, second: ReadExtract): ReadExtract {
  const all = new Map(BLOCK_NAMES.map((name) => [name, [...linesIn(first, name), ...linesIn(second, name)]]));
  for (const name of STATE) all.set(name, [...linesIn(second.has(name) ? second : first, name)]);
  all.set("goal", [...linesIn(first.has("goal") ? first : second, "goal")]);
  if (!first.has("goal") || !second.has("goal")) return all;
  const asked = [linesIn(first, "latest"), second.has("latest") ? linesIn(second, "goal") : []].map((lines) => lines.slice(0, 1));
  all.set("requests", [...linesIn(first, "requests"), ...asked.flat(), ...linesIn(second, "requests")]);
  all.set("latest", [...linesIn(second, second.has("latest") ? "latest" : "goal")]);
  return all;
}

function linesIn(read: ReadExtract, name: BlockName): readonly string[] {
  return read.get(name) ?? [];
}

function readExtract(text: string): ReadExtract {
  const read = new Map<BlockName, string[]>();
  let candidates: readonly BlockName[] = [];
  let current: BlockName | null = null;
  for (const line of text.split("\n")) {
    const heading = /^##(#)? (.+)$/.exec(line);
    if (heading !== null) {
      candidates = blocksUnder(heading[2] ?? "", heading[1] === "#");
      current = candidates.find((name) => shapeOf(name).lead === undefined) ?? null;
      continue;
    }
    current = candidates.find((name) => startsWithLead(name, line)) ?? current;
    if (current === null) continue;
    const lines = read.get(current) ?? [];
    lines.push(...linesOf(current, line));
    if (lines.length > 0) read.set(current, lines);
  }
  return read;
}

function blocksUnder(heading: string, below: boolean): readonly BlockName[] {
  return BLOCK_NAMES.filter((name) => (below ? shapeOf(name).under : shapeOf(name).heading) === heading);
}

function startsWithLead(name: BlockName, line: string): boolean {
  const { lead, style } = shapeOf(name);
  return lead !== undefined && (style === "inline" ? line.startsWith(`${lead} `) : line === lead);
}

/** It was stored since, and may have been edited, so nothing is taken on trust. */
function linesOf(name: BlockName, line: string): readonly string[] {
  return textsOf(name, line)
    .map((text) => safeLine(text, LINE_CHARS))
    .filter((text) => text !== "");
}

function textsOf(name: BlockName, line: string): readonly string[] {
  const { style, lead } = shapeOf(name);
  if (line.trim() === "" || isUnderline(line) || line === lead) return [];
  if (style === "inline") return startsWithLead(name, line) ? itemsOf(line.slice((lead ?? "").length).trim()) : [];
  const text = line.replace(MARK[style], "");
  const isOurs = style === "plain" || text !== line;
  return isOurs && !LEFT_OUT.test(text) ? [text] : [];
}

const MARK = { quote: /^> /, list: /^- /, done: /^- \[x\] /, open: /^- \[ \] /, steps: /^\d+\. /, plain: /^/ } as const;

/** Items in backticks may have commas in them. */
function itemsOf(text: string): readonly string[] {
  return text.split(text.startsWith("`") ? /(?<=`), (?=`)/ : INLINE_BREAK);
}

/** pi's structured summary, Claude Code's nine sections, and their like; with or without the mark of a heading. */
const GOAL = /^(?:#{1,3} )?(?:1\. )?(?:Goal|Primary Request(?: and Intent)?|Overall Goal|Objective)s?:?\s*$/i;
const HEADING = /^#{1,3} |^\d{1,2}\. [A-Z][^.]{2,60}:\s*$/;

/** A summary that a model wrote, and the section of it that says what is wanted. */
export interface SummaryGoal {
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
