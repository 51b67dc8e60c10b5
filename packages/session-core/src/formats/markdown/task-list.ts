import type { ToolCallBlock } from "../../entry/message.js";
import { classifyCall } from "../../tools/arguments.js";
import { classifyTool } from "../../tools/known-tools.js";
import { parseTodos, type Todo } from "../../tools/todos.js";
import { escapeMarkdown } from "./markdown-text.js";

/** The list of a planning tool; undefined: the call is of another kind or has another form. */
export function tasksOf(call: ToolCallBlock): readonly Todo[] | undefined {
  return classifyCall(call, classifyTool) === "plan" ? (parseTodos(call) ?? undefined) : undefined;
}

/** The tasks as a task list of GitHub, the one that is being done in bold. */
export function taskListSection(tasks: readonly Todo[]): string {
  const lines = tasks.map(({ text, state }) => {
    const words = escapeMarkdown(text);
    return `- [${state === "done" ? "x" : " "}] ${state === "doing" ? `**${words}**` : words}`;
  });
  return lines.join("\n");
}
