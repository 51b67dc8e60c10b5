import type { Rule } from "../arguments/rules.js";
import { BLOCK, CONTENT_BLOCK } from "../arguments/shapes.js";
import type { EntryPayload } from "./entry.js";
import { toForeignBlock } from "./foreign-block.js";
import { isObject } from "./json.js";

/**
 * A payload from the columns of its row. The gate judged it when it was written, so it is not judged again, except for the
 * blocks of its content: a block of an unknown type, or without a member of its type (from a newer program, or damaged), is
 * read as a `foreign` block. So one such row makes neither a search nor a context fail. The row is not changed, and `verify`
 * reports it. Linear in the blocks.
 */
export function parseStoredPayload(type: string, json: string): EntryPayload {
  const payload = { type, ...(JSON.parse(json) as Record<string, unknown>) };
  const { message, replacement } = payload as Record<string, unknown>;
  if (type === "message") replaceInvalidBlocks(message, isObject(message) && message["role"] === "assistant" ? BLOCK : CONTENT_BLOCK);
  else if (type === "custom_message") replaceInvalidBlocks(payload, CONTENT_BLOCK);
  else if (type === "context_edit") replaceInvalidBlocks(replacement, BLOCK);
  return payload as unknown as EntryPayload;
}

/** Puts a foreign block in the place of each block that does not fit. `holder` has just been parsed and belongs to nobody else. */
function replaceInvalidBlocks(holder: unknown, rule: Rule): void {
  if (!isObject(holder) || !Array.isArray(holder["content"])) return;
  const content: unknown[] = holder["content"];
  for (let at = 0; at < content.length; at += 1) {
    if (rule(content[at], "block") !== undefined) content[at] = toForeignBlock(content[at]);
  }
}
