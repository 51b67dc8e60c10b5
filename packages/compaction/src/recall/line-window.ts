import { runInNewContext } from "node:vm";
import { takeStart } from "@bough/session-core/view";
import { RecallInputError } from "../errors/compaction-errors.js";

/** The lines of a text to show. */
export interface LineWindow {
  /** `A-B`, `A-` or `A`, from 1; several with commas between them. */
  readonly lines?: string | undefined;
  /** A regular expression of JavaScript; upper and lower case are the same. */
  readonly grep?: string | undefined;
  /** This many lines before and after each that matches `grep`. */
  readonly context?: number | undefined;
}

/** The most lines that a pattern shows of one text. */
const MOST_MATCHES = 100;
/** A longer line is tested and shown up to here, in UTF-16 code units. */
const LONGEST_LINE = 2_000;
/** A pattern that takes longer, in all the entries of an answer, is refused: some patterns take exponential time. */
const TIMEOUT_MS = 1_000;

/** The time that a pattern may still take. Shared by the entries of an answer. */
export class PatternTime {
  leftMs = TIMEOUT_MS;
}

/**
 * The lines of a window with their numbers; the text itself if no window is given.
 *
 * @throws {RecallInputError} the pattern is no regular expression, or takes too long.
 */
export function takeLines(text: string, { lines, grep, context = 0 }: LineWindow, time = new PatternTime()): string {
  if (lines === undefined && grep === undefined) return text;
  const all = text.split("\n").map((line, at) => ({ number: at + 1, line: takeStart(line, LONGEST_LINE) }));
  const ranges = (lines ?? "1-").split(",").map((range) => parseRange(range, all.length));
  const numbered = all.filter(({ number }) => ranges.some(([from, to]) => from <= number && number <= to));
  if (numbered.length === 0) return `(it has ${all.length} lines)`;
  if (grep === undefined) return numbered.map(formatLine).join("\n");
  const matching = selectMatching(numbered, grep, time);
  if (matching.length === 0) return "(no line matches)";
  const kept = matching.slice(0, MOST_MATCHES).map(({ number }) => number);
  const isShown = ({ number }: NumberedLine) => kept.some((match) => Math.abs(match - number) <= context);
  const more = matching.length > MOST_MATCHES ? `\n(${matching.length - MOST_MATCHES} more lines match)` : "";
  return `${(context === 0 ? matching.slice(0, MOST_MATCHES) : all.filter(isShown)).map(formatLine).join("\n")}${more}`;
}

interface NumberedLine {
  readonly number: number;
  readonly line: string;
}

function formatLine({ number, line }: NumberedLine): string {
  return `${number}: ${line}`;
}

function parseRange(range: string, count: number): readonly [from: number, to: number] {
  const [, first = "1", dash, last = ""] = /^(\d+)(?!\d)(-?)(\d*)$/.exec(range.trim()) ?? [];
  const from = Math.max(1, Number(first));
  if (dash === "") return [from, from];
  return [from, last === "" ? count : Number(last)];
}

function selectMatching<T extends { readonly line: string }>(lines: readonly T[], pattern: string, time: PatternTime): readonly T[] {
  const matching = new Set(
    findMatching(
      lines.map(({ line }) => line),
      pattern,
      time,
    ),
  );
  return lines.filter((_, at) => matching.has(at));
}

/** The indexes of the lines that match. A script with a timeout can be interrupted inside a pattern, other code cannot. */
function findMatching(lines: readonly string[], pattern: string, time: PatternTime): readonly number[] {
  const matching: number[] = [];
  const startMs = performance.now();
  try {
    const expression = new RegExp(pattern, "iu");
    const test = () => {
      for (const [at, line] of lines.entries()) if (expression.test(line)) matching.push(at);
    };
    runInNewContext("test()", { test }, { timeout: Math.max(1, Math.floor(time.leftMs)) });
    return matching;
  } catch (error) {
    if (error instanceof SyntaxError) throw new RecallInputError(`grep is no regular expression: ${error.message}`);
    // The error of a timeout belongs to the context of the script, whose classes are others.
    if (typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw new RecallInputError("grep takes too long; use a simpler pattern");
    throw error;
  } finally {
    time.leftMs -= performance.now() - startMs;
  }
}
