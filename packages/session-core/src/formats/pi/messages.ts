import { isObject, type JsonObject, objectAt, stringAt, without, withoutNulls } from "../../source/narrow.js";
import { assistantContentOf, contentOf, SCRATCH } from "./blocks.js";
import { executionOf, pythonExecutionOf } from "./executions.js";
import { fileMentionOf } from "./file-mention.js";
import { unfilled } from "./marks.js";
import { withUsage } from "./usage.js";

/** Makes a message of ours from one of pi's or oh-my-pi's; undefined when its shape does not allow it. */
type ReadMessage = (message: JsonObject) => JsonObject | undefined;

const READERS: ReadonlyMap<string, ReadMessage> = new Map<string, ReadMessage>([
  ["system", systemMessageOf],
  ["user", (message) => withContent(message, contentOf(message.content))],
  ["assistant", assistantMessageOf],
  ["toolResult", toolResultOf],
  ["bashExecution", executionOf],
  ["custom", (message) => customMessageOf(message, "custom")],
  // pi's name for `custom` before version 3
  ["hookMessage", (message) => customMessageOf(message, "hookMessage")],
  // the rest is oh-my-pi's alone
  ["developer", (message) => customMessageOf(message, "developer")],
  ["pythonExecution", pythonExecutionOf],
  ["fileMention", fileMentionOf],
]);

/** A message of ours from the `message` of a record; undefined when its role or its shape is not known. */
export function messageOf(given: unknown): JsonObject | undefined {
  if (!isObject(given)) return undefined;
  const message = unfilled(without(given, SCRATCH));
  return READERS.get(stringAt(message, "role") ?? "")?.(message);
}

function withContent(message: JsonObject, content: unknown): JsonObject | undefined {
  return content === undefined ? undefined : { ...message, content };
}

function systemMessageOf(message: JsonObject): JsonObject | undefined {
  const content = contentOf(message.content ?? "");
  const isText = typeof content === "string" || content?.every((block) => block.type === "text") === true;
  return isText ? withContent(message, content) : undefined;
}

function assistantMessageOf(message: JsonObject): JsonObject | undefined {
  const plain = withoutNulls(message, ["provider", "model", "stopReason", "errorMessage"]);
  return withContent(withUsage(plain), assistantContentOf(message.content));
}

function toolResultOf(message: JsonObject): JsonObject | undefined {
  if (typeof message.toolCallId !== "string") return undefined;
  const result = withoutNulls(message, ["toolName", "isError"]);
  const details = objectAt(message, "details");
  const isScratched = details !== undefined && SCRATCH.some((key) => key in details);
  return withContent(isScratched ? { ...result, details: without(details, SCRATCH) } : result, contentOf(message.content));
}

function customMessageOf(message: JsonObject, customType: string): JsonObject | undefined {
  const custom = { customType, ...withoutNulls(message, ["customType", "display"]), role: "custom" };
  return withContent(custom, contentOf(message.content));
}
