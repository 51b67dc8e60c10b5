import { THINKING_LEVELS } from "../config/schema.js";
import type { CompletionSource } from "../prompt/completion.js";

/** A slash command; completion, `/help` and the docs use it. */
interface SlashCommand<Name extends string> {
  readonly name: Name;
  readonly args: string;
  readonly help: string;
  /** Possible arguments, for completion. */
  readonly values?: readonly string[];
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

/** Completions for the prompt: commands and their known arguments. */
export const COMPLETIONS: CompletionSource = {
  commands: SLASH_COMMANDS,
  argumentsOf: (command, typed) => {
    const { values = [], help = "" } = SLASH_COMMANDS.find(({ name }) => name === command) ?? {};
    const fitting = values.filter((value) => value.startsWith(typed.toLowerCase()) && value !== typed);
    return fitting.map((value) => ({ insert: value, display: value, help }));
  },
};

/** A typed line, parsed. */
type ParsedLine =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "unknown"; readonly name: string; readonly nearest: string | null };

/**
 * Parses a typed line. A line that starts with a slash is a command; with two slashes, or a space before the slash, it is a
 * message. Paths (`/usr/bin is empty`) are messages, because command names contain no slash.
 */
export function parseLine(text: string): ParsedLine {
  const match = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd());
  if (match === null) return { kind: "message", text: text.startsWith("//") ? text.slice(1) : text };
  const [, name = "", rest = ""] = match;
  const command = SLASH_COMMANDS.find((one) => one.name === name.toLowerCase());
  if (command !== undefined) return { kind: "command", name: command.name, rest: rest.trim() };
  return { kind: "unknown", name, nearest: nearestCommand(name.toLowerCase()) };
}

/** A command that starts with the name, or differs from it in at most two letters; null: none. */
function nearestCommand(name: string): string | null {
  const beginning = SLASH_COMMANDS.find((one) => one.name.startsWith(name));
  if (beginning !== undefined) return beginning.name;
  const close = SLASH_COMMANDS.map((one) => ({ name: one.name, by: editDistance(name, one.name) })).sort((a, b) => a.by - b.by);
  return close[0] !== undefined && close[0].by <= 2 ? close[0].name : null;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
