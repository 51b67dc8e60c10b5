import { THINKING_LEVELS } from "../config/schema.js";
import type { CompletedCommand } from "../prompt/completion.js";

/** A slash command; completion, `/help` and the docs use it. */
interface SlashCommand<Name extends string> extends CompletedCommand {
  readonly name: Name;
  /** True if it can run during a reply. */
  readonly whileBusy?: boolean;
}

/** All commands, in the order of `/help`. */
export const SLASH_COMMANDS = slashCommands([
  { name: "tree", args: "", help: "open the tree of the session: browse, search, go back, branch" },
  { name: "retry", args: "", help: "send the last question again after a failed or stopped reply" },
  { name: "undo", args: "", help: "undo the last move in the tree" },
  { name: "redo", args: "", help: "redo the last move that was undone" },
  { name: "fork", args: "[entry]", help: "new session with the path to an entry (default: the leaf)" },
  { name: "clone", args: "", help: "new session with the whole branch" },
  { name: "label", args: "[text]", help: "label the current entry; without a text: list the labels" },
  { name: "compact", args: "[focus]", help: "replace older messages by a summary; --undo reverts it, with --yes also one of an import" },
  { name: "context", args: "", help: "show the next request message by message, and how full the context window is" },
  { name: "sessions", args: "", help: "open the list of sessions" },
  { name: "new", args: "[title]", help: "start a new session" },
  { name: "name", args: "<title>", help: "rename this session" },
  { name: "search", args: "<words>", help: "search this session" },
  {
    name: "export",
    args: "[file]",
    help: "write this branch as .md, all branches as .html, .jsonl, or .pi.jsonl for pi; --force replaces a file",
  },
  { name: "import", args: "[path]", help: "import sessions of other agents; without a path those of every agent on this machine" },
  { name: "model", args: "[name]", help: "show the model; with a name: switch to it" },
  { name: "thinking", args: "[level]", help: "thinking level: off, minimal, low, medium, high", values: THINKING_LEVELS },
  { name: "stats", args: "", help: "entries, size, and token usage of the models" },
  { name: "settings", args: "", help: "the settings in effect, and the config file" },
  { name: "help", args: "", help: "commands and keys", whileBusy: true },
  { name: "quit", args: "", help: "quit; everything is stored already", whileBusy: true },
]);

/** The names of the commands, without the slash. */
export type SlashName = (typeof SLASH_COMMANDS)[number]["name"];

function slashCommands<const Name extends string>(commands: readonly SlashCommand<Name>[]): readonly SlashCommand<Name>[] {
  return commands;
}

/** A typed line, parsed. */
type ParsedLine =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "unknown"; readonly name: string; readonly nearest: string | null };

/**
 * Parses a typed line. A line that starts with a slash is a command; with two slashes, or a space before the slash, it is a
 * message. Paths (`/usr/bin is empty`) are messages, because command names contain no slash, except where every part of the
 * first word is a command's name or one typo away from it (`/sessoins/import`): nobody has such a path.
 */
export function parseLine(text: string): ParsedLine {
  const match = /^\/([a-z][\w-]*)((?:\/[a-z][\w-]*)*)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd());
  const [, name = "", below = "", rest = ""] = match ?? [];
  if (match === null || (below !== "" && !`${name}${below}`.toLowerCase().split("/").every(isNearCommand)))
    return { kind: "message", text: text.startsWith("//") ? text.slice(1) : text };
  const command = below === "" ? SLASH_COMMANDS.find((one) => one.name === name.toLowerCase()) : undefined;
  if (command !== undefined) return { kind: "command", name: command.name, rest: rest.trim() };
  return { kind: "unknown", name: `${name}${below}`, nearest: nearestCommand(name.toLowerCase()) };
}

function isNearCommand(name: string): boolean {
  return SLASH_COMMANDS.some((one) => countTypos(name, one.name) <= 1);
}

/** A command that starts with the name, or is at most two typos away from it; null: none. */
function nearestCommand(name: string): string | null {
  const beginning = SLASH_COMMANDS.find((one) => one.name.startsWith(name));
  if (beginning !== undefined) return beginning.name;
  const close = SLASH_COMMANDS.map((one) => ({ name: one.name, by: countTypos(name, one.name) })).sort((a, b) => a.by - b.by);
  return close[0] !== undefined && close[0].by <= 2 ? close[0].name : null;
}

/**
 * The letters that were left out, added, mistaken or swapped with the next one: the Damerau-Levenshtein distance in which no letter is
 * changed twice ("optimal string alignment").
 */
function countTypos(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
