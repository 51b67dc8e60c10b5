import type { Rule } from "../arguments/rules.js";
import { BLOCK, CONTENT_BLOCK } from "../arguments/shapes.js";
import type { EntryPayload } from "./entry.js";
import { toForeignBlock } from "./foreign-block.js";
import { isObject, parseEncoded } from "./json.js";

/**
 * A payload from the columns of its row. It was validated when it was written, so only the blocks of its content are checked:
 * a block of an unknown type, or without a member of its type (from a newer version, or damaged), is read as a `foreign` block,
 * so that no such row makes a search or a context fail. The row is not changed, and `verify` reports it. Linear in the blocks.
 *
 * @throws {SyntaxError} it is no JSON, or has lost what every entry of its type has: a message its role or content, a summary its text.
 */
export function parseStoredPayload(type: string, json: string): EntryPayload {
  const columns = parseEncoded(json);
  const payload: Record<string, unknown> = { type, ...(isObject(columns) ? columns : {}) };
  const { message, replacement } = payload;
  if (!hasItsText(type, payload)) throw new SyntaxError(`a payload of the type ${type} without its text`);
  if (type === "message") replaceInvalidBlocks(message, isObject(message) && message["role"] === "assistant" ? BLOCK : CONTENT_BLOCK);
  else if (type === "custom_message") replaceInvalidBlocks(payload, CONTENT_BLOCK);
  else if (type === "context_edit") replaceInvalidBlocks(replacement, BLOCK);
  const stored: unknown = payload;
  // A row becomes an entry: `validateEntry` accepted this payload when it was written.
  return stored as EntryPayload;
}

function hasItsText(type: string, payload: Readonly<Record<string, unknown>>): boolean {
  if (type === "compaction" || type === "branch_summary") return typeof payload["summary"] === "string";
  if (type === "custom_message") return isContent(payload["content"]);
  if (type !== "message") return true;
  const { message } = payload;
  if (!isObject(message) || typeof message["role"] !== "string") return false;
  if (message["role"] === "bashExecution") return typeof message["command"] === "string" && typeof message["output"] === "string";
  return isContent(message["content"]);
}

function isContent(content: unknown): boolean {
  return typeof content === "string" || Array.isArray(content);
}

/** Replaces each block that does not match `rule` by a foreign block, in place: `holder` was just parsed. */
function replaceInvalidBlocks(holder: unknown, rule: Rule): void {
  if (!isObject(holder) || !Array.isArray(holder["content"])) return;
  const content: unknown[] = holder["content"];
  for (let at = 0; at < content.length; at += 1) {
    if (rule(content[at], "block") !== undefined) content[at] = toForeignBlock(content[at]);
  }
}
