import { removeInvisible } from "@bough/session-core/view";
import { type MarkdownBlock, parseBlocks } from "./markdown-block.js";
import { fenceLines } from "./markdown-text.js";
import { sanitizeInline } from "./sanitize-inline.js";

/** The highest heading inside a message: levels 1 and 2 are the document's title and its messages. */
const HIGHEST_LEVEL = 3;

/**
 * Makes foreign Markdown safe inside a document: no heading above level 3, no open fence, no HTML, no link that runs a program,
 * no control characters. Otherwise it is unchanged.
 *
 * Linear in the length of the text.
 *
 * @example
 * sanitizeMarkdown("# Plan\n```ts\nlet a"); // "### Plan\n```ts\nlet a\n```"
 */
export function sanitizeMarkdown(text: string): string {
  const blocks = parseBlocks(
    removeInvisible(text)
      .trimEnd()
      .replace(/^(?:[ \t]*\n)+/, "")
      .split("\n"),
  );
  return writeBlocks(blocks, Math.max(0, HIGHEST_LEVEL - highestLevel(blocks)))
    .join("\n")
    .trimEnd();
}

function highestLevel(blocks: readonly MarkdownBlock[]): number {
  return blocks.reduce((level, block) => Math.min(level, levelOf(block)), HIGHEST_LEVEL);
}

function levelOf(block: MarkdownBlock): number {
  switch (block.kind) {
    case "heading":
      return block.level;
    case "quote":
      return highestLevel(block.blocks);
    case "code":
    case "line":
      return HIGHEST_LEVEL;
  }
}

function writeBlocks(blocks: readonly MarkdownBlock[], shift: number): readonly string[] {
  const inTable = blocks.some((block) => block.kind === "line" && isTableRule(block.text));
  const lines: string[] = [];
  for (const block of blocks) {
    // After a blank line, code inside a list is code even if a renderer does not recognize the list: a fence, or an indented code
    // block. Without it, the code or a quote could continue the paragraph before it.
    if (needsBlank(block) && lines.length > 0 && lines.at(-1) !== "") lines.push("");
    for (const line of blockLines(block, shift, inTable)) lines.push(line);
  }
  return lines;
}

function needsBlank(block: MarkdownBlock): boolean {
  return block.kind === "quote" || (block.kind === "code" && block.lead !== "");
}

function blockLines(block: MarkdownBlock, shift: number, inTable: boolean): readonly string[] {
  switch (block.kind) {
    case "line":
      return [withoutFence(sanitizeInline(block.text, inTable))];
    case "heading":
      return [`${block.lead}${"#".repeat(Math.min(6, block.level + shift))}${sanitizeInline(block.text, inTable)}`];
    case "code":
      return fenceLines(block.lines, block.language).map((line, at) =>
        line === "" ? "" : `${at === 0 ? block.lead : block.indent}${line}`,
      );
    case "quote":
      return writeBlocks(block.blocks, shift).map((line) => `${block.indent}>${line === "" ? "" : " "}${line}`);
  }
}

// Fences were parsed as code. Only some renderers parse a remaining line of fence characters as a fence.
function withoutFence(line: string): string {
  return line.replace(/^([\s>*+\-\d.)]*)~~~/, "$1\\~~~");
}

function isTableRule(line: string): boolean {
  return /^[\s>|:-]+$/.test(line) && line.includes("-") && /[|:]/.test(line);
}
