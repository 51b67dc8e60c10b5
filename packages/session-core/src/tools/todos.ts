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
