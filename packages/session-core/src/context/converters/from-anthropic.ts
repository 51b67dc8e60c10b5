import { checkArgument } from "../../arguments/rules.js";
import { BLOCK } from "../../arguments/shapes.js";
import { assistantMessage } from "../../entry/builders.js";
import type { EntryInput } from "../../entry/entry.js";
import { isObject } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import { stopReasonOf } from "../../entry/stop-reason.js";
import { toReplyBlocks } from "./anthropic-blocks.js";
import { notAReply, REPLY_OPTIONS, type ReplyOptions, textIn } from "./replies.js";

/**
 * A message of Anthropic's Messages API as an entry to append: text, thinking with its signature, redacted thinking, tool calls,
 * usage, stop reason, model and id. Blocks of tools that Anthropic runs are stored as foreign blocks; `toAnthropic` sends them, and
 * the thinking, back unchanged.
 *
 * @throws {InvalidArgumentError} `reply` has no content.
 * @example
 * const reply = await anthropic.messages.create({ model, max_tokens: 8192, ...toAnthropic(context), tools });
 * await session.append(fromAnthropic(reply));
 */
export function fromAnthropic(reply: object, options: ReplyOptions = {}): EntryInput {
  checkArgument("options", options, REPLY_OPTIONS);
  const { provider = "anthropic" } = options;
  const body = isObject(reply) ? reply : {};
  if (!Array.isArray(body["content"])) throw notAReply(reply, "a message with content");
  const reason = textIn(body, "stop_reason");
  return assistantMessage(toReplyBlocks(body["content"]).filter(isBlock), {
    provider,
    model: textIn(body, "model"),
    usage: isObject(body["usage"]) ? body["usage"] : undefined,
    stopReason: reason === undefined ? undefined : stopReasonOf(reason),
    responseId: textIn(body, "id"),
  });
}

// True for all: `toReplyBlocks` makes a foreign block of an invalid one.
function isBlock(block: unknown): block is AssistantBlock {
  return BLOCK(block, "block") === undefined;
}
