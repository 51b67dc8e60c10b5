import type { ToolCallBlock } from "@bough/session-core";
import type { Todo } from "./story.js";

const TEXTS = ["content", "step", "title", "description", "text", "task", "name"] as const;
/** More is no list of what to do. */
const MAX_TODOS = 100;

/**
 * The list that a planning tool was given (Claude Code's TodoWrite, Codex's update_plan, VS Code's manage_todo_list,
 * Gemini CLI's write_todos and their like); null: there is none in its arguments.
 */
export function todosOf({ arguments: given }: ToolCallBlock): readonly Todo[] | null {
  const list = Object.values(given).find(Array.isArray);
  if (list === undefined) return null;
  const todos = list.slice(0, MAX_TODOS).flatMap(todoOf);
  return todos.length === 0 && list.length > 0 ? null : todos;
}

function todoOf(given: unknown): readonly Todo[] {
  if (typeof given !== "object" || given === null) return [];
  const item = given as Readonly<Record<string, unknown>>;
  const text = TEXTS.map((key) => item[key]).find((value) => typeof value === "string" && value.trim() !== "");
  return typeof text === "string" ? [{ text, state: stateOf(item["status"] ?? item["state"] ?? item["completed"]) }] : [];
}

function stateOf(status: unknown): Todo["state"] {
  if (status === true) return "done";
  const word = typeof status === "string" ? status.toLowerCase().replace(/[^a-z]/g, "") : "";
  if (/^(?:completed?|done|finished|cancelled|canceled)$/.test(word)) return "done";
  return /^(?:inprogress|doing|active|started)$/.test(word) ? "doing" : "open";
}
