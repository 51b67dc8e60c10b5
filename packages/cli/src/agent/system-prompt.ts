import type { ToolName } from "./tools/tool.js";

/**
 * What a model is told that can use tools, behind the session's own instructions; undefined: it has none, and is told only
 * those. It goes with each request and is not stored: folder and tools may be others the next time.
 */
export function systemPrompt(own: string | null, cwd: string, tools: readonly ToolName[]): string | undefined {
  if (tools.length === 0) return undefined;
  const about = [
    `You help a person in a terminal. The working folder is ${cwd}.`,
    `You have these tools: ${tools.join(", ")}. Look before you change something, and change no more than what was asked for.`,
    "The person may say no to a call; then ask what they want instead. Answer briefly, in Markdown.",
  ].join("\n");
  return own === null || own.trim() === "" ? about : `${own}\n\n${about}`;
}
