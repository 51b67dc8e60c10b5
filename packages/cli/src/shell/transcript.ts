import type { Entry, ToolCallBlock } from "@bough/session-core";
import { asTyped, describeCall, describeFile, shareLine, shortLine, summaryGist } from "@bough/session-core/view";
import { entryKind, messageLines } from "../format/entry-lines.js";
import { counted } from "../format/numbers.js";
import { wrapLine } from "../format/wrap.js";
import { markdownLines } from "../preview/markdown.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import { safeLines } from "../terminal/safe.js";
import { displayWidth } from "../terminal/width.js";

const MAX_RESULT_LINES = 4;
/** Longest text of a summary, in UTF-16 code units; the tree shows it whole. */
const SUMMARY_CHARS = 240;

/** Draws an entry for the shell, with an empty line after it. Entries without text for the user give no lines. */
export function transcriptLines(entry: Entry, width: number, glyphs: Glyphs): readonly Line[] {
  switch (entry.type) {
    case "message":
      return messageTranscript(entry.message, width, glyphs);
    case "compaction":
    case "branch_summary":
      return [
        ...wrapLine([styled("summary", `[${entryKind(entry)}]`), " ", shortLine(summaryGist(entry.summary), SUMMARY_CHARS)], width),
        [],
      ];
    case "custom_message":
      return [
        ...messageLines({ role: "custom", customType: entry.customType, content: entry.content })
          .slice(0, MAX_RESULT_LINES)
          .filter((line) => lineWidth(line) > 0)
          .flatMap((line) => wrapLine(line, width)),
        [],
      ];
    case "model_change":
      return [[styled("dim", `model: ${entry.modelId}`)], []];
    case "thinking_level_change":
      return [[styled("dim", `thinking: ${entry.thinkingLevel ?? "model default"}`)], []];
    case "context_edit":
    case "custom":
    case "foreign":
      return [];
  }
}

/** A prompt of the user, with the cursor sign before it. */
export function promptLines(text: string, width: number, glyphs: Glyphs): readonly Line[] {
  const lines = safeLines(text).flatMap((line) => wrapLine([styled("bold", line)], Math.max(width - 2, 1)));
  return [...lines.map((line, at): Line => [at === 0 ? styled("user", `${glyphs.cursor} `) : "  ", ...line]), []];
}

/** A tool call in one line. */
function callLine(call: ToolCallBlock, width: number, glyphs: Glyphs): Line {
  return fitLine(
    [styled("dim", shareLine("", [describeCall(call)], width, { widthOf: displayWidth, ellipsis: glyphs.ellipsis }))],
    width,
    glyphs.ellipsis,
  );
}

/** The first 4 lines of tool output, and the number of the others. */
function resultLines(text: string, isError: boolean, width: number, glyphs: Glyphs): readonly Line[] {
  const lines = safeLines(text.trimEnd());
  const shown = lines
    .slice(0, MAX_RESULT_LINES)
    .map((line): Line => fitLine([styled(isError ? "error" : "dim", `  ${line}`)], width, glyphs.ellipsis));
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, [styled("dim", `  ${glyphs.ellipsis} ${counted(rest, "more line")}`)]] : shown;
}

function messageTranscript(stored: Extract<Entry, { type: "message" }>["message"], width: number, glyphs: Glyphs): readonly Line[] {
  const message = asTyped(stored);
  switch (message.role) {
    case "user":
      return promptLines(textOfContent(message.content), width, glyphs);
    case "assistant":
      return [...assistantLines(message.content, width, glyphs), ...stopLines(message, width), []];
    case "toolResult":
      return [...resultLines(textOfContent(message.content), message.isError === true, width, glyphs), []];
    case "bashExecution":
      return [[styled("bold", `$ ${message.command}`)], ...resultLines(message.output, false, width, glyphs), []];
    case "system":
    case "custom":
      // Added by programs for the model; the tree shows it.
      return [];
  }
}

type Content = Extract<Extract<Entry, { type: "message" }>["message"], { content: unknown }>["content"];

function textOfContent(content: Content): string {
  if (typeof content === "string") return content;
  return content.map(blockText).join("\n");
}

function blockText(block: Exclude<Content, string>[number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return `[image ${block.mimeType}]`;
    case "file":
      return `[file ${describeFile(block)}]`;
    case "thinking":
    case "toolCall":
    case "foreign":
      return "";
  }
}

function assistantLines(content: Content, width: number, glyphs: Glyphs): readonly Line[] {
  if (typeof content === "string") return markdownLines(content, width, glyphs);
  return content.flatMap((block): readonly Line[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : markdownLines(block.text, width, glyphs);
    return block.type === "toolCall" ? [callLine(block, width, glyphs)] : [];
  });
}

function stopLines(
  { stopReason, errorMessage }: { readonly stopReason?: string | undefined; readonly errorMessage?: string | undefined },
  width: number,
): readonly Line[] {
  if (errorMessage !== undefined) return wrapLine([styled("error", errorMessage)], width);
  return stopReason === "aborted"
    ? [[styled("dim", "(stopped)")]]
    : stopReason === "length"
      ? [[styled("dim", "(cut: the model's limit)")]]
      : [];
}
