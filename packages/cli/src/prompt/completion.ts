import type { Editor } from "./editor.js";
import { snapToGrapheme } from "./offsets.js";

/** One way to complete what is typed. */
export interface Completion {
  /** What takes the place of the word that is typed. */
  readonly insert: string;
  /** What the list shows. */
  readonly display: string;
  readonly help: string;
}

/** What can be completed. */
export interface CompletionSource {
  /** `name` without the slash; `args` as in a usage line, empty: it takes none. */
  readonly commands: readonly { readonly name: string; readonly args: string; readonly help: string }[];
  /** Completions of what is typed behind a command and its space, best first. */
  readonly argumentsOf?: (command: string, typed: string) => readonly Completion[];
}

const COMMAND = /^\/(\S*)(\s+)?/;

/**
 * How a slash command can go on at the cursor: names that begin with what is typed, then names that contain it, each in
 * the order of the source; behind the name, what the source says about its arguments. None for any other text, and
 * none for text of several lines.
 */
export function findCompletions(text: string, cursor: number, source: CompletionSource): readonly Completion[] {
  const [head, name = ""] = COMMAND.exec(text) ?? [];
  if (head === undefined || text.includes("\n") || cursor === 0) return [];
  if (cursor <= name.length + 1) return completeNames(text.slice(1, cursor).toLowerCase(), source);
  const isKnown = source.commands.some((command) => command.name === name);
  return cursor >= head.length && isKnown ? (source.argumentsOf?.(name, text.slice(head.length, cursor)) ?? []) : [];
}

/**
 * The editor with a completion in the place of the word, or of the arguments up to the end of the word, that the cursor
 * is in; the cursor goes behind it.
 */
export function applyCompletion(editor: Editor, completion: Completion): Editor {
  const { text, cursor } = editor;
  const [head = "", name = ""] = COMMAND.exec(text) ?? [];
  const from = cursor <= name.length + 1 ? 0 : Math.min(head.length, cursor);
  const rest = text.slice(cursor + (/^\S*/.exec(text.slice(cursor))?.[0].length ?? 0));
  // A space that is there already is not typed twice.
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
