import { type MarkdownBlock, parseBlocks } from "./markdown-block.js";
import { fenceLines, removeInvisible } from "./markdown-text.js";
import { sanitizeInline } from "./sanitize-inline.js";

/** Headings inside a message stand below those of the document: its title, then its messages. */
const HIGHEST_LEVEL = 3;

/**
 * Markdown that an author wrote, so that it keeps to its place in a document: no heading above level 3, no fence left
 * open, no HTML, no link that runs a program, no control characters. Otherwise it is kept as it was written.
 *
 * Linear in the length of the text.
 *
 * @example
 * authoredText("# Plan\n```ts\nlet a"); // "### Plan\n```ts\nlet a\n```"
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
    // Behind a blank line, code inside a list is code whether or not the renderer sees the list: a fence, or else
    // lines indented so far that they are code too. Without it they might be the rest of a paragraph, as might a quote.
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

// Fences were taken out as code; a line that still looks like one stands where only some renderers would see it.
function withoutFence(line: string): string {
  return line.replace(/^([\s>*+\-\d.)]*)~~~/, "$1\\~~~");
}

function isTableRule(line: string): boolean {
  return /^[\s>|:-]+$/.test(line) && line.includes("-") && /[|:]/.test(line);
}
