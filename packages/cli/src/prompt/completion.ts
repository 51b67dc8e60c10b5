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

/** Commands and arguments that can be completed. */
export interface CompletionSource {
  /** `name` has no slash; `args` is the usage of the arguments, empty if there are none. */
  readonly commands: readonly { readonly name: string; readonly args: string; readonly help: string }[];
  /** Completions of the arguments typed after a command and a space, best first. */
  readonly argumentsOf?: (command: string, typed: string) => readonly Completion[];
}

const COMMAND = /^\/(\S*)(\s+)?/;

/**
 * Completions of a slash command at the cursor: names that start with the typed text, then names that contain it, each in
 * the order of the source; after the name, the completions of its arguments. Empty for other text and for several lines.
 */
export function findCompletions(text: string, cursor: number, source: CompletionSource): readonly Completion[] {
  const [head, name = ""] = COMMAND.exec(text) ?? [];
  if (head === undefined || text.includes("\n") || cursor === 0) return [];
  if (cursor <= name.length + 1) return completeNames(text.slice(1, cursor).toLowerCase(), source);
  const isKnown = source.commands.some((command) => command.name === name);
  return cursor >= head.length && isKnown ? (source.argumentsOf?.(name, text.slice(head.length, cursor)) ?? []) : [];
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

function completeNames(typed: string, { commands }: CompletionSource): readonly Completion[] {
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
