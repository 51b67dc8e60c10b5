import type { ToolOutput } from "./tool-output.js";

/** Whether the tool itself said that nobody will need its output: `details.useless` (oh-my-pi's rule). */
export function isUseless({ result: { details } }: ToolOutput): boolean {
  return typeof details === "object" && details !== null && "useless" in details && details.useless === true;
}
