import {
  isObject,
  type JsonObject,
  objectAt,
  stringAt,
  toContentBlock,
  toForeignBlock,
  toReplyBlocks,
  tryStringify,
  without,
} from "@bough/session-core/wire";
import { foreignPayload, messagePayload, withOthers } from "../source/payloads.js";
import { userMessages } from "./user-text.js";

/** The payloads of a message of a chat, at least one. `onSent` gets the time of a prompt. */
export function toPayloads(record: JsonObject, onSent: (ms: number | undefined) => void): readonly JsonObject[] {
  const messages = toMessages(record, onSent);
  if (messages.length === 0) return [foreignPayload(record, stringAt(record, "role") ?? "unknown")];
  return messages.map((message, at) => withOthers(messagePayload(message), "cursor", at === 0 ? otherFields(record) : {}));
}

/** True if Cursor wrote the whole message: the system prompt, or facts for the model. */
export function isInjected(record: JsonObject): boolean {
  if (record.role === "system") return true;
  return record.role === "user" && toMessages(record, () => undefined).every(({ role }) => role === "custom");
}

/** True if this message of a user is the summary of the messages before it. */
export function isSummary(record: JsonObject): boolean {
  return record.role === "user" && cursorOptions(record).isSummary === true;
}

const PREFIX = /^\s*\[Previous conversation summary\]:\s*/;

/** The text of a message. */
export function textOf({ content }: JsonObject): string {
  if (typeof content === "string") return content.replace(PREFIX, "");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block) => (isObject(block) && typeof block.text === "string" ? [block.text] : []));
  return texts.join("\n\n").replace(PREFIX, "");
}

/** True if `earlier` is an unfinished state of the reply `later`: it has the beginning of its blocks. */
export function isEarlierState(earlier: JsonObject, later: JsonObject): boolean {
  if (earlier.role !== "assistant" || later.role !== "assistant") return false;
  const [before, after] = [earlier.content, later.content];
  if (!Array.isArray(before) || !Array.isArray(after) || before.length > after.length) return false;
  return before.every(
    (block: unknown, at) => tryStringify(block) === tryStringify(after[at]) || (at === before.length - 1 && isBeginning(block, after[at])),
  );
}

function isBeginning(block: unknown, later: unknown): boolean {
  if (!isObject(block) || !isObject(later) || block.type !== later.type) return false;
  return typeof block.text === "string" && typeof later.text === "string" && later.text.startsWith(block.text);
}

function toMessages(record: JsonObject, onSent: (ms: number | undefined) => void): readonly JsonObject[] {
  const { role, content } = record;
  const blocks: readonly unknown[] | undefined = typeof content === "string" ? [{ type: "text", text: content }] : asArray(content);
  if (blocks === undefined) return [];
  switch (role) {
    case "system":
      return [{ role, content: textOf(record) }];
    case "user":
      return userMessages(blocks.map(toUserBlock), onSent);
    case "assistant":
      return [toReply(record, blocks)];
    case "tool":
      return blocks.map((block) => toResult(block, record));
  }
  return [];
}

function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function toReply(record: JsonObject, blocks: readonly unknown[]): JsonObject {
  const models = [record, ...blocks].flatMap((source) => (isObject(source) ? (stringAt(cursorOptions(source), "modelName") ?? []) : []));
  return { role: "assistant", content: blocks.map(toReplyBlock), model: models[0] };
}

function toReplyBlock(block: unknown): JsonObject {
  const [made] = toReplyBlocks([toAnthropicShape(block)]);
  return made === undefined || made.type === "foreign" ? toForeignBlock(block) : made;
}

function toUserBlock(block: unknown): JsonObject {
  const made = toContentBlock(toAnthropicShape(block));
  return made.type === "foreign" ? toForeignBlock(block) : made;
}

/** Blocks of the AI SDK have other names for the same fields. */
function toAnthropicShape(block: unknown): unknown {
  if (!isObject(block)) return block;
  switch (block.type) {
    case "reasoning":
      return { ...without(block, ["text"]), type: "thinking", thinking: block.text };
    case "redacted-reasoning":
      return { ...block, type: "redacted_thinking" };
    case "tool-call": {
      const rest = without(block, ["toolCallId", "toolName", "args"]);
      return { ...rest, type: "tool_use", id: block.toolCallId, name: block.toolName, input: block.args };
    }
    case "image": {
      const [, type = stringAt(block, "mimeType") ?? stringAt(block, "mediaType"), data = block.image] =
        /^data:([^;,]+);base64,(.*)$/s.exec(stringAt(block, "image") ?? "") ?? [];
      return { ...without(block, ["image", "mimeType", "mediaType"]), source: { type: "base64", media_type: type, data } };
    }
  }
  return block;
}

/** Converts a result; `details` has the form that Cursor's own screen shows. */
function toResult(block: unknown, record: JsonObject): JsonObject {
  const result = isObject(block) && block.type === "tool-result" ? block : {};
  const toolCallId = stringAt(result, "toolCallId") ?? stringAt(record, "id");
  if (toolCallId === undefined) return { role: "custom", customType: "cursor.tool", display: true, content: [toForeignBlock(block)] };
  const shown = objectAt(cursorOptions(record), "highLevelToolCallResult") ?? {};
  const details = without(shown, ["isError"]);
  return {
    ...{ role: "toolResult", toolCallId, toolName: stringAt(result, "toolName") },
    content: result === block ? resultContent(result) : [toForeignBlock(block)],
    isError: shown.isError === true,
    details: Object.keys(details).length === 0 ? undefined : details,
  };
}

/** The text that the model got, or else its blocks. */
function resultContent({ result, experimental_content: blocks }: JsonObject): string | readonly JsonObject[] {
  if (typeof result === "string") return result;
  if (Array.isArray(blocks) && blocks.length > 0) return blocks.map(toUserBlock);
  return result === undefined || result === null ? [] : (tryStringify(result) ?? "");
}

function cursorOptions(source: JsonObject): JsonObject {
  return objectAt(objectAt(source, "providerOptions") ?? {}, "cursor") ?? {};
}

/** The fields of a message that are in no payload. */
function otherFields(record: JsonObject): JsonObject {
  const own = without(record, ["role", "content", "providerOptions", ...(record.role === "tool" ? ["id"] : [])]);
  const options = without(cursorOptions(record), ["highLevelToolCallResult", "modelName"]);
  return { ...own, ...options };
}
