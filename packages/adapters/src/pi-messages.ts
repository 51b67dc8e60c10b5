// Messages of pi-agent-core, of every version: Bough's messages have the same form, with fewer required members.
import type { ContentBlock, EntryInput, Message } from "@bough/session-core";
import { isObject, type JsonObject } from "@bough/session-core/wire";

/** `customType` of a message that Bough's schema does not accept; `details.message` holds it unchanged. */
const OTHER_MESSAGE = "pi.message";

/** The usage of a reply that does not say it, and of a session without a request. */
export const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/**
 * The entry of a message. One that an application defined, or with blocks that Bough does not accept, is kept whole in a custom message;
 * but of a result each such block, because its call would have no result.
 */
export function toMessagePayload(message: object): EntryInput {
  if (isBoughMessage(message)) return { type: "message", message };
  const result = resultWithKeptBlocks(message);
  if (result !== undefined) return { type: "message", message: result };
  const content = "content" in message && typeof message.content === "string" ? message.content : "";
  return { type: "custom_message", customType: OTHER_MESSAGE, content, details: { message } };
}

// The types of blocks in pi's model messages. A message with other blocks is kept whole, because the store would refuse it.
const BLOCKS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  user: new Set(["text", "image"]),
  assistant: new Set(["text", "thinking", "toolCall", "image"]),
  toolResult: new Set(["text", "image"]),
  custom: new Set(["text", "image"]),
  system: new Set(["text"]),
};
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Marks a foreign block whose `raw` is a block of a message of pi. */
const OF_PI = "ofPi";

function resultWithKeptBlocks(message: object): Message | undefined {
  if (!isObject(message) || message.role !== "toolResult") return undefined;
  const { toolCallId, content, isError } = message;
  if (typeof toolCallId !== "string" || !Array.isArray(content)) return undefined;
  const blocks = content.map((raw: unknown) => (isResultBlock(raw) ? raw : keptBlock(raw)));
  return { ...message, role: "toolResult", toolCallId, isError: isError === true, content: blocks };
}

function isResultBlock(block: unknown): block is ContentBlock {
  return isAccepted(block, "toolResult");
}

function isAccepted(block: unknown, role: string): boolean {
  return isObject(block) && BLOCKS[role]?.has(block.type) === true && isWhole(block);
}

function keptBlock(raw: unknown): ContentBlock {
  return { type: "foreign", originalType: typeOf(raw), raw, [OF_PI]: true };
}

function isBoughMessage(message: unknown): message is Message {
  if (!isObject(message) || typeof message.role !== "string") return false;
  if (message.role === "bashExecution") return typeof message.command === "string" && typeof message.output === "string";
  if (message.role === "custom" && typeof message.customType !== "string") return false;
  const { role, content } = message;
  if (BLOCKS[role] === undefined) return false;
  if (typeof content === "string") return role !== "assistant";
  return Array.isArray(content) && content.every((block) => isAccepted(block, role));
}

function isWhole(block: Record<string, unknown>): boolean {
  switch (block.type) {
    case "image":
      return typeof block.data === "string" && BASE64.test(block.data) && /^image\/[\w.+-]+$/.test(String(block.mimeType));
    case "toolCall":
      return typeof block.id === "string" && typeof block.name === "string" && isObject(block.arguments);
    default:
      return true;
  }
}

/**
 * The message of pi for a message of Bough, with the members that pi requires. A message that was kept whole comes back unchanged.
 * `timestamp`: Unix time in milliseconds, for a message without its own.
 */
export function toPiMessage(message: JsonObject, timestamp: number): JsonObject {
  const kept = message.customType === OTHER_MESSAGE && isObject(message.details) ? message.details.message : undefined;
  if (isObject(kept)) return kept;
  return { timestamp, ...REQUIRED[String(message.role)], ...withPiBlocks(message) };
}

const REQUIRED: Readonly<Record<string, object>> = {
  assistant: { api: "unknown", provider: "unknown", model: "unknown", usage: NO_USAGE, stopReason: "stop" },
  toolResult: { toolName: "unknown", isError: false },
  custom: { display: true },
};

/** Blocks of pi come back as they were; others become texts that name their type: pi sends every other block as an image. */
function withPiBlocks(message: Record<string, unknown>): Record<string, unknown> {
  const known = BLOCKS[String(message.role)];
  const { content } = message;
  if (known === undefined || !Array.isArray(content)) return message;
  const isKnown = (block: unknown) => isObject(block) && known.has(block.type);
  if (content.every(isKnown)) return message;
  return { ...message, content: content.map((block) => (isKnown(block) ? block : piBlock(block))) };
}

function piBlock(block: unknown): unknown {
  return isObject(block) && block[OF_PI] === true ? block.raw : { type: "text", text: `[${typeOf(block)}]` };
}

function typeOf(block: unknown): string {
  if (!isObject(block)) return "unknown";
  return String(block.originalType ?? block.type);
}
