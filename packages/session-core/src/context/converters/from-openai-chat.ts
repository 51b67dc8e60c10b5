import { checkArgument } from "../../arguments/rules.js";
import { assistantMessage, stopReasonOf } from "../../entry/builders.js";
import type { EntryInput } from "../../entry/entry.js";
import { isObject, type JsonObject } from "../../entry/json.js";
import type { AssistantBlock } from "../../entry/message.js";
import {
  notAReply,
  parseArguments,
  REPLY_OPTIONS,
  type ReplyOptions,
  textBlocks,
  textIn,
  toDataBlock,
  withoutUndefined,
} from "./replies.js";

/**
 * A reply of an OpenAI chat completion as an entry to append: text, refusal, thinking (`reasoning_content`, `reasoning`), tool calls,
 * generated images, usage, stop reason, model and id. Takes the whole body of the answer, and reads its first choice.
 *
 * Members that the server demands back (thinking in a tool loop, Google's thought signatures) are kept under the name of the
 * provider: `toOpenAiChat(context, { provider })` gives them back to it.
 *
 * @throws {InvalidArgumentError} `reply` has no choice with a message.
 * @example
 * const reply = await openai.chat.completions.create({ model, messages: toOpenAiChat(context), tools });
 * await session.append(fromOpenAiChat(reply));
 */
export function fromOpenAiChat(reply: object, options: ReplyOptions = {}): EntryInput {
  checkArgument("options", options, REPLY_OPTIONS);
  const { provider = "openai" } = options;
  const body = isObject(reply) ? reply : {};
  const choice: unknown = Array.isArray(body["choices"]) ? body["choices"][0] : undefined;
  const message = isObject(choice) ? choice["message"] : undefined;
  if (!isObject(choice) || !isObject(message)) throw notAReply(reply, "a chat completion with choices[0].message");
  const content = [...toThinking(message, provider), ...toText(message), ...toImages(message), ...toCalls(message, provider)];
  const reason = textIn(choice, "finish_reason");
  return assistantMessage(content, {
    provider,
    model: textIn(body, "model"),
    usage: isObject(body["usage"]) ? body["usage"] : undefined,
    stopReason: reason === undefined ? undefined : stopReasonOf(reason),
    responseId: textIn(body, "id"),
  });
}

function toThinking(message: JsonObject, provider: string): readonly AssistantBlock[] {
  const field = (["reasoning_content", "reasoning"] as const).find((name) => textIn(message, name) !== undefined);
  const details = message["reasoning_details"];
  const thinking = field === undefined ? "" : (textIn(message, field) ?? "");
  const hasDetails = Array.isArray(details) && details.length > 0;
  if (thinking === "" && !hasDetails) return [];
  const options = withoutUndefined({ field, reasoning_details: hasDetails ? details : undefined });
  return [{ type: "thinking", thinking, providerOptions: { [provider]: options } }];
}

function toText(message: JsonObject): readonly AssistantBlock[] {
  const { content, refusal } = message;
  const said = Array.isArray(content) ? content.flatMap(toPart) : textBlocks(content);
  return [...said, ...textBlocks(refusal, { refusal: true })];
}

// Mistral's reasoning models return parts.
function toPart(part: unknown): readonly AssistantBlock[] {
  if (!isObject(part)) return [];
  return part["type"] === "refusal" ? textBlocks(part["refusal"], { refusal: true }) : textBlocks(part["text"]);
}

// OpenRouter's form of generated images.
function toImages({ images }: JsonObject): readonly AssistantBlock[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image: unknown) => {
    const url = isObject(image) && isObject(image["image_url"]) ? image["image_url"]["url"] : undefined;
    return typeof url === "string" ? toDataBlock(url) : [];
  });
}

function toCalls({ tool_calls: calls }: JsonObject, provider: string): readonly AssistantBlock[] {
  return Array.isArray(calls) ? calls.filter(isObject).flatMap((call) => toCall(call, provider)) : [];
}

function toCall(call: JsonObject, provider: string): readonly AssistantBlock[] {
  const { function: called, custom, extra_content: extra } = call;
  const id = textIn(call, "id") ?? "call";
  const given = isObject(called) ? called : custom;
  const name = isObject(given) ? textIn(given, "name") : undefined;
  if (!isObject(given) || name === undefined) return [];
  const args = isObject(called) ? parseArguments(called["arguments"]) : { input: given["input"] ?? "" };
  const options = isObject(extra) ? { providerOptions: toCallOptions(extra, provider) } : {};
  return [{ type: "toolCall", id, name, arguments: args, ...options }];
}

// Google's signature has the name of the AI SDK, so that either can send it back.
function toCallOptions(extra: JsonObject, provider: string): Readonly<Record<string, JsonObject>> {
  const google = extra["google"];
  const signature = isObject(google) ? textIn(google, "thought_signature") : undefined;
  return signature === undefined ? { [provider]: { extra_content: extra } } : { google: { thoughtSignature: signature } };
}
