import type { Rule } from "../arguments/rules.js";
import { BLOCK, CONTENT_BLOCK } from "../arguments/shapes.js";
import type { EntryPayload } from "./entry.js";
import { toForeignBlock } from "./foreign-block.js";
import { isObject, jsonText, MAX_JSON_LENGTH, parseEncoded } from "./json.js";

/** Serializes a payload without its `type`, which has a column of its own. */
export function toPayloadJson(payload: EntryPayload): string {
  // The type usually comes first; removing it from the text is cheaper than copying the payload without it.
  if (firstMember(payload) === "type") return `{${jsonText(payload, "The entry").slice(`{"type":"${payload.type}",`.length)}`;
  const { type: _type, ...rest } = payload;
  return jsonText(rest, "The entry");
}

/** The JSON text of a payload as `toPayloadJson` writes it, and that of the content of its message. */
export interface PayloadTexts {
  readonly payloadJson: string;
  /** undefined: it has none, or it was not written by itself. */
  readonly contentJson: string | undefined;
}

/** The content of a message whose text is written around another content. */
const NO_CONTENT = '"content":[]';

/** Serializes a payload and the content of its message, which is most of it, once. */
export function toPayloadTexts(payload: EntryPayload): PayloadTexts {
  if (payload.type !== "message" || payload.message.role === "bashExecution")
    return { payloadJson: toPayloadJson(payload), contentJson: undefined };
  const { message } = payload;
  const contentJson = jsonText(message.content, "The entry");
  const [before, after, ...others] = toPayloadJson({ ...payload, message: { ...message, content: [] } }).split(NO_CONTENT);
  const payloadJson = `${before}"content":${contentJson}${after}`;
  // Another member may contain this text, too.
  if (others.length > 0 || payloadJson.length > MAX_JSON_LENGTH) return { payloadJson: toPayloadJson(payload), contentJson: undefined };
  return { payloadJson, contentJson };
}

function firstMember(object: object): string | undefined {
  for (const name in object) return name;
  return undefined;
}

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
