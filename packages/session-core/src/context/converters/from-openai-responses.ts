import { checkArgument } from "../../arguments/rules.js";
import { assistantMessage } from "../../entry/builders.js";
import type { EntryInput } from "../../entry/entry.js";
import { toForeignBlock } from "../../entry/foreign-block.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import { stopReasonOf } from "../../entry/stop-reason.js";
import { notAReply, parseArguments, REPLY_OPTIONS, type ReplyOptions, textBlocks, textIn, withoutUndefined } from "./replies.js";

/**
 * A response of the OpenAI Responses API as an entry to append: text, refusal, reasoning, tool calls, generated images, usage, stop
 * reason, model and id. Items of tools that OpenAI runs are stored as foreign blocks.
 *
 * The id of each item and the encrypted content of reasoning are kept in `providerOptions.openai`, as the AI SDK names them (`itemId`,
 * `reasoningEncryptedContent`); `toOpenAiResponses` gives them back. Ask for the content with `include`, also with `store: false`.
 *
 * @throws {InvalidArgumentError} `reply` has no output.
 * @example
 * const request = { model, store: false, include: ["reasoning.encrypted_content"], ...toOpenAiResponses(context), tools };
 * await session.append(fromOpenAiResponses(await openai.responses.create(request)));
 */
export function fromOpenAiResponses(reply: object, options: ReplyOptions = {}): EntryInput {
  checkArgument("options", options, REPLY_OPTIONS);
  const { provider = "openai" } = options;
  const body = isObject(reply) ? reply : {};
  const output = body["output"];
  if (!Array.isArray(output)) throw notAReply(reply, "a response with output");
  const content = output.filter(isObject).flatMap(toBlocks);
  const error = isObject(body["error"]) ? textIn(body["error"], "message") : undefined;
  return assistantMessage(content, {
    provider,
    model: textIn(body, "model"),
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
      return toCallBlocks(item, { input: item["input"] ?? "" });
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

function toCallBlocks(item: JsonObject, args: JsonObject): readonly AssistantBlock[] {
  const [id, name] = [textIn(item, "call_id"), textIn(item, "name")];
  return id === undefined || name === undefined ? [] : [{ type: "toolCall", id, name, arguments: args, ...optionsOf(item) }];
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
