import { SESSION_CONTEXT } from "../../arguments/conversation.js";
import { checkArgument } from "../../arguments/rules.js";
import type { SessionContext } from "../context.js";
import type {
  AnthropicAssistantBlock,
  AnthropicImageBlock,
  AnthropicMessage,
  AnthropicPrompt,
  AnthropicRawBlock,
  AnthropicTextBlock,
  AnthropicUserBlock,
} from "./anthropic-message.js";
import { rawAssistantBlock, rawUserBlock, withPairedServerTools } from "./anthropic-raw.js";
import { imagesOf, plainText, withoutForeign } from "./parts.js";
import type {
  AnswerPart,
  ProjectedAnswer,
  ProjectedImage,
  ProjectedMessage,
  ProjectedResult,
  ProjectedThinking,
  SaidPart,
} from "./projected-message.js";
import { projectMessages, systemText } from "./projection.js";
import { IMAGES_FOLLOW, OPENING } from "./templates.js";

/**
 * A context as `system` and `messages` of Anthropic's Messages API.
 *
 * Roles alternate and the first is the user's; all results of a reply stand first in the one message behind it.
 * Thinking goes back, byte for byte, where an Anthropic model signed it, and is left out elsewhere. Blocks of the API
 * that Bough keeps as `foreign` (documents, server tools) go back as they came.
 *
 * @example
 * await anthropic.messages.create({ model, max_tokens: 8192, ...toAnthropic(context) });
 */
export function toAnthropic(context: SessionContext): AnthropicPrompt {
  checkArgument("context", context, SESSION_CONTEXT);
  const system = systemText(context);
  // Replies are joined before they are settled, since one of only thoughts may be the start of the next; settling
  // may empty a reply, and then its neighbours are joined too.
  const joined = alternating(projectMessages(context.messages).flatMap(turns)).map(settled);
  const messages = opened(alternating(joined)).map(withoutTrailingSpace);
  return system === undefined ? { messages } : { system, messages };
}

function turns(message: ProjectedMessage): readonly AnthropicMessage[] {
  if (message.role === "user") return [{ role: "user", content: message.parts.map(saidBlock) }];
  const content = message.parts.flatMap((part) => answerBlocks(part, message));
  if (message.results.length === 0) return [{ role: "assistant", content }];
  return [
    { role: "assistant", content },
    { role: "user", content: resultBlocks(message.results) },
  ];
}

function alternating(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const joined: AnthropicMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.content.length === 0) continue;
    if (last?.role === "user" && message.role === "user") last.content.push(...message.content);
    else if (last?.role === "assistant" && message.role === "assistant") last.content.push(...message.content);
    else joined.push(message);
  }
  return joined;
}

function settled(message: AnthropicMessage): AnthropicMessage {
  if (message.role === "user") return message;
  const content = withPairedServerTools(message.content);
  // "The final block in an assistant message cannot be `thinking`": such a reply was broken off.
  while (isThinking(content.at(-1))) content.pop();
  return { role: "assistant", content };
}

function isThinking(block: AnthropicAssistantBlock | undefined): boolean {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

function opened(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  return messages[0]?.role === "assistant" ? [{ role: "user", content: [{ type: "text", text: OPENING }] }, ...messages] : messages;
}

// A request may end with the assistant's words, to be continued, but then not with white space.
function withoutTrailingSpace(message: AnthropicMessage, at: number, all: readonly AnthropicMessage[]): AnthropicMessage {
  const last = message.content.at(-1);
  if (at < all.length - 1 || message.role === "user" || last?.type !== "text") return message;
  return { role: "assistant", content: [...message.content.slice(0, -1), { type: "text", text: last.text.trimEnd() }] };
}

function answerBlocks(part: AnswerPart, answer: ProjectedAnswer): readonly AnthropicAssistantBlock[] {
  const own = answer.provider === "anthropic";
  switch (part.type) {
    case "text":
      return [part];
    case "call":
      return [{ type: "tool_use", id: part.id, name: part.name, input: part.input }];
    case "thinking":
      return own ? thinkingBlocks(part) : [];
    case "foreign":
      return own ? [rawAssistantBlock(part)].filter((block) => block !== undefined) : [];
    case "image":
      return []; // the API takes none from the assistant
  }
}

function thinkingBlocks({ thinking, signature, redacted }: ProjectedThinking): readonly AnthropicAssistantBlock[] {
  if (signature === undefined) return []; // broken off before it was signed; refused without
  return redacted ? [{ type: "redacted_thinking", data: signature }] : [{ type: "thinking", thinking, signature }];
}

function saidBlock(part: SaidPart): AnthropicTextBlock | AnthropicImageBlock | AnthropicRawBlock {
  const raw = part.type === "foreign" ? rawUserBlock(part) : undefined;
  if (raw !== undefined) return raw;
  const known = withoutForeign(part);
  return known.type === "text" ? known : imageBlock(known);
}

function imageBlock(image: ProjectedImage): AnthropicImageBlock {
  return { type: "image", source: { type: "base64", media_type: image.mediaType, data: image.data } };
}

// A failed result may hold only text, so its images stand behind all results.
function resultBlocks(results: readonly ProjectedResult[]): AnthropicUserBlock[] {
  const images = results.filter((result) => result.isError).flatMap((result) => imagesOf(result.parts));
  return [...results.map(resultBlock), ...images.map(imageBlock)];
}

function resultBlock(result: ProjectedResult): AnthropicUserBlock {
  if (!result.isError) return { type: "tool_result", tool_use_id: result.callId, content: result.parts.map(saidBlock) };
  const text = plainText(result.parts);
  const content: AnthropicTextBlock[] = [{ type: "text", text: text === "" ? IMAGES_FOLLOW : text }];
  return { type: "tool_result", tool_use_id: result.callId, content, is_error: true };
}
