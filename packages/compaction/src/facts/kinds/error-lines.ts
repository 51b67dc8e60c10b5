import { oneLine } from "../../text/one-line.js";
import { edgesOf } from "../text/prose.js";
import { withoutData } from "../text/without-data.js";

/** What is read of an output, in UTF-16 code units: its start and its end. */
const MAX_READ = 16_000;
const MAX_CHARS = 220;
/** Lines of one output that are kept: the first tell what is wrong, the others repeat it. */
const MAX_LINES = 2;

/** In an output that failed, these lines tell why. */
const TELLS =
  /\b(?:error|errors|fail(?:ed|ure|s|ing)?|fatal|panic(?:ked)?|exception|cannot|can't|could not|not found|no such|denied|refused|timed out|unexpected|invalid|missing|abort(?:ed|ing)?|conflict)\b|[✗✖✘]|\w(?:Error|Exception)\b/i;
/** In an output that did not say it failed, only a line that can be nothing else counts. */
const SURELY =
  /(?:^|\s)(?:error(?: ?\[?[A-Z]{1,3}\d+\]?)?:|fatal:|panic:|FAIL(?:ED)?\s|[\w.]{0,60}(?:Error|Exception): )|^\s*[✗✖✘] |\bpanicked at\b|^Traceback \(most recent/;
/** Says that all is well, or is a frame of a stack, a wrapper of a runner, or a line of numbers alone. */
const NOT_ONE =
  /\b(?:0|no) (?:errors?|failures?|failed|failing)\b|^\s*at\s|^\s*\^+\s*$|^[\s\d.|+-]*$|^(?:npm (?:ERR!|error)\s*)?(?:A complete log|Lifecycle script|Debugger attached|(?:code|path|workspace|location|command|errno|syscall)\s)/i;
/** Only that something failed, which its command tells. */
const SAYS_NOTHING =
  /^(?:Command (?:exited with code \d+|aborted|timed out.*)|(?:Process )?exit(?:ed)?(?: with)?(?: code)?:? \d+|(?:Error: )?exit (?:code|status) \d+|No result was recorded for this call|\(no output\))\.?$/i;

/**
 * The lines of a tool's output that tell what went wrong, at most two, in its order. `failed`: its result is an error; of
 * an output that is none, only lines that surely are errors. Linear.
 */
export function errorLines(output: string, failed: boolean): readonly string[] {
  const raw = withoutData(edgesOf(output, MAX_READ)).split("\n");
  const all = raw.map((line) => ({ text: oneLine(line, MAX_CHARS), indent: line.search(/\S/) }));
  const lines = all.filter(({ text }) => text.length > 2 && !SAYS_NOTHING.test(text) && !NOT_ONE.test(text));
  const tells = failed ? TELLS : SURELY;
  const first = lines.findIndex(({ text }) => tells.test(text));
  if (first === -1) return failed ? lines.slice(-1).map(({ text }) => text) : [];
  // What is indented below it says more about it than the next line that tells of a failure.
  const below = lines.filter(
    ({ text, indent }, at) => at > first && (tells.test(text) || (at === first + 1 && indent > (lines[first]?.indent ?? 0))),
  );
  return [...lines.slice(first, first + 1), ...below].slice(0, MAX_LINES).map(({ text }) => withoutWrapper(text));
}

/** Claude Code writes the errors of its tools inside tags. */
function withoutWrapper(line: string): string {
  return line.replace(/^<tool_use_error>|<\/tool_use_error>$/g, "").trim();
}

/** One name for lines that differ in places and counts only. */
export function errorKey(line: string): string {
  return line.replace(/\d+/g, "#").replace(/\s+/g, " ").toLowerCase();
}
