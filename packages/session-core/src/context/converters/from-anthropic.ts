import { checkArgument } from "../../arguments/rules.js";
import { BLOCK } from "../../arguments/shapes.js";
import { stopReasonOf } from "../../entry/builders.js";
import type { EntryInput } from "../../entry/entry.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import { listIterations } from "../../entry/usage.js";
import { toReplyBlocks } from "./anthropic-blocks.js";
import { ReplyEntries } from "./compacted-reply.js";
import { isCompactionBlock } from "./native-items.js";
import { notAReply, REPLY_OPTIONS, type ReplyOptions, textIn } from "./replies.js";

/**
 * A message of Anthropic's Messages API as entries to append: text, thinking with its signature, redacted thinking, tool calls,
 * usage, stop reason, model and id. Blocks of tools that Anthropic runs are stored as foreign blocks; `toAnthropic` sends them, and
 * the thinking, back unchanged.
 *
 * One entry, unless the API compacted the conversation (`compact_20260112`, `compaction: { type: "summarize" }`): then a compaction entry
 * with the block unchanged, from which the context begins, and the reply below it, if there is one. The tokens of the compaction, which
 * `usage.iterations` reports, are the usage of its entry. A failed compaction (`content: null`) changes nothing.
 *
 * @throws {InvalidArgumentError} `reply` has no content.
 * @example
 * const reply = await anthropic.messages.create({ model, max_tokens: 8192, ...toAnthropic(context), tools });
 * await session.append(fromAnthropic(reply));
 */
export function fromAnthropic(reply: object, options: ReplyOptions = {}): EntryInput[] {
  checkArgument("options", options, REPLY_OPTIONS);
  const { provider = "anthropic" } = options;
  const body = isObject(reply) ? reply : {};
  if (!Array.isArray(body["content"])) throw notAReply(reply, "a message with content");
  const reason = textIn(body, "stop_reason");
  const model = textIn(body, "model");
  const entries = new ReplyEntries({ provider, model });
  const usage = new IterationUsage(body["usage"]);
  for (const block of body["content"]) {
    const own = isObject(block) && block["type"] === "compaction" ? usage.takeCompaction() : undefined;
    if (isCompactionBlock(block)) entries.addCompaction([block], block.content, own);
    else entries.addBlocks(toReplyBlocks([block]).filter(isBlock));
  }
  return entries.end({
    provider,
    model,
    usage: usage.rest,
    stopReason: reason === undefined ? undefined : stopReasonOf(reason),
    responseId: textIn(body, "id"),
  });
}

/**
 * The usage of a reply, whose compactions are reported apart: the counts of the whole do not include them. What is not taken stays with
 * the reply.
 */
class IterationUsage {
  readonly #usage: JsonObject | undefined;
  #iterations: readonly JsonObject[];

  constructor(usage: unknown) {
    this.#usage = isObject(usage) ? usage : undefined;
    this.#iterations = listIterations(this.#usage);
  }

  /** The usage of the next compaction; undefined: it is not reported apart. */
  takeCompaction(): JsonObject | undefined {
    const next = this.#iterations.find(({ type }) => type === "compaction");
    this.#iterations = this.#iterations.filter((one) => one !== next);
    return next;
  }

  get rest(): JsonObject | undefined {
    return this.#usage?.["iterations"] === undefined ? this.#usage : { ...this.#usage, iterations: this.#iterations };
  }
}

// True for all: `toReplyBlocks` makes a foreign block of an invalid one.
function isBlock(block: unknown): block is AssistantBlock {
  return BLOCK(block, "block") === undefined;
}
