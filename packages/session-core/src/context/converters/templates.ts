import type { BashExecutionMessage } from "../../entry/message.js";

// These texts are part of the prompt: changing one changes what every stored session says to a model, and empties
// its prompt cache. Wording of the summaries as pi has it, so that imported sessions read as they did there.

/** How a model reads the summary of a compaction. */
export function compactionSummaryText(summary: string): string {
  return `The conversation history before this point was compacted into the following summary:\n\n<summary>\n${summary}\n</summary>`;
}

/** How a model reads the summary of a branch that was left. */
export function branchSummaryText(summary: string): string {
  return `The following is a summary of a branch that this conversation came back from:\n\n<summary>\n${summary}\n</summary>`;
}

/** How a model reads a command that the person ran. */
export function bashExecutionText(message: BashExecutionMessage): string {
  const output = message.output === "" ? "(no output)" : fenced(message.output);
  return [`Ran ${quoted(message.command)}\n${output}`, ...bashNotes(message)].join("\n\n");
}

function bashNotes(message: BashExecutionMessage): readonly string[] {
  const { exitCode, cancelled, truncated, fullOutputPath } = message;
  const notes: string[] = [];
  if (cancelled === true) notes.push("(command cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) notes.push(`Command exited with code ${exitCode}`);
  if (truncated === true) {
    notes.push(typeof fullOutputPath === "string" ? `[Output truncated. Full output: ${fullOutputPath}]` : "[Output truncated.]");
  }
  return notes;
}

function quoted(command: string): string {
  if (command.includes("\n")) return `this command:\n${fenced(command)}`;
  if (!command.includes("`")) return `\`${command}\``;
  const ticks = "`".repeat(longestRun(command) + 1);
  return `${ticks} ${command} ${ticks}`;
}

function fenced(text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** Stands for a block that the provider cannot be sent. */
export function blockPlaceholder(kind: string): string {
  return `[${kind} that cannot be shown here]`;
}

/** Content of a result without any; several providers refuse an empty one. */
export const EMPTY_RESULT = "(no output)";
/** The same of a failed one. */
export const EMPTY_FAILURE = "(failed without output)";
/** Content of a result that is only images, where they must travel in a message of their own. */
export const IMAGES_FOLLOW = "(see the image that follows)";
/** Opens a conversation that would start with the assistant, which Anthropic refuses. */
export const OPENING = "(The conversation continues.)";

/** Names the result whose images follow, where a tool message cannot hold them. */
export function imagesOfResult(toolName: string): string {
  return `Image returned by the tool ${toolName}:`;
}
