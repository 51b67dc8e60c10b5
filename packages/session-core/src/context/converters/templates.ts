import type { BashExecutionMessage } from "../../entry/message.js";

// These texts are part of prompts: a change of one changes the context of every stored session and invalidates its prompt
// cache. The wording around summaries is pi's, so that imported sessions give the same prompts.

/** The text of a compaction's summary in a prompt. */
export function compactionSummaryText(summary: string): string {
  return `The conversation history before this point was compacted into the following summary:\n\n<summary>\n${summary}\n</summary>`;
}

/** The summary of a compaction that only its provider can read. `prompts`: the messages of the user that it kept word for word. */
export function opaqueSummaryText(provider: string, prompts: readonly string[]): string {
  const said = prompts.filter((text) => text.trim() !== "").map((text) => `<user>\n${text}\n</user>`);
  const note = `${provider} compacted the conversation before this point. Its summary is encrypted, and only ${provider} can read it; the messages are in the session.`;
  return said.length === 0 ? note : [note, "The user's messages:", ...said].join("\n\n");
}

/** The text of a branch summary in a prompt. */
export function branchSummaryText(summary: string): string {
  return `The following is a summary of a branch that this conversation came back from:\n\n<summary>\n${summary}\n</summary>`;
}

/** Returns the text that a model reads for a command that the person ran. */
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

/** The text that replaces a block that the provider cannot receive. */
export function blockPlaceholder(kind: string): string {
  return `[${kind} that cannot be shown here]`;
}

/** The text that replaces a file that the provider does not take: `description` has its name and type. */
export function filePlaceholder(description: string): string {
  return blockPlaceholder(`The file ${description}`);
}

/** The content of an empty result; several providers reject empty content. */
export const EMPTY_RESULT = "(no output)";
/** The content of an empty failed result. */
export const EMPTY_FAILURE = "(failed without output)";
/** The content of a result that has only images, for formats that send them in a separate message. */
export const IMAGES_FOLLOW = "(see the image that follows)";
/** The first message of a conversation that would start with the assistant, which Anthropic rejects. */
export const OPENING = "(The conversation continues.)";

/** The content of a result that has only files, or files and images. */
export const FILES_FOLLOW = "(see the file that follows)";

/** The text before the files of a result, for formats whose tool messages contain only text. */
export function filesOfResult(toolName: string): string {
  return `File returned by the tool ${toolName}:`;
}

/** The text before the images of a result, for formats whose tool messages contain only text. */
export function imagesOfResult(toolName: string): string {
  return `Image returned by the tool ${toolName}:`;
}
