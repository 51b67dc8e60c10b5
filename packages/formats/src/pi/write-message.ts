import type { AssistantBlock, AssistantMessage, ContentBlock, Message } from "@bough/session-core";
import { describeFile } from "@bough/session-core/view";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { FILE_BLOCK, FILLED, FOREIGN_BLOCK, TEXT_CONTENT } from "./marks.js";
import { isSectioned, withoutSections } from "./prompts.js";

/** A message in pi's format, with the members that pi requires: a time, the usage, a stop reason. */
export function toPiMessage(message: Message, createdAtMs: number): JsonObject {
  const required = { timestamp: createdAtMs };
  switch (message.role) {
    case "system":
      return toPiPrompt(message, required);
    case "bashExecution":
      return fillRequired(message, required);
    case "user":
      return fillRequired({ ...message, content: toPiContent(message.content) }, required);
    case "toolResult":
      return fillRequired({ ...message, content: toPiBlocks(message.content) }, { ...required, toolName: "unknown" });
    case "custom":
      return fillRequired({ ...message, content: toPiContent(message.content) }, { ...required, display: true });
    case "assistant":
      return toPiAssistant(message, required);
  }
}

/** A system message. pi sends the sections of one beside its content, which has them here. */
function toPiPrompt(message: Extract<Message, { role: "system" }>, required: JsonObject): JsonObject {
  const whole = fillRequired(message, required);
  const { content } = message;
  if (!isSectioned(message)) return whole;
  return replaceMember(whole, "content", typeof content === "string" ? withoutSections(message, content) : content);
}

/**
 * A content that pi can send to a model. pi treats every block that is not a text as an image, so a foreign block is written as
 * a text that names its type, and a file as a text that names it, with the block in an extra field.
 */
export function toPiContent(content: string | readonly ContentBlock[]): string | readonly JsonObject[] {
  if (typeof content === "string") return content;
  return content.map((block) => {
    if (block.type === "file") {
      const { type: _type, ...file } = block;
      return { type: "text", text: `[${describeFile(block)}]`, [FILE_BLOCK]: file };
    }
    if (block.type !== "foreign") return block;
    const { type: _type, ...foreign } = block;
    return { type: "text", text: `[${block.originalType}]`, [FOREIGN_BLOCK]: foreign };
  });
}

/** The content of a tool result, which must be blocks. */
function toPiBlocks(content: string | readonly ContentBlock[]): string | readonly JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content, [TEXT_CONTENT]: true }] : toPiContent(content);
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: NO_COST };

function toPiAssistant(message: AssistantMessage, required: JsonObject): JsonObject {
  const plain = { ...message, content: message.content.map(toPiAssistantBlock) };
  const whole = fillRequired(plain, {
    ...required,
    api: "unknown",
    provider: "unknown",
    model: "unknown",
    usage: NO_USAGE,
    stopReason: "stop",
  });
  return hasAllCounts(message.usage) ? whole : replaceMember(whole, "usage", completeUsage(message.usage ?? {}));
}

// pi skips unknown blocks of a reply, so foreign blocks from pi or oh-my-pi are written unchanged.
function toPiAssistantBlock(block: AssistantBlock): JsonObject {
  if (block.type !== "foreign" || !isObject(block.raw)) return block;
  return block.raw.type === block.originalType && Object.keys(block).length === 3 ? block.raw : block;
}

function hasAllCounts(usage: AssistantMessage["usage"]): boolean {
  if (usage === undefined) return true;
  const { cost } = usage;
  return Object.keys(NO_USAGE).every((key) => usage[key] !== undefined) && Object.keys(NO_COST).every((key) => cost?.[key] !== undefined);
}

function completeUsage(usage: JsonObject): JsonObject {
  const cost = isObject(usage.cost) ? usage.cost : {};
  return { ...NO_USAGE, ...usage, cost: { ...NO_COST, ...cost } };
}

/**
 * `object` with the `required` members that are missing or null, and a list of them, so that `removeFilled` can remove them. An
 * object that lacks none is returned unchanged.
 */
export function fillRequired(object: JsonObject, required: JsonObject): JsonObject {
  const lacking = Object.keys(required).filter((key) => object[key] === undefined || object[key] === null);
  if (lacking.length === 0) return object;
  const before = lacking.map((key) => (object[key] === null ? [key, null] : [key]));
  return { ...object, ...Object.fromEntries(lacking.map((key) => [key, required[key]])), [FILLED]: before };
}

/** `object` with `key` set to `value`, and its old value in the list of filled members. */
function replaceMember(object: JsonObject, key: string, value: unknown): JsonObject {
  const noted = object[FILLED];
  const before = [...(Array.isArray(noted) ? noted : []), [key, object[key]]];
  return { ...object, [key]: value, [FILLED]: before };
}
