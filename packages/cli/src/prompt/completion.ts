import { snapToGrapheme } from "../terminal/graphemes.js";
import type { Editor } from "./editor.js";

/** A completion of the typed text. */
export interface Completion {
  /** Replaces the typed word. */
  readonly insert: string;
  /** The text in the list of completions. */
  readonly display: string;
  readonly help: string;
}

/** A command that can be completed. */
export interface CompletedCommand {
  /** Without the slash. */
  readonly name: string;
  /** The usage of its arguments; empty if there are none. */
  readonly args: string;
  readonly help: string;
  /** Its possible arguments. */
  readonly values?: readonly string[];
}

const COMMAND = /^\/(\S*)(\s+)?/;

/**
 * Completions of a slash command at the cursor: names that start with the typed text, then names that contain it, each in
 * the order of the commands; after the name, the arguments that start with what was typed. Empty for other text and for several lines.
 */
export function findCompletions(text: string, cursor: number, commands: readonly CompletedCommand[]): readonly Completion[] {
  const [head, name = ""] = COMMAND.exec(text) ?? [];
  if (head === undefined || text.includes("\n") || cursor === 0) return [];
  if (cursor <= name.length + 1) return completeNames(text.slice(1, cursor).toLowerCase(), commands);
  if (cursor < head.length) return [];
  const { values = [], help = "" } = commands.find((command) => command.name === name) ?? {};
  const typed = text.slice(head.length, cursor);
  const fitting = values.filter((value) => value.startsWith(typed.toLowerCase()) && value !== typed);
  return fitting.map((value) => ({ insert: value, display: value, help }));
}

/**
 * Replaces the command name, or the arguments up to the end of the word at the cursor, by a completion, and puts the cursor
 * after it.
 */
export function applyCompletion(editor: Editor, completion: Completion): Editor {
  const { text, cursor } = editor;
  const [head = "", name = ""] = COMMAND.exec(text) ?? [];
  const from = cursor <= name.length + 1 ? 0 : Math.min(head.length, cursor);
  const rest = text.slice(cursor + (/^\S*/.exec(text.slice(cursor))?.[0].length ?? 0));
  // Do not add a second space.
  const tail = completion.insert.endsWith(" ") ? rest.replace(/^ /, "") : rest;
  const whole = text.slice(0, from) + completion.insert + tail;
  return { ...editor, text: whole, cursor: snapToGrapheme(whole, from + completion.insert.length), column: null };
}

function completeNames(typed: string, commands: readonly CompletedCommand[]): readonly Completion[] {
  const rank = (name: string) => (name === typed ? 0 : name.startsWith(typed) ? 1 : name.includes(typed) ? 2 : 3);
  return commands
    .map((command) => ({ command, rank: rank(command.name.toLowerCase()) }))
    .filter((one) => one.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .map(({ command: { name, args, help } }) => ({
      insert: args === "" ? `/${name}` : `/${name} `,
      display: args === "" ? `/${name}` : `/${name} ${args}`,
      help,
    }));
}
