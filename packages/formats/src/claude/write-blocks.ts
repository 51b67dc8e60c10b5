// Blocks of Bough as the blocks of Anthropic's Messages API that a transcript of Claude Code has. Claude Code sends them as they are,
// so only members that the API takes are written.

import type { AssistantBlock, AssistantMessage, ContentBlock, FileBlock } from "@bough/session-core";
import { describeFile } from "@bough/session-core/view";
import { isObject, type JsonObject, sanitizeToolName, withoutUndefined } from "@bough/session-core/wire";

/** A call's id in the transcript: unique in it, and of characters that the API takes. */
export type CallIds = (callId: string) => string;

/** The content of a user message: a text, or at least one block. */
export function toClaudeContent(content: string | readonly ContentBlock[]): string | readonly JsonObject[] {
  return typeof content === "string" ? content : content.map(toClaudeBlock);
}

function toClaudeBlock(block: ContentBlock): JsonObject {
  switch (block.type) {
    case "text":
      return textBlock(block);
    case "image":
      if (!IMAGE_TYPES.has(block.mimeType)) return placeholder(block.mimeType);
      return { type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } };
    case "file":
      return fileBlock(block);
    case "foreign":
      return isRaw(block.raw, USER_TYPES) ? block.raw : placeholder(block.originalType);
  }
}

/** The images that the API takes. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const USER_TYPES = /^(?:image|document|search_result|tool_reference)$/;
const REPLY_TYPES = /^(?:server_tool_use|mcp_tool_use|.+_tool_result|redacted_thinking)$/;

function isRaw(raw: unknown, types: RegExp): raw is JsonObject {
  return isObject(raw) && typeof raw.type === "string" && types.test(raw.type);
}

function textBlock({ text, citations, cache_control }: JsonObject): JsonObject {
  return withoutUndefined({ type: "text", text, citations, cache_control });
}

function fileBlock(file: FileBlock): JsonObject {
  const { mediaType, data, url, filename } = file;
  const title = filename === undefined ? {} : { title: filename };
  if (mediaType !== "application/pdf") return placeholder(describeFile(file));
  if (data !== undefined) return { type: "document", source: { type: "base64", media_type: mediaType, data }, ...title };
  return url?.startsWith("http") === true ? { type: "document", source: { type: "url", url }, ...title } : placeholder(describeFile(file));
}

function placeholder(description: string): JsonObject {
  return { type: "text", text: `[${description}]` };
}

/**
 * The blocks of a reply. Thinking of another provider and thinking without a signature are left out, because the API rejects them; so
 * are empty texts.
 */
export function toClaudeReply({ content, provider }: AssistantMessage, callIds: CallIds): readonly JsonObject[] {
  const isOwn = provider === "anthropic";
  return content.map((block) => replyBlock(block, isOwn, callIds)).filter((block) => block !== undefined);
}

function replyBlock(block: AssistantBlock, isOwn: boolean, callIds: CallIds): JsonObject | undefined {
  switch (block.type) {
    case "text":
      return block.text === "" ? undefined : textBlock(block);
    case "thinking":
      return isOwn ? thinkingBlock(block) : undefined;
    case "toolCall":
      return { type: "tool_use", id: callIds(block.id), name: sanitizeToolName(block.name), input: block.arguments };
    case "foreign":
      return isOwn && isRaw(block.raw, REPLY_TYPES) ? block.raw : placeholder(block.originalType);
    case "image":
      return placeholder(block.mimeType);
    case "file":
      return placeholder(describeFile(block));
  }
}

function thinkingBlock({ thinking, thinkingSignature, redacted }: Extract<AssistantBlock, { type: "thinking" }>): JsonObject | undefined {
  if (thinkingSignature === undefined) return undefined;
  return redacted === true
    ? { type: "redacted_thinking", data: thinkingSignature }
    : { type: "thinking", thinking, signature: thinkingSignature };
}
