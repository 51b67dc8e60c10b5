import { isObject, type JsonObject, objectAt, stringAt, without, withoutNulls } from "@bough/session-core/wire";
import { programReads } from "../source/payloads.js";
import { SCRATCH, toAssistantContent, toContent } from "./blocks.js";
import { removeFilled } from "./marks.js";

/** Converts a message of pi or oh-my-pi; undefined if it has an unexpected shape. */
type ReadMessage = (message: JsonObject) => JsonObject | undefined;

const READERS: ReadonlyMap<string, ReadMessage> = new Map<string, ReadMessage>([
  ["system", toSystemMessage],
  ["user", (message) => withContent(message, toContent(message.content))],
  ["assistant", toAssistantMessage],
  ["toolResult", toToolResult],
  ["bashExecution", toBashExecution],
  ["custom", (message) => toCustomMessage(message, "custom")],
  // pi's name for `custom` before version 3
  ["hookMessage", (message) => toCustomMessage(message, "hookMessage")],
  // only in oh-my-pi
  ["developer", (message) => toCustomMessage(message, "developer")],
  ["pythonExecution", toPythonExecution],
  ["fileMention", toFileMention],
]);

/** Converts the `message` of a record; undefined if its role is unknown or its shape unexpected. */
export function toMessage(source: unknown): JsonObject | undefined {
  if (!isObject(source)) return undefined;
  const message = removeFilled(without(source, SCRATCH));
  return READERS.get(stringAt(message, "role") ?? "")?.(message);
}

function withContent(message: JsonObject, content: unknown): JsonObject | undefined {
  if (content === undefined) return undefined;
  return content === message.content ? message : { ...message, content };
}

function toSystemMessage(message: JsonObject): JsonObject | undefined {
  const content = toContent(message.content ?? "");
  const isText = typeof content === "string" || content?.every((block) => block.type === "text") === true;
  return isText ? withContent(message, content) : undefined;
}

function toAssistantMessage(message: JsonObject): JsonObject | undefined {
  const plain = withoutNulls(message, ["provider", "model", "stopReason", "errorMessage"]);
  return withContent(withUsage(plain), toAssistantContent(message.content));
}

function toToolResult(message: JsonObject): JsonObject | undefined {
  if (typeof message.toolCallId !== "string") return undefined;
  const result = withoutNulls(message, ["toolName", "isError"]);
  const details = objectAt(message, "details");
  const isScratched = details !== undefined && SCRATCH.some((key) => key in details);
  return withContent(isScratched ? { ...result, details: without(details, SCRATCH) } : result, toContent(message.content));
}

function toCustomMessage(message: JsonObject, customType: string): JsonObject | undefined {
  const custom = { customType, ...withoutNulls(message, ["customType", "display"]), role: "custom" };
  return withContent(custom, toContent(message.content));
}

const FLAGS = ["cancelled", "truncated", "excludeFromContext"];

/** A command that the user ran; undefined if the command is missing. */
function toBashExecution(message: JsonObject): JsonObject | undefined {
  const { command, output, exitCode } = message;
  if (typeof command !== "string") return undefined;
  const flags = FLAGS.filter((key) => message[key] !== undefined).map((key) => [key, Boolean(message[key])] as const);
  const plain = exitCode === null || typeof exitCode === "number" ? message : without(message, ["exitCode"]);
  return { ...plain, ...Object.fromEntries(flags), output: typeof output === "string" ? output : "" };
}

/** oh-my-pi's Python cell: an execution whose command is the code. */
function toPythonExecution(message: JsonObject): JsonObject | undefined {
  return toBashExecution({ ...without(message, ["code"]), role: "bashExecution", command: message.code, language: "python" });
}

/**
 * oh-my-pi's files that the user mentioned with @: a custom message with their texts and images, which oh-my-pi has read. The other fields
 * of each file are kept in `details.files`.
 */
function toFileMention(message: JsonObject): JsonObject | undefined {
  const { files } = message;
  if (!Array.isArray(files) || !files.every(isObject)) return undefined;
  return {
    ...without(message, ["files"]),
    role: "custom",
    customType: "fileMention",
    content: toContent(files.flatMap(toFileBlocks)),
    details: { files: files.map((file) => without(file, ["content", "image"])) },
    ...programReads(files.map(({ path }) => ({ path }))),
  };
}

function toFileBlocks(file: JsonObject): readonly unknown[] {
  const text = { type: "text", text: `<file path="${stringAt(file, "path") ?? ""}">\n${stringAt(file, "content") ?? ""}\n</file>` };
  return file.image === undefined || file.image === null ? [text] : [text, file.image];
}

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

/**
 * `owner` with a valid `usage`. Invalid numbers (null for NaN, a negative cost) would make the whole message invalid, so they
 * move to `usage.unusable`.
 */
export function withUsage(owner: JsonObject): JsonObject {
  const { usage } = owner;
  if (usage === undefined) return owner;
  if (!isObject(usage)) return without(owner, ["usage"]);
  const usable = usableUsage(usage);
  return usable === usage ? owner : { ...owner, usage: usable };
}

function usableUsage(usage: JsonObject): JsonObject {
  const unusable = COUNTS.filter((key) => usage[key] !== undefined && !isCount(usage[key]));
  if (usage.cost !== undefined && !isCost(usage.cost)) unusable.push("cost");
  if (unusable.length === 0) return usage;
  return { ...without(usage, unusable), unusable: Object.fromEntries(unusable.map((key) => [key, usage[key]])) };
}

function isCost(cost: unknown): boolean {
  return isObject(cost) && (cost.total === undefined || isCount(cost.total));
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
