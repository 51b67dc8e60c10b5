import { isObject } from "../entry/json.js";
import { classifyTool, findKnownToolKind, type ToolKind } from "./known-tools.js";

/** The arguments of a tool call. A model wrote them, so each may have any type or be missing. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The name and the arguments of a tool call. */
export interface NamedCall {
  readonly name: string;
  readonly arguments: Arguments;
}

/** A text among the arguments of a call, and the name of its argument. */
export interface TextArgument {
  readonly name: string;
  readonly text: string;
}

export const PATH_ARGUMENTS: readonly string[] = [
  "path",
  "file_path",
  "filePath",
  "file",
  "filename",
  "fileName",
  "file_name",
  "absolute_path",
  "absolutePath",
  "relative_path",
  "relativePath",
  "notebook_path",
  "notebookPath",
  "target_file",
  "targetFile",
  "TargetFile",
  "AbsolutePath",
  "uri",
  "paths",
  "file_paths",
  "filePaths",
  "files",
];

/** Argument names of a move, which has two files. */
export const MOVE_ARGUMENTS: readonly string[] = [
  ...PATH_ARGUMENTS,
  "source",
  "from",
  "old_path",
  "oldPath",
  "source_path",
  "sourcePath",
  "destination",
  "to",
  "new_path",
  "newPath",
  "destination_path",
  "destinationPath",
];

const COMMAND_ARGUMENTS = ["command", "cmd", "script", "CommandLine"];
const CONTENT_ARGUMENTS = ["content", "contents", "file_text", "fileText", "new_source", "text", "CodeContent"];
const OLD_TEXT_ARGUMENTS = ["old_string", "oldText", "old_str", "old_text", "oldString", "oldStr", "search", "old", "TargetContent"];
const NEW_TEXT_ARGUMENTS = [
  "new_string",
  "newText",
  "new_str",
  "new_text",
  "newString",
  "newStr",
  "replace",
  "replacement",
  "new",
  "ReplacementContent",
];
/** Arguments that hold a patch, even one without file names. */
export const PATCH_ARGUMENTS: readonly string[] = ["patch", "input", "diff", "patch_text", "patchText"];
/** Arguments that hold several edits, each of which may name its file. */
export const EDIT_LIST_ARGUMENTS: readonly string[] = ["edits", "replacements", "changes", "ReplacementChunks", "edit"];

/**
 * The kind of a call. Anthropic's text editor is one tool for several kinds: its argument `command` selects the kind.
 *
 * @param kindOf The kind of a tool by its name; default: that of known tools.
 */
export function classifyCall(
  { name, arguments: args }: NamedCall,
  kindOf: (name: string) => ToolKind | undefined = findKnownToolKind,
): ToolKind | undefined {
  const kind = kindOf(name);
  if (kind === undefined || kind === "patch" || kind === "command") return kind;
  if (args["command"] === "view") return "read";
  return args["command"] === "create" ? "write" : kind;
}

/** The first argument that names one file. */
export function findPath(args: Arguments): TextArgument | undefined {
  return findText(args, PATH_ARGUMENTS);
}

const SHELL = /(?:^|[\\/])(?:ba|z|da|k)?sh$/;

/** A shell command. */
export interface CommandArgument extends TextArgument {
  /** The command without the `bash -lc` prefix that Codex adds. */
  readonly script: string;
}

/** The shell command of a call, unless its tool is known to do something else with an argument of that name. */
export function findCommand(call: NamedCall): CommandArgument | undefined {
  const kind = findKnownToolKind(call.name);
  if (kind !== undefined && kind !== "command") return undefined;
  for (const name of COMMAND_ARGUMENTS) {
    const words: readonly unknown[] = [call.arguments[name]].flat();
    if (words.length === 0 || !words.every((word) => typeof word === "string")) continue;
    const text = words.join(" ");
    const [program = "", option = "", script = text] = words;
    return { name, text, script: SHELL.test(program) && /^-\w*c$/.test(option) ? script : text };
  }
  return undefined;
}

/** The text that a call writes to the file that it names. */
export function findContent(call: NamedCall): TextArgument | undefined {
  const kind = classifyCall(call, classifyTool);
  const isWrite = (kind === "write" || kind === "edit") && findPath(call.arguments) !== undefined;
  return isWrite ? findText(call.arguments, CONTENT_ARGUMENTS) : undefined;
}

/** A replacement of one text by another. */
export interface TextEdit {
  readonly before: string;
  readonly after: string;
  /** Other fields of the list item; empty for a single edit. */
  readonly rest: Arguments;
}

/** The replacements that a call makes, and the names of the arguments that hold them; undefined if it has none. */
export function findTextEdits(args: Arguments): { readonly edits: readonly TextEdit[]; readonly names: readonly string[] } | undefined {
  const single = readTextEdit(args);
  if (single !== undefined) return { edits: [{ ...single.edit, rest: {} }], names: single.names };
  for (const name of EDIT_LIST_ARGUMENTS) {
    // Kimi Code gives a single one without a list.
    const list: readonly unknown[] = Array.isArray(args[name]) ? args[name] : isObject(args[name]) ? [args[name]] : [];
    if (list.length === 0) continue;
    const edits = list.map((item: unknown) => (isObject(item) ? readTextEdit(item)?.edit : undefined));
    // If any item has an unknown shape, the whole list is left as it is, so that nothing is hidden.
    if (edits.every((edit) => edit !== undefined)) return { edits, names: [name] };
  }
  return undefined;
}

function readTextEdit(args: Arguments): { readonly edit: TextEdit; readonly names: readonly string[] } | undefined {
  const before = findText(args, OLD_TEXT_ARGUMENTS);
  const after = findText(args, NEW_TEXT_ARGUMENTS);
  if (before === undefined || after === undefined) return undefined;
  const names = [before.name, after.name];
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
  return { edit: { before: before.text, after: after.text, rest }, names };
}

function findText(args: Arguments, names: readonly string[]): TextArgument | undefined {
  for (const name of names) {
    const text = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof text === "string") return { name, text };
  }
  return undefined;
}

/** An item of the list that a planning tool writes. */
export interface Todo {
  readonly text: string;
  readonly state: "open" | "doing" | "done";
}

const TEXTS = ["content", "step", "title", "description", "text", "task", "name"] as const;
/** A longer list is not a todo list. */
const MAX_TODOS = 100;

/** The list of a planning tool, and the name of its argument. */
interface FoundTodos {
  readonly name: string;
  readonly todos: readonly Todo[];
}

/**
 * The todo list in the arguments of a planning tool (Claude Code's TodoWrite, Codex's update_plan, VS Code's
 * manage_todo_list, Gemini CLI's write_todos and similar); undefined: none.
 */
export function findTodos({ arguments: given }: NamedCall): FoundTodos | undefined {
  for (const [name, list] of Object.entries(given)) {
    if (name === "todos" && typeof list === "string") return parseLines(name, list);
    if (!Array.isArray(list)) continue;
    const todos = list.slice(0, MAX_TODOS).flatMap(parseTodo);
    return todos.length === 0 && list.length > 0 ? undefined : { name, todos };
  }
  return undefined;
}

/** The items of `findTodos`; null: none. */
export function parseTodos(call: NamedCall): readonly Todo[] | null {
  return findTodos(call)?.todos ?? null;
}

/** A list as text, an item a line, as Droid writes it: `1. [in_progress] Read the parser`. */
function parseLines(name: string, text: string): FoundTodos | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const todos = lines.slice(0, MAX_TODOS).map((line) => /^(?:\d+[.)]|[-*])?\s*\[(\w+)\]\s*(.*\S)/.exec(line.trim()));
  if (todos.length === 0 || todos.includes(null)) return undefined;
  return { name, todos: todos.flatMap((found) => (found === null ? [] : [{ text: String(found[2]), state: parseState(found[1]) }])) };
}

function parseTodo(given: unknown): readonly Todo[] {
  if (typeof given !== "object" || given === null) return [];
  const item: Readonly<Record<string, unknown>> = { ...given };
  const text = TEXTS.map((key) => item[key]).find((value) => typeof value === "string" && value.trim() !== "");
  return typeof text === "string" ? [{ text, state: parseState(item["status"] ?? item["state"] ?? item["completed"]) }] : [];
}

function parseState(status: unknown): Todo["state"] {
  if (status === true) return "done";
  const word = typeof status === "string" ? status.toLowerCase().replace(/[^a-z]/g, "") : "";
  if (/^(?:completed?|done|finished|cancelled|canceled)$/.test(word)) return "done";
  return /^(?:inprogress|doing|active|started)$/.test(word) ? "doing" : "open";
}
