import type { ToolCallBlock } from "../../entry/block.js";
import type { BashExecutionMessage, ToolResultMessage } from "../../entry/message.js";
import { callPreview } from "../../entry/preview.js";
import { textOf } from "../../entry/text.js";
import { callInput, pathRead } from "./call-input.js";
import { notedBlock } from "./content.js";
import { fenced, languageOf } from "./fence.js";
import type { Scribe } from "./scribe.js";
import { htmlLine } from "./visible.js";

/** A call with what it gave, folded. */
export function callSection(call: ToolCallBlock, result: ToolResultMessage | undefined, scribe: Scribe): string {
  const failed = result?.isError === true;
  const read = failed ? undefined : pathRead(call);
  const answer = result === undefined ? ["*No result.*"] : resultBlocks(result, read === undefined ? "" : languageOf(read), scribe);
  return folded(`${callPreview(call).slice(1, -1)}${failed ? " — failed" : ""}`, [...callInput(call, scribe), ...answer]);
}

/** A result whose call is not shown, folded. */
export function strayResultSection(result: ToolResultMessage, scribe: Scribe): string {
  return folded(`Result of ${result.toolName ?? "a tool"}${result.isError ? " — failed" : ""}`, resultBlocks(result, "", scribe));
}

/** A command that the person ran, folded. */
export function bashSection(message: BashExecutionMessage, scribe: Scribe): string {
  const output = scribe.toolOutput === "none" ? hiddenOutput(scribe) : outputBlocks(message.output, "", scribe);
  return folded(`$ ${message.command.slice(0, 200)}`, [fenced(message.command, "sh"), ...output, ...bashNotes(message)]);
}

function bashNotes(message: BashExecutionMessage): readonly string[] {
  const notes: string[] = [];
  if (message.cancelled === true) notes.push("*The command was cancelled.*");
  else if (typeof message.exitCode === "number" && message.exitCode !== 0)
    notes.push(`*The command exited with code ${message.exitCode}.*`);
  if (message.truncated === true) notes.push("*The output was cut when it was recorded.*");
  if (message.excludeFromContext === true) notes.push("*Not sent to the model.*");
  return notes;
}

function resultBlocks(result: ToolResultMessage, language: string, scribe: Scribe): readonly string[] {
  if (scribe.toolOutput === "none") return hiddenOutput(scribe);
  const others =
    typeof result.content === "string" ? [] : result.content.flatMap((block) => (block.type === "text" ? [] : notedBlock(block, scribe)));
  const text = textOf(result.content);
  return [...(text === "" && others.length > 0 ? [] : outputBlocks(text, language, scribe)), ...others];
}

function hiddenOutput(scribe: Scribe): readonly string[] {
  scribe.omitted.count("output");
  return [];
}

function outputBlocks(text: string, language: string, scribe: Scribe): readonly string[] {
  const { text: shown, missing } = scribe.output(text);
  if (shown.trim() === "") return ["*No output.*"];
  return missing === null ? [fenced(shown, language)] : [fenced(shown, language), `*… ${missing}*`];
}

/** Something that opens on a click. The blank lines end the HTML, so that what is inside is read as Markdown. */
export function folded(summary: string, blocks: readonly string[]): string {
  return [`<details><summary>${htmlLine(summary)}</summary>`, ...blocks, "</details>"].join("\n\n");
}
