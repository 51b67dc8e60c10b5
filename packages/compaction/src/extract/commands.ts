import type { ToolCallBlock } from "@bough/session-core";
import { shortLine, toolKind } from "@bough/session-core/internals";
import { cutToEdges, removeData } from "./prose.js";

/** What is read of a command, in UTF-16 code units. A longer one is a script, which nobody remembers word for word. */
const MAX_COMMAND_READ = 2_000;
/** Of what is kept. */
const MAX_COMMAND_CHARS = 160;

/** The command of a tool call, as it was given; null: it runs none. */
export function readCommand({ name, arguments: given }: ToolCallBlock): string | null {
  if (toolKind(name) !== "command") return null;
  const command = given["command"] ?? given["cmd"] ?? given["script"];
  if (typeof command === "string") return command;
  if (!Array.isArray(command)) return null;
  const words = command.filter((word): word is string => typeof word === "string");
  // ["bash", "-lc", "npm test"] is Codex's form.
  return /^-\w*c$/.test(words[1] ?? "") ? (words[2] ?? null) : words.join(" ");
}

// What only looks or only moves about: it changes and checks nothing, and its output is no state of the work.
const ONLY_LOOKS =
  /^(?:cd|ls|cat|pwd|echo|printf|head|tail|e?grep|rg|ag|find|fd|wc|which|type|sleep|true|false|less|more|tree|stat|file|du|df|env|export|set|date|whoami|awk|sort|uniq|cut|mkdir|test|\[|sed\s+-n|git\s+(?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files)|(?:tmux|screen)\s+(?:ls|list))(?:\s|$)/;

/**
 * The part of a command that does or checks something, on one line: without changes of folder, without looking, without
 * what only filters its output. null: nothing is left.
 *
 * @example
 * coreCommand("cd app && npm run check 2>&1 | tail -20"); // "npm run check"
 */
export function simplifyCommand(command: string): string | null {
  const line = takeFirstLine(removeData(command.slice(0, MAX_COMMAND_READ)));
  const steps = splitOutside(line, /^(?:&&|\|\||;)/)
    .map((step) => stripFilters(step))
    .filter((step) => step !== "" && !ONLY_LOOKS.test(step));
  return shortLine(steps.join(" && "), MAX_COMMAND_CHARS) || null;
}

function takeFirstLine(command: string): string {
  const joined = command.replace(/\\\r?\n\s*/g, " ");
  const line = joined.split(/\r?\n/).find((one) => one.trim() !== "" && !one.trimStart().startsWith("#")) ?? "";
  return line.replace(/\s*<<-?\s*\\?['"]?\w+['"]?.*$/, "").trim();
}

/** The steps of a pipe up to the first that only filters. */
function stripFilters(step: string): string {
  const [first = "", ...more] = splitOutside(step, /^\|/).map((one) =>
    one
      .replace(/\s+\d?>&\d|\s+\d?>\s*\/dev\/null/g, "")
      .replace(/\s*&$/, "")
      .trim(),
  );
  const stop = more.findIndex((one) => ONLY_LOOKS.test(one) || one === "");
  return [first, ...(stop === -1 ? more : more.slice(0, stop))].join(" | ");
}

/** Splits at a mark that stands outside quotes. Linear. */
function splitOutside(line: string, mark: RegExp): readonly string[] {
  const parts: string[] = [];
  let quote = "";
  let start = 0;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line.charAt(at);
    if (letter === "\\") at += 1;
    else if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else {
      const found = mark.exec(line.slice(at, at + 2))?.[0];
      if (found === undefined) continue;
      parts.push(line.slice(start, at));
      at += found.length - 1;
      start = at + 1;
    }
  }
  return [...parts, line.slice(start)].map((part) => part.trim());
}

/** What is read of an output, in UTF-16 code units: its start and its end. */
const MAX_OUTPUT_READ = 16_000;
const MAX_LINE_CHARS = 220;
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
export function findErrorLines(output: string, failed: boolean): readonly string[] {
  const raw = removeData(cutToEdges(output, MAX_OUTPUT_READ)).split("\n");
  const all = raw.map((line) => ({ text: shortLine(line, MAX_LINE_CHARS), indent: line.search(/\S/) }));
  const lines = all.filter(({ text }) => text.length > 2 && !SAYS_NOTHING.test(text) && !NOT_ONE.test(text));
  const tells = failed ? TELLS : SURELY;
  const first = lines.findIndex(({ text }) => tells.test(text));
  if (first === -1) return failed ? lines.slice(-1).map(({ text }) => text) : [];
  // What is indented below it says more about it than the next line that tells of a failure.
  const below = lines.filter(
    ({ text, indent }, at) => at > first && (tells.test(text) || (at === first + 1 && indent > (lines[first]?.indent ?? 0))),
  );
  return [...lines.slice(first, first + 1), ...below].slice(0, MAX_LINES).map(({ text }) => stripErrorTag(text));
}

/** Claude Code writes the errors of its tools inside tags. */
function stripErrorTag(line: string): string {
  return line.replace(/^<tool_use_error>|<\/tool_use_error>$/g, "").trim();
}

/** One name for lines that differ in places and counts only. */
export function normalizeErrorLine(line: string): string {
  return line.replace(/\d+/g, "#").replace(/\s+/g, " ").toLowerCase();
}
