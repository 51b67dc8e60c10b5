import type { AssistantBlock, ContentBlock, Message } from "@bough/session-core";
import { asTyped, describeFile } from "@bough/session-core/view";
import { bytes } from "../format/numbers.js";
import { breakText, wrapText } from "../format/wrap.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Line } from "../terminal/line.js";
import { markdownLines } from "./markdown.js";
import { patchLines, patchParts } from "./patch-text.js";
import type { TextBudget } from "./text-budget.js";
import { commandLines, jsonBlock, toolCallLines } from "./tool-call.js";

type Block = ContentBlock | AssistantBlock;

/** Draws the blocks of a message in order, with an empty line between two. Tool output is verbatim. */
export function messagePreview(stored: Message, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const message = asTyped(stored);
  switch (message.role) {
    case "user":
    case "custom":
    case "system":
      return contentPreview(message.content, "markdown", budget, glyphs);
    case "assistant": {
      const lines = contentPreview(message.content, "markdown", budget, glyphs);
      return message.errorMessage === undefined ? lines : [...lines, ...wrapText(budget.take(message.errorMessage), budget.width, "error")];
    }
    case "toolResult": {
      const lines = contentPreview(message.content, "verbatim", budget, glyphs);
      return message.isError ? [...breakText("(error)", budget.width, "error"), ...lines] : lines;
    }
    case "bashExecution":
      return [...commandLines(budget.take(message.command), budget.width), ...outputLines(message.output, budget)];
  }
}

/** Draws a text or blocks. `form` applies to text: Markdown, or verbatim with diffs in colors. */
export function contentPreview(
  content: string | readonly Block[],
  form: "markdown" | "verbatim",
  budget: TextBudget,
  glyphs: Glyphs,
): readonly Line[] {
  const text = (given: string) =>
    form === "markdown" ? markdownLines(budget.take(given), budget.width, glyphs) : outputLines(given, budget);
  if (typeof content === "string") return text(content);
  const lines: Line[] = [];
  for (const block of content) {
    const drawn = block.type === "text" ? text(block.text) : blockLines(block, budget, glyphs);
    if (lines.length > 0 && drawn.length > 0) lines.push([]);
    for (const line of drawn) lines.push(line);
  }
  return lines;
}

function blockLines(block: Exclude<Block, { type: "text" }>, budget: TextBudget, glyphs: Glyphs): readonly Line[] {
  const { width } = budget;
  switch (block.type) {
    case "thinking": {
      const text = budget.take(block.thinking);
      return [
        ...breakText(block.redacted === true ? "(thinking, redacted)" : "(thinking)", width, "dim"),
        ...(text === "" ? [] : wrapText(text, width, "dim")),
      ];
    }
    case "toolCall":
      return toolCallLines(block, budget, glyphs);
    case "image":
      return breakText(`[image ${block.mimeType}, ${bytes(Math.floor((block.data.length * 3) / 4))}]`, width, "dim");
    case "file": {
      const size = block.data === undefined ? "" : `, ${bytes(Math.floor((block.data.length * 3) / 4))}`;
      return breakText(`[file ${describeFile(block)}${size}]`, width, "dim");
    }
    case "foreign":
      return [...breakText(`[${block.originalType}]`, width, "dim"), ...jsonBlock(block.raw, budget)];
  }
}

function outputLines(given: string, budget: TextBudget): readonly Line[] {
  if (given === "") return [];
  return patchParts(budget.take(given)).flatMap(({ kind, text }) =>
    kind === "patch" ? patchLines(text, budget.width) : breakText(text, budget.width),
  );
}
