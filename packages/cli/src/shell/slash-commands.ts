import { THINKING_LEVELS } from "../config/schema.js";
import type { CompletionSource } from "../prompt/completion.js";

/** A command that is typed at the prompt, as completion, `/help` and the docs tell it. */
interface SlashCommand {
  readonly name: SlashName;
  readonly args: string;
  readonly help: string;
  /** What can stand behind it, where that is known. */
  readonly values?: readonly string[];
  /** Whether it can be given while a reply is written. */
  readonly whileBusy?: boolean;
}

/** The names of the commands, without the slash. */
export type SlashName =
  | "tree"
  | "compact"
  | "context"
  | "sessions"
  | "new"
  | "fork"
  | "clone"
  | "label"
  | "name"
  | "search"
  | "export"
  | "import"
  | "model"
  | "thinking"
  | "undo"
  | "redo"
  | "stats"
  | "settings"
  | "help"
  | "quit";

/** All of them, in the order of `/help`. Data. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "tree", args: "", help: "the session as a tree: look around, search, go back, branch" },
  { name: "undo", args: "", help: "take the last move in the tree back" },
  { name: "redo", args: "", help: "take that back" },
  { name: "fork", args: "[entry]", help: "a new session with the path to an entry (default: to here)" },
  { name: "clone", args: "", help: "a new session with all of this branch" },
  { name: "label", args: "[text]", help: "label where the session stands; without a text: list the labels" },
  { name: "compact", args: "[focus]", help: "put a summary in the place of what is old; --undo takes it back" },
  { name: "context", args: "", help: "what would be sent, message by message, and how full the window is" },
  { name: "sessions", args: "", help: "pick another session" },
  { name: "new", args: "[title]", help: "begin a new session" },
  { name: "name", args: "<title>", help: "give this session a title" },
  { name: "search", args: "<words>", help: "search this session" },
  {
    name: "export",
    args: "[file]",
    help: "write this branch as .md, every branch as .jsonl, or .pi.jsonl for pi; --force replaces a file",
  },
  { name: "import", args: "<path>", help: "take in sessions of other agents" },
  { name: "model", args: "[name]", help: "which model answers; with a name: another one from now on" },
  { name: "thinking", args: "[level]", help: "how hard it thinks: off, minimal, low, medium, high", values: THINKING_LEVELS },
  { name: "stats", args: "", help: "entries, size, and what the models used" },
  { name: "settings", args: "", help: "the settings in force, and the file they are in" },
  { name: "help", args: "", help: "this list, and the keys", whileBusy: true },
  { name: "quit", args: "", help: "leave; everything is stored already", whileBusy: true },
];

/** What the prompt offers to complete: the commands, and behind one what is known to stand there. */
export const COMPLETIONS: CompletionSource = {
  commands: SLASH_COMMANDS,
  argumentsOf: (command, typed) => {
    const { values = [], help = "" } = SLASH_COMMANDS.find(({ name }) => name === command) ?? {};
    const fitting = values.filter((value) => value.startsWith(typed.toLowerCase()) && value !== typed);
    return fitting.map((value) => ({ insert: value, display: value, help }));
  },
};

/** What a typed line means. */
type ParsedLine =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "unknown"; readonly name: string; readonly nearest: string | null };

/**
 * A line with a slash in front is a command; two slashes, or a space before it, make it a message. Something such as a path
 * (`/usr/bin is empty`) is no command: their names have no second slash.
 */
export function parseLine(text: string): ParsedLine {
  const match = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd());
  if (match === null) return { kind: "message", text: text.startsWith("//") ? text.slice(1) : text };
  const [, name = "", rest = ""] = match;
  const command = SLASH_COMMANDS.find((one) => one.name === name.toLowerCase());
  if (command !== undefined) return { kind: "command", name: command.name, rest: rest.trim() };
  return { kind: "unknown", name, nearest: nearestCommand(name.toLowerCase()) };
}

/** The command that was meant: one that begins so, or differs by two letters at most. */
function nearestCommand(name: string): string | null {
  const beginning = SLASH_COMMANDS.find((one) => one.name.startsWith(name));
  if (beginning !== undefined) return beginning.name;
  const close = SLASH_COMMANDS.map((one) => ({ name: one.name, by: editDistance(name, one.name) })).sort((a, b) => a.by - b.by);
  return close[0] !== undefined && close[0].by <= 2 ? close[0].name : null;
}

/** Letters to insert, delete or replace (Levenshtein). Names are short. */
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
