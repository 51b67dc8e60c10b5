import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../source/narrow.js";
import { replyBlocks } from "./blocks.js";
import { usageOf } from "./usage.js";

/** The model that Claude Code names for texts it wrote itself. */
const SYNTHETIC = "<synthetic>";

/**
 * The message of one reply, from all its lines in the order of the file. The reason it stopped is that of the last
 * line that has one; while a reply is being written it is null and stays out.
 */
export function replyMessage(lines: readonly JsonObject[]): JsonObject {
  const messages = lines.map((line) => objectAt(line, "message") ?? {});
  const usages = messages.map((message) => objectAt(message, "usage")).filter((usage) => usage !== undefined);
  const costs = lines.flatMap((line) => numberAt(line, "costUSD") ?? []).filter((cost) => cost >= 0);
  return compact({
    role: "assistant",
    content: onceEach(messages.flatMap((message) => replyBlocks(message.content))),
    ...modelOf(messages),
    usage: usageOf(usages, costs),
    ...endOf(lines, messages),
    responseId: firstText(messages, "id"),
  });
}

// A call that is written twice would be refused by the provider with the whole context.
function onceEach(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const calls = new Set<unknown>();
  return blocks.filter((block) => {
    if (block.type !== "toolCall") return true;
    if (calls.has(block.id)) return false;
    calls.add(block.id);
    return true;
  });
}

function modelOf(messages: readonly JsonObject[]): JsonObject {
  const model = firstText(messages, "model");
  return model === undefined || model === SYNTHETIC ? {} : { provider: "anthropic", model };
}

function endOf(lines: readonly JsonObject[], messages: readonly JsonObject[]): JsonObject {
  if (lines.some((line) => line.isApiErrorMessage === true)) {
    return {
      stopReason: "error",
      errorMessage: messages
        .map(textOf)
        .filter((text) => text !== "")
        .join("\n"),
    };
  }
  const reason = messages.map((message) => stringAt(message, "stop_reason")).findLast((text) => text !== undefined);
  return reason === undefined ? {} : { stopReason: stopReasonOf(reason) };
}

function stopReasonOf(reason: string): string {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
      return "stop";
    case "max_tokens":
      return "length";
    case "tool_use":
      return "toolUse";
    case "refusal":
      return "error";
  }
  return reason;
}

function textOf(message: JsonObject): string {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: unknown) => (isObject(block) ? (stringAt(block, "text") ?? "") : "")).join("");
}

function firstText(messages: readonly JsonObject[], key: string): string | undefined {
  return messages.map((message) => stringAt(message, key)).find((text) => text !== undefined && text !== "");
}

function compact(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined));
}
