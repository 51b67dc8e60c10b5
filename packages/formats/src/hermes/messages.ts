import { isObject, type JsonObject, parseArguments, parseJson, parseJsonObject, stringAt } from "@bough/session-core/wire";
import {
  foreignPayload,
  hiddenPayload,
  messagePayload,
  replyPayload,
  resultPayload,
  toMediaContent,
  userPayload,
} from "../source/payloads.js";

/** A text, or blocks. */
export type Content = ReturnType<typeof toMediaContent>;

/** The beginning of lists of parts in newer versions. */
const JSON_PREFIX = "\0json:";

/** A row of `messages` with this content. `names`: gets the names of the tools that it calls, by the ids of the calls. */
export function toPayload(message: JsonObject, content: Content, model: string | undefined, names: Map<string, string>): JsonObject {
  switch (message.role) {
    case "user":
      return userPayload(content);
    case "assistant":
      return replyPayload({ content: replyBlocks(message, content, names), model, stopReason: stringAt(message, "finish_reason") });
    case "tool": {
      const toolCallId = stringAt(message, "tool_call_id") ?? stringAt(message, "tool_name") ?? "unknown";
      return resultPayload({
        toolCallId,
        toolName: stringAt(message, "tool_name") ?? names.get(toolCallId),
        content,
        isError: isFailure(content),
      });
    }
    case "system":
      return typeof content === "string" ? messagePayload({ role: "system", content }) : hiddenPayload("hermes.system", content);
  }
  return foreignPayload(message, stringAt(message, "role"));
}

/** The content of a row: a text, or the JSON text of a list of parts. */
export function contentOf({ content }: JsonObject): Content {
  if (typeof content !== "string") return "";
  const json = content.startsWith(JSON_PREFIX) ? content.slice(JSON_PREFIX.length) : content.startsWith("[{") ? content : undefined;
  const value = json === undefined ? undefined : parseJson(json);
  if (typeof value === "string") return value;
  const isParts =
    Array.isArray(value) && value.every((part) => typeof part === "string" || (isObject(part) && typeof part.type === "string"));
  return isParts ? toMediaContent(value) : content;
}

/** Tools return a JSON object with `error`, if they failed. */
function isFailure(content: unknown): boolean {
  const result = typeof content === "string" && content.startsWith("{") ? parseJsonObject(content) : undefined;
  return result !== undefined && ((typeof result.error === "string" && result.error !== "") || result.success === false);
}

function replyBlocks(message: JsonObject, content: Content, names: Map<string, string>): readonly JsonObject[] {
  const thinking = stringAt(message, "reasoning_content") || stringAt(message, "reasoning") || "";
  const texts = typeof content !== "string" ? content : content === "" ? [] : [{ type: "text", text: content }];
  const given: unknown = typeof message.tool_calls === "string" ? parseJson(message.tool_calls) : undefined;
  const calls = Array.isArray(given) ? given.filter(isObject).map((call) => toCall(call, names)) : [];
  return [...(thinking === "" ? [] : [{ type: "thinking", thinking, ...detailsOf(message) }]), ...texts, ...calls];
}

/** Members that providers want back unchanged with the thinking. */
function detailsOf(message: JsonObject): JsonObject {
  const names = ["reasoning_details", "codex_reasoning_items", "codex_message_items"];
  const details = names.flatMap((name) => (stringAt(message, name) ? [[name, message[name]] as const] : []));
  return details.length === 0 ? {} : { hermes: Object.fromEntries(details) };
}

function toCall(call: JsonObject, names: Map<string, string>): JsonObject {
  const called = isObject(call.function) ? call.function : call;
  const [id, name] = [stringAt(call, "id") ?? stringAt(call, "call_id") ?? "unknown", stringAt(called, "name") ?? "unknown"];
  names.set(id, name);
  return { type: "toolCall", id, name, arguments: parseArguments(called.arguments) };
}
