import { checkArgument } from "../../arguments/rules.js";
import { stopReasonOf } from "../../entry/builders.js";
import type { EntryInput } from "../../entry/entry.js";
import { toForeignBlock } from "../../entry/foreign-block.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import { ReplyEntries } from "./compacted-reply.js";
import { isCompactionItem } from "./native-items.js";
import { notAReply, parseArguments, REPLY_OPTIONS, type ReplyOptions, textBlocks, textIn, withoutUndefined } from "./replies.js";

/**
 * A response of the OpenAI Responses API as entries to append: text, refusal, reasoning, tool calls, generated images, usage, stop
 * reason, model and id. Items of tools that OpenAI runs are stored as foreign blocks.
 *
 * One entry, unless the API compacted the conversation (`context_management`, `compaction_trigger`, `POST /responses/compact`): then a
 * compaction entry with the items unchanged, from which the context begins, and the reply below it, if there is one. The items are
 * encrypted: the summary of the entry says so, and has the user's messages that the response kept.
 *
 * The id of each item and the encrypted content of reasoning are kept in `providerOptions.openai`, as the AI SDK names them (`itemId`,
 * `reasoningEncryptedContent`); `toOpenAiResponses` gives them back. Ask for the content with `include`, also with `store: false`.
 *
 * @throws {InvalidArgumentError} `reply` has no output.
 * @example
 * const request = { model, store: false, include: ["reasoning.encrypted_content"], ...toOpenAiResponses(context), tools };
 * await session.append(fromOpenAiResponses(await openai.responses.create(request)));
 */
export function fromOpenAiResponses(reply: object, options: ReplyOptions = {}): EntryInput[] {
  checkArgument("options", options, REPLY_OPTIONS);
  const { provider = "openai" } = options;
  const body = isObject(reply) ? reply : {};
  const output = body["output"];
  if (!Array.isArray(output)) throw notAReply(reply, "a response with output");
  const items = output.filter(isObject);
  const model = textIn(body, "model") ?? options.model;
  const entries = new ReplyEntries({ provider, model });
  const content = items.flatMap(toBlocks);
  // All items of a compacted conversation are the next input, the messages of the user among them too.
  if (body["object"] === "response.compaction" && items.some(isCompactionItem)) entries.addCompaction(items, undefined);
  else {
    for (const item of items) {
      if (isCompactionItem(item)) entries.addCompaction([item], undefined);
      else entries.addBlocks(toBlocks(item));
    }
  }
  const error = isObject(body["error"]) ? textIn(body["error"], "message") : undefined;
  return entries.end({
    provider,
    model,
    usage: isObject(body["usage"]) ? body["usage"] : undefined,
    stopReason: stopReasonIn(body, content),
    errorMessage: error,
    responseId: textIn(body, "id"),
  });
}

function stopReasonIn(body: JsonObject, content: readonly AssistantBlock[]): string | undefined {
  const status = textIn(body, "status");
  const details = body["incomplete_details"];
  if (status === "incomplete" && isObject(details)) return stopReasonOf(textIn(details, "reason") ?? "length");
  if (status === "completed" && content.some(({ type }) => type === "toolCall")) return "toolUse";
  return status === undefined ? undefined : stopReasonOf(status);
}

function toBlocks(item: JsonObject): readonly AssistantBlock[] {
  switch (item["type"]) {
    case "message":
      return toTextBlocks(item);
    case "reasoning":
      return toThinkingBlocks(item);
    case "function_call":
      return toCallBlocks(item, parseArguments(item["arguments"]));
    case "custom_tool_call":
      return toCallBlocks(item, { input: item["input"] ?? "" }, { custom: true });
    case "image_generation_call":
      return toImageBlocks(item);
  }
  return [toForeignBlock(item)];
}

function toTextBlocks(item: JsonObject): readonly AssistantBlock[] {
  const { content } = item;
  const options = optionsOf(item, { phase: textIn(item, "phase") });
  if (!Array.isArray(content)) return textBlocks(content, options);
  return content
    .filter(isObject)
    .flatMap((part) => [...textBlocks(part["text"], options), ...textBlocks(part["refusal"], { refusal: true, ...options })]);
}

/** A block for each part of the summary, at least one, so that the item can be given back. */
function toThinkingBlocks(item: JsonObject): readonly AssistantBlock[] {
  const options = optionsOf(item, { reasoningEncryptedContent: textIn(item, "encrypted_content") });
  const summary = textsOf(item["summary"]);
  // Open models show their reasoning itself.
  const texts = summary.length > 0 ? summary : [textsOf(item["content"]).join("\n")];
  return texts.map((thinking) => ({ type: "thinking", thinking, ...options }));
}

function textsOf(parts: unknown): readonly string[] {
  return Array.isArray(parts) ? parts.filter(isObject).flatMap((part) => textIn(part, "text") ?? []) : [];
}

function toCallBlocks(item: JsonObject, args: JsonObject, more?: JsonObject): readonly AssistantBlock[] {
  const [id, name] = [textIn(item, "call_id"), textIn(item, "name")];
  if (id === undefined || name === undefined) return [];
  return [{ type: "toolCall", id, name, arguments: args, ...optionsOf(item, { namespace: textIn(item, "namespace"), ...more }) }];
}

function toImageBlocks(item: JsonObject): readonly AssistantBlock[] {
  const data = textIn(item, "result");
  const format = textIn(item, "output_format") ?? "png";
  return data === undefined ? [] : [{ type: "image", mimeType: `image/${format}`, data, ...optionsOf(item) }];
}

function optionsOf(item: JsonObject, more: JsonObject = {}): { readonly providerOptions?: { readonly openai: JsonObject } } {
  const openai = withoutUndefined({ itemId: textIn(item, "id"), ...more });
  return Object.keys(openai).length === 0 ? {} : { providerOptions: { openai } };
}
