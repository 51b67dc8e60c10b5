import type { ToolCallBlock } from "@bough/session-core";
import { oneLine } from "../../text/one-line.js";
import { withoutData } from "../text/without-data.js";
import { toolKind } from "./tool-kind.js";

/** What is read of a command, in UTF-16 code units. A longer one is a script, which nobody remembers word for word. */
const MAX_READ = 2_000;
/** Of what is kept. */
const MAX_CHARS = 160;

/** The command of a tool call, as it was given; null: it runs none. */
export function commandOf({ name, arguments: given }: ToolCallBlock): string | null {
  if (toolKind(name) !== "runs-command") return null;
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
export function coreCommand(command: string): string | null {
  const line = firstLine(withoutData(command.slice(0, MAX_READ)));
  const steps = splitOutside(line, /^(?:&&|\|\||;)/)
    .map((step) => withoutFilter(step))
    .filter((step) => step !== "" && !ONLY_LOOKS.test(step));
  return oneLine(steps.join(" && "), MAX_CHARS) || null;
}

function firstLine(command: string): string {
  const joined = command.replace(/\\\r?\n\s*/g, " ");
  const line = joined.split(/\r?\n/).find((one) => one.trim() !== "" && !one.trimStart().startsWith("#")) ?? "";
  return line.replace(/\s*<<-?\s*\\?['"]?\w+['"]?.*$/, "").trim();
}

/** The steps of a pipe up to the first that only filters. */
function withoutFilter(step: string): string {
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
