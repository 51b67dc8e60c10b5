import type { ToolCallBlock } from "@bough/session-core";
import { classifyTool, cleanPath, findCommand, listCallTouches, shortLine } from "@bough/session-core/view";
import { cutToEdges, removeData } from "./prose.js";

/** The most that is read of a command, in UTF-16 code units. A longer one is a script. */
const MAX_COMMAND_READ = 2_000;
/** Longest simplified command. */
const MAX_COMMAND_CHARS = 160;

/** The command line of a tool call; null: it runs no command. */
export function readCommand(call: ToolCallBlock): string | null {
  return classifyTool(call.name) === "command" ? (findCommand(call)?.script ?? null) : null;
}

// Commands that only read or change the folder: they change and check nothing.
const READS_ONLY =
  /^(?:cd|ls|cat|pwd|echo|printf|head|tail|e?grep|rg|ag|find|fd|wc|which|type|sleep|true|false|less|more|tree|stat|file|du|df|env|export|set|date|whoami|awk|sort|uniq|cut|mkdir|test|\[|sed\s+-n|git\s+(?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files)|(?:tmux|screen)\s+(?:ls|list))(?:\s|$)/;

/**
 * The part of a command that changes or checks something, on one line: without changes of folder, commands that only
 * read, and filters of output. null: nothing is left.
 *
 * @example
 * simplifyCommand("cd app && npm run check 2>&1 | tail -20"); // "npm run check"
 */
export function simplifyCommand(command: string): string | null {
  const line = takeFirstLine(removeData(command.slice(0, MAX_COMMAND_READ)));
  const steps = splitOutside(line, /^(?:&&|\|\||;)/)
    .map((step) => stripFilters(step))
    .filter((step) => step !== "" && !READS_ONLY.test(step));
  return shortLine(steps.join(" && "), MAX_COMMAND_CHARS) || null;
}

function takeFirstLine(command: string): string {
  const joined = command.replace(/\\\r?\n\s*/g, " ");
  const line = joined.split(/\r?\n/).find((one) => one.trim() !== "" && !one.trimStart().startsWith("#")) ?? "";
  return line.replace(/<<-?\s*\\?['"]?\w+['"]?.*$/, "").trim();
}

/** The steps of a pipe up to the first filter. */
function stripFilters(step: string): string {
  const [first = "", ...more] = splitOutside(step, /^\|/).map((one) =>
    one
      .replace(/(?<!\s)\s+(?:\d?>&\d|\d?>\s*\/dev\/null)/g, "")
      .replace(/&$/, "")
      .trim(),
  );
  const stop = more.findIndex((one) => READS_ONLY.test(one) || one === "");
  return [first, ...(stop === -1 ? more : more.slice(0, stop))].join(" | ");
}

/** Splits at a mark outside of quotes. Linear. */
function splitOutside(line: string, mark: RegExp): readonly string[] {
  const parts: string[] = [];
  let quote = "";
  let start = 0;
  for (let position = 0; position < line.length; position += 1) {
    const letter = line.charAt(position);
    if (letter === "\\") position += 1;
    else if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else {
      const found = mark.exec(line.slice(position, position + 2))?.[0];
      if (found === undefined) continue;
      parts.push(line.slice(start, position));
      position += found.length - 1;
      start = position + 1;
    }
  }
  return [...parts, line.slice(start)].map((part) => part.trim());
}

/** The most that is read of an output, half from its start and half from its end, in UTF-16 code units. */
const MAX_OUTPUT_READ = 16_000;
const MAX_LINE_CHARS = 220;
/** Lines kept of one output: the first ones give the reason, later ones repeat it. */
const MAX_LINES = 2;

/** Lines with the reason, in the output of a failed call. */
const ERROR_WORDS =
  /\b(?:error|errors|fail(?:ed|ure|s|ing)?|fatal|panic(?:ked)?|exception|cannot|can't|could not|not found|no such|denied|refused|timed out|unexpected|invalid|missing|abort(?:ed|ing)?|conflict)\b|[✗✖✘]|\w(?:Error|Exception)\b/i;
/** Lines that are certainly an error, in the output of a successful call. */
const CERTAIN_ERROR =
  /(?:^|\s)(?:error(?: ?\[?[A-Z]{1,3}\d+\]?)?:|fatal:|panic:|FAIL(?:ED)?\s|[\w.]{0,60}(?:Error|Exception): )|^\s*[✗✖✘] |\bpanicked at\b|^Traceback \(most recent/;
/** Not an error: a success message, a stack frame, a line of the runner, or numbers only. */
const NO_ERROR =
  /\b(?:0|no) (?:errors?|failures?|failed|failing)\b|^\s*at\s|^\s*\^+\s*$|^[\s\d.|+-]*$|^(?:npm (?:ERR!|error)\s*)?(?:A complete log|Lifecycle script|Debugger attached|(?:code|path|workspace|location|command|errno|syscall)\s)/i;
/** Only reports that the command failed, which is known from its result. */
const NO_REASON =
  /^(?:Command (?:exited with code \d+|aborted|timed out.*)|(?:Process )?exit(?:ed)?(?: with)?(?: code)?:? \d+|(?:Error: )?exit (?:code|status) \d+|No result was recorded for this call|\(no output\))\.?$/i;

/**
 * The lines of a tool's output with the error, at most two, in order. `failed`: the result is an error; otherwise only
 * lines that are certainly errors count. Linear.
 */
export function findErrorLines(output: string, failed: boolean): readonly string[] {
  const raw = removeData(cutToEdges(output, MAX_OUTPUT_READ)).split("\n");
  const all = raw.map((line) => ({ text: shortLine(line, MAX_LINE_CHARS), indent: line.search(/\S/) }));
  const lines = all.filter(({ text }) => text.length > 2 && !NO_REASON.test(text) && !NO_ERROR.test(text));
  const isError = failed ? ERROR_WORDS : CERTAIN_ERROR;
  const first = lines.findIndex(({ text }) => isError.test(text));
  if (first === -1) return failed ? lines.slice(-1).map(({ text }) => text) : [];
  // An indented line below an error explains it better than the next error.
  const below = lines.filter(
    ({ text, indent }, at) => at > first && (isError.test(text) || (at === first + 1 && indent > (lines[first]?.indent ?? 0))),
  );
  return [...lines.slice(first, first + 1), ...below].slice(0, MAX_LINES).map(({ text }) => stripErrorTag(text));
}

/** Claude Code wraps the errors of its tools in tags. */
function stripErrorTag(line: string): string {
  return line.replace(/^<tool_use_error>|<\/tool_use_error>$/g, "").trim();
}

/** A key that is equal for lines that differ only in positions and counts. */
export function normalizeErrorLine(line: string): string {
  return line.replace(/\d+/g, "#").replace(/\s+/g, " ").toLowerCase();
}

/** A file that a tool call names. */
interface TouchedFile {
  readonly path: string;
  readonly changed: boolean;
}

/** The files that a call reads or changes, including those in a patch. */
export function listTouchedFiles(call: ToolCallBlock): readonly TouchedFile[] {
  return listCallTouches(call, {}, classifyTool).flatMap(({ kind, path }) => {
    const name = normalizePath(path);
    return name === null ? [] : [{ path: name, changed: kind !== "read" }];
  });
}

// Temporary, generated or downloaded files.
const NOISE =
  /(?:^|\/)(?:node_modules|\.git|__pycache__|\.venv|site-packages)\/|^(?:\/private)?\/(?:tmp|var\/folders|dev|proc)\/|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|go\.sum|composer\.lock|\.DS_Store)$/;

/** null: not a file, or an irrelevant one. */
function normalizePath(given: string): string | null {
  const path = cleanPath(given);
  if (path === undefined || path.length > 300 || path.endsWith("/") || path === "." || path === "..") return null;
  return NOISE.test(path) ? null : path;
}

/** A possible path: text between spaces, quotes or brackets. */
const TOKEN = /[^\s"'`()[\]{}<>,;|*=?!]{3,300}/g;
const IN_FOLDER = /^(?:~|\.{1,2}|@?[\w.+-]+)?(?:\/@?[\w.+[\]-]+)+\.[A-Za-z][A-Za-z0-9]{0,9}$/;
/** A name without folder is a file if it has one of these extensions; `theme.fg` and `v1.2` are not files. */
const ALONE =
  /^[\w.+-]*\w\.(?:[cm]?[jt]sx?|d\.ts|jsonl?|jsonc|md|mdx|py|rs|go|java|kts?|rb|php|cs|cpp|cc|hpp|c|h|swift|scala|ex|exs|sql|sh|bash|zsh|ps1|ya?ml|toml|ini|cfg|conf|env|lock|txt|csv|tsv|html?|s?css|less|vue|svelte|xml|proto|graphql|tf|ipynb|log|db|sqlite|svg)$/i;

/** Names of products that look like files. */
const PRODUCT = /^(?:node|next|nuxt|vue|three|express|chart|socket\.io|d3|ember|backbone|moment|alpine|solid)\.js$/i;

/** The files that a text names, in order, without web addresses. Linear. */
export function findFiles(prose: string): readonly string[] {
  return [...prose.matchAll(TOKEN)].flatMap(([token]) => {
    if (token.includes("://")) return [];
    const bare = token.replace(/[.:]+$/, "").replace(/(?::\d+){1,2}$/, "");
    const named = IN_FOLDER.test(bare) || (ALONE.test(bare) && !PRODUCT.test(bare));
    return named ? (normalizePath(bare) ?? []) : [];
  });
}
