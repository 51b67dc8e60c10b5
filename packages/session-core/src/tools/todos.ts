import type { NamedCall } from "./arguments.js";

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
  const todos = lines.slice(0, MAX_TODOS).map((line) => /^\s*(?:\d+[.)]|[-*])?\s*\[(\w+)\]\s*(.*\S)/.exec(line));
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
