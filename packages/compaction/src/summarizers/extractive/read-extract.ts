import { BLOCK_NAMES, type BlockName, LEFT_OUT, MARKER, shapeOf } from "./outline.js";
import { INLINE_BREAK } from "./render.js";
import { isUnderline, safeLine } from "./safe-line.js";

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
