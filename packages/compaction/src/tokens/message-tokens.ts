import type { AssistantBlock, ContextMessage, NativeCompaction, ThinkingBlock } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { promptContent } from "@bough/session-core/wire";
import { COUNTER } from "../arguments/shapes.js";
import { fileTokens } from "./file-tokens.js";
import { imageTokens } from "./image-tokens.js";
import { findModelFamily, type ImageRule, type ModelName } from "./known-models.js";
import type { TokenCounter } from "./token-counter.js";

/** Tokens of a message besides its content: role and separators (OpenAI's cookbook: 3, and 1 for the start of a role). */
export const MESSAGE_TOKENS = 4;
/** Tokens of a tool call or result besides its content: the id and the frame, about 8 in the protocols of all large providers. */
export const CALL_TOKENS = 8;

/**
 * Tokens of a message as the converters of session-core send it: texts, thinking, calls with their arguments as JSON, results,
 * summaries in their templates, and images and files by the rule of the model's provider. Cost: linear in its texts.
 *
 * @example
 * messageTokens(counter, { role: "user", content: "Hello" }); // 5: four for the message, one for the word
 */
export function messageTokens(counter: TokenCounter, message: ContextMessage, model: ModelName = null): number {
  return MESSAGE_TOKENS + bodyTokens(counter, message, findModelFamily(model).imageRule);
}

function bodyTokens(counter: TokenCounter, message: ContextMessage, rule: ImageRule): number {
  if (message.role === "compactionSummary" && message.native !== undefined) return nativeTokens(counter, message.native);
  const content = promptContent(message);
  if (content === null) return 0;
  return (message.role === "toolResult" ? CALL_TOKENS : 0) + contentTokens(counter, content, rule);
}

/** Tokens of a provider's own compaction as it is sent: of its texts, and of what is encrypted about a token for four characters. */
function nativeTokens(counter: TokenCounter, { items }: NativeCompaction): number {
  let tokens = 0;
  for (const { encrypted_content: encrypted, signature: _signature, ...item } of items) {
    tokens += counter.count(JSON.stringify(item)) + (typeof encrypted === "string" ? Math.ceil(encrypted.length / 4) : 0);
  }
  return tokens;
}

function contentTokens(counter: TokenCounter, content: string | readonly AssistantBlock[], rule: ImageRule): number {
  if (typeof content === "string") return counter.count(content);
  let tokens = 0;
  for (const block of content) tokens += blockTokens(counter, block, rule);
  return tokens;
}

function blockTokens(counter: TokenCounter, block: AssistantBlock, rule: ImageRule): number {
  switch (block.type) {
    case "text":
      return counter.count(block.text);
    case "thinking":
      return block.thinking === "" ? hiddenThinkingTokens(block) : counter.count(block.thinking);
    case "toolCall":
      return CALL_TOKENS + counter.count(block.name) + counter.count(JSON.stringify(block.arguments));
    case "image":
      return imageTokens(block.data, rule);
    case "file":
      return CALL_TOKENS + fileTokens(counter, block, rule);
    case "foreign":
      return counter.count(JSON.stringify(block.raw) ?? "");
  }
}

// Of hidden thinking only the signature or the encrypted content is known: about four characters for each token.
function hiddenThinkingTokens({ thinkingSignature, providerOptions = {} }: ThinkingBlock): number {
  const encrypted = Object.values(providerOptions).flatMap((options) =>
    Object.values(options).filter((value) => typeof value === "string"),
  );
  return Math.ceil(Math.max(thinkingSignature?.length ?? 0, ...encrypted.map(({ length }) => length)) / 4);
}

/**
 * Tokens of tool definitions, counted as JSON, for `prepareRequest({ toolTokens })`. `tools` is the array that is sent, or a
 * record of definitions by the tool's name. Providers rewrite the schemas and count a little less. Count once: definitions
 * rarely change. The tools of the AI SDK are counted more exactly by `prepareStep(compactor, { tools })`.
 *
 * @throws {InvalidArgumentError} `counter` is no counter, or `tools` does not consist of objects.
 * @example
 * await compactor.prepareRequest({ toolTokens: toolTokens(counter, tools) });
 */
export function toolTokens(counter: TokenCounter, tools: readonly unknown[] | Readonly<Record<string, object>>): number {
  rules.checkArgument("counter", counter, COUNTER);
  const listed = isRecord(tools) ? Object.entries(tools).map(([name, tool]): unknown => named(name, tool)) : tools;
  rules.checkArgument("tools", listed, rules.list(rules.OBJECT, "an array of tool definitions, or a record of them"));
  return listed.reduce<number>((sum, tool) => sum + CALL_TOKENS + counter.count(JSON.stringify(tool) ?? ""), 0);
}

function isRecord(tools: readonly unknown[] | Readonly<Record<string, object>>): tools is Readonly<Record<string, object>> {
  return typeof tools === "object" && tools !== null && !Array.isArray(tools);
}

/** A definition with its name; what is not an object stays as it is, for the check. */
function named(name: string, tool: unknown): unknown {
  return typeof tool === "object" && tool !== null ? { name, ...tool } : tool;
}
