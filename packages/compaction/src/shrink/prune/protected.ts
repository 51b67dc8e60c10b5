import { fileReadOf } from "./file-read.js";
import type { ToolOutput } from "./tool-output.js";

/**
 * Whether the settings keep the output of a tool. A skill that was loaded by reading its file counts as output of the tool
 * `skill` (oh-my-pi's rule): it holds instructions that are to be followed until the end.
 */
export function isProtected(output: ToolOutput, protectedTools: ReadonlySet<string>): boolean {
  if (protectedTools.has(output.tool.toLowerCase())) return true;
  return protectedTools.has("skill") && /(^|[\\/])SKILL\.md$/i.test(fileReadOf(output)?.path ?? "");
}

/** The names as `isProtected` compares them: agents differ in capitals only. */
export function protectedNames(tools: readonly string[]): ReadonlySet<string> {
  return new Set(tools.map((tool) => tool.toLowerCase()));
}
