import { BLOCKS_AFTER, BLOCKS_BEFORE, type BlockTag } from "../text/tags.js";

/** A stored summary, taken apart. */
export interface Composed {
  readonly body: string;
  readonly blocks: ReadonlyMap<BlockTag, string>;
}

/** What pi writes before the summary of a branch. */
const PI_BRANCH_PREAMBLE = "The user explored a different conversation branch before returning here.\nSummary of that exploration:";

/**
 * Takes a summary apart: the blocks before and behind it, and its body. Blocks of one tag that stand there several times, as
 * other programs pile them up, are all taken out; the last counts. Cost is linear.
 */
export function readComposed(summary: string): Composed {
  const blocks = new Map<BlockTag, string>();
  const text = summary.trim();
  const start = readBefore(text, blocks);
  const end = readAfter(text, start, blocks);
  return { body: text.slice(start, end).trim(), blocks };
}

/** Where the body starts. */
function readBefore(text: string, blocks: Map<BlockTag, string>): number {
  let at = 0;
  if (text.startsWith(PI_BRANCH_PREAMBLE)) at = skipSpace(text, PI_BRANCH_PREAMBLE.length);
  for (;;) {
    const tag = BLOCKS_BEFORE.find((one) => text.startsWith(`<${one}>\n`, at));
    if (tag === undefined) return at;
    const from = at + tag.length + 3;
    const to = text.indexOf(`\n</${tag}>`, from - 1);
    if (to === -1) return at;
    blocks.set(tag, text.slice(from, Math.max(from, to)));
    at = skipSpace(text, to + tag.length + 4);
  }
}

/** Where the body ends. */
function readAfter(text: string, start: number, blocks: Map<BlockTag, string>): number {
  let end = text.length;
  for (;;) {
    const tag = BLOCKS_AFTER.find((one) => text.endsWith(`</${one}>`, end));
    if (tag === undefined) return end;
    const to = end - tag.length - 3;
    const open = text.lastIndexOf(`<${tag}>\n`, to);
    // Ours start a line; a tag inside a sentence is a word of the body.
    if (open < start || (open > start && text[open - 1] !== "\n")) return end;
    if (!blocks.has(tag)) blocks.set(tag, text.slice(open + tag.length + 3, to).trimEnd());
    end = endWithoutSpace(text, open);
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  return at;
}

function endWithoutSpace(text: string, from: number): number {
  let at = from;
  while (at > 0 && /\s/.test(text.charAt(at - 1))) at -= 1;
  return at;
}
