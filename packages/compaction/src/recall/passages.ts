import { countAtMost, type QueryFinder, type QueryMatch } from "@bough/session-core/engine";
import { takeStart } from "@bough/session-core/view";

/** Some lines of the text of an entry. */
export interface Passage {
  /** The first line, from 1. */
  readonly line: number;
  /** The lines, joined by line breaks. A long line is cut; `…` marks the missing part. */
  readonly text: string;
}

/** The greatest distance between the words of one passage, in UTF-16 code units. */
const REACH = 200;
/** The longest part of one line in a passage. */
const LINE = 240;
/** The most lines of a passage around its words. */
const LINES = 6;
/** The lines that are shown before and after them: an answer is often next to the words. */
const BEFORE = 1;
const AFTER = 2;
/** A text of at most this length is shown whole, in UTF-16 code units. */
const WHOLE = 600;
/** The most places of one word that are looked at; of a word that is more common, the first ones. */
const MOST_MATCHES = 1_000;

/** A run of matches. */
interface Run {
  readonly start: number;
  readonly end: number;
  readonly terms: ReadonlySet<number>;
}

/**
 * The passages of a text where the words of a query stand close together, in the order of the text; its first lines if it has none of
 * the words. First the passage with the most words, the closest one of those, then those that add a word, then further places.
 */
export function choosePassages(text: string, finder: QueryFinder | null, most: number): readonly Passage[] {
  const lines = text.split("\n");
  const matches = finder === null ? [] : finder.find(text, MOST_MATCHES);
  if (matches.length > 0 && text.length <= WHOLE) return [{ line: 1, text }];
  if (matches.length === 0) return [cutLines(lines, 0, Math.min(lines.length, 2) - 1, null)];
  const starts = lineStarts(lines);
  const chosen: (Run & { readonly first: number; readonly from: number; readonly to: number })[] = [];
  for (const run of rankRuns(matches)) {
    if (chosen.length >= most) break;
    const first = findLine(starts, run.start);
    const last = Math.min(findLine(starts, Math.max(run.start, run.end - 1)), first + LINES - 1);
    const [from, to] = [Math.max(0, first - BEFORE), Math.min(lines.length - 1, last + AFTER)];
    if (chosen.every((other) => other.to < from || to < other.from)) chosen.push({ ...run, first, from, to });
  }
  const inOrder = chosen.sort((a, b) => a.from - b.from);
  return inOrder.map(({ start, first, from, to }) => cutLines(lines, from, to, { line: first, at: start - (starts[first] ?? 0) }));
}

/** For each match the run that starts with it; best first. A word that a better run has counts less. */
function rankRuns(matches: readonly QueryMatch[]): readonly Run[] {
  const runs = matches.map((first, at) => {
    const terms = new Set([first.term]);
    let end = first.end;
    for (let next = at + 1; next < matches.length; next += 1) {
      const match = matches[next];
      if (match === undefined || match.end - first.start > REACH) break;
      if (!terms.has(match.term)) end = Math.max(end, match.end);
      terms.add(match.term);
    }
    return { start: first.start, end, terms };
  });
  runs.sort((a, b) => b.terms.size - a.terms.size || a.end - a.start - (b.end - b.start) || a.start - b.start);
  const seen = new Set<number>();
  const [adding, rest]: [Run[], Run[]] = [[], []];
  for (const run of runs) {
    const isNew = [...run.terms].some((term) => !seen.has(term));
    for (const term of run.terms) seen.add(term);
    (isNew ? adding : rest).push(run);
  }
  return [...adding, ...rest];
}

/** The offset of each line. */
function lineStarts(lines: readonly string[]): readonly number[] {
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  return starts;
}

/** The index of the line that contains an offset. */
function findLine(starts: readonly number[], offset: number): number {
  return countAtMost(starts, offset) - 1;
}

/** Lines `from` to `to`; `shown`: what one of them must show, as an offset in it. */
function cutLines(
  lines: readonly string[],
  from: number,
  to: number,
  shown: { readonly line: number; readonly at: number } | null,
): Passage {
  const text = lines.slice(from, to + 1).map((line, index) => cutLine(line, shown !== null && from + index === shown.line ? shown.at : 0));
  return { line: from + 1, text: text.join("\n") };
}

function cutLine(line: string, at: number): string {
  if (line.length <= LINE) return line;
  const start = at < LINE / 2 ? 0 : Math.min(at - LINE / 3, line.length - LINE);
  const piece = takeStart(line.slice(Math.floor(start)), LINE).toWellFormed();
  return `${start > 0 ? "…" : ""}${piece}${start + LINE < line.length ? "…" : ""}`;
}
