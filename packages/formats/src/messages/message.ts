import { InvalidEntryError, normalizeUsage, stopReasonOf } from "@bough/session-core";
import { isObject, type JsonObject, parseArguments, parseTime, stringAt, without, withoutUndefined } from "@bough/session-core/wire";
import { callBlock, optionsOf, toBlock, toParts, toResult } from "./parts.js";

type Role = "system" | "user" | "assistant" | "tool";

const ROLES: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["human", "user"],
  ["assistant", "assistant"],
  ["ai", "assistant"],
  ["tool", "tool"],
  ["function", "tool"],
]);

/** True if a value has the shape of a message of OpenAI, Anthropic or the AI SDK: a role, and a content, parts or calls. */
export function isMessage(value: unknown): value is JsonObject {
  if (!isObject(value) || !ROLES.has(value.role)) return false;
  const { content, parts } = value;
  if (typeof content === "string" || isPartList(content) || isPartList(parts)) return true;
  return value.role === "assistant" && (Array.isArray(value.tool_calls) || isObject(value.function_call));
}

function isPartList(parts: unknown): boolean {
  return Array.isArray(parts) && parts.every((part) => typeof part === "string" || (isObject(part) && typeof part.type === "string"));
}

/** The messages of Bough in a message, in order: the results of tools are messages of their own. */
export function toMessages(message: JsonObject): readonly JsonObject[] {
  const parts = Array.isArray(message.parts) ? message.parts : toParts(message.content);
  switch (ROLES.get(message.role)) {
    case "system":
      return [{ role: "system", content: textOf(parts) }];
    case "user":
      return userMessages(parts);
    case "assistant":
      return Array.isArray(message.parts) ? splitSteps(parts).flatMap(stepMessages) : replyMessages(message, parts);
    case "tool":
      return toolMessages(message, parts);
    case undefined:
      return [];
  }
}

function textOf(parts: readonly unknown[]): string {
  return parts.flatMap((part) => (typeof part === "string" ? part : isObject(part) ? (stringAt(part, "text") ?? []) : [])).join("\n");
}

function userMessages(parts: readonly unknown[]): readonly JsonObject[] {
  const results = parts.filter(isToolResult).map(resultOf);
  const rest = parts.filter((part) => !isToolResult(part));
  return results.length > 0 && rest.length === 0
    ? results
    : [...results, { role: "user", content: rest.map((part) => toBlock(part, false)) }];
}

function replyMessages(message: JsonObject, parts: readonly unknown[]): readonly JsonObject[] {
  const thinking = stringAt(message, "reasoning_content") ?? stringAt(message, "reasoning");
  const content = [
    ...(thinking === undefined || thinking === "" ? [] : [{ type: "thinking", thinking }]),
    ...parts.filter((part) => !isToolResult(part)).map((part) => toBlock(part, true)),
    ...(typeof message.refusal === "string" ? [{ type: "text", text: message.refusal, refusal: true }] : []),
    ...(Array.isArray(message.tool_calls) ? message.tool_calls : []).map(openAiCall),
    ...(isObject(message.function_call) ? [openAiCall({ id: message.function_call.name, function: message.function_call })] : []),
  ];
  return [{ role: "assistant", content, ...replyFields(message) }, ...parts.filter(isToolResult).map(resultOf)];
}

/** The members of a reply from a whole answer of a provider, without its content. */
function replyFields(message: JsonObject): JsonObject {
  const [model, provider] = [stringAt(message, "model"), stringAt(message, "provider")];
  const reason = stringAt(message, "stop_reason") ?? stringAt(message, "finish_reason") ?? stringAt(message, "stopReason");
  const usage = isObject(message.usage) ? usageOf(message.usage) : undefined;
  return withoutUndefined({ provider, model, usage, stopReason: reason === undefined ? undefined : stopReasonOf(reason) });
}

function openAiCall(call: unknown): JsonObject {
  if (!isObject(call)) return toBlock(call, true);
  const called = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : undefined;
  const name = called === undefined ? undefined : stringAt(called, "name");
  if (called === undefined || name === undefined) return toBlock(call, true);
  const args = called === call.custom ? { input: called.input ?? "" } : parseArguments(called.arguments);
  return { type: "toolCall", id: stringAt(call, "id") ?? name, name, arguments: args };
}

function toolMessages(message: JsonObject, parts: readonly unknown[]): readonly JsonObject[] {
  const results = parts.filter(isToolResult);
  if (results.length > 0) return results.map(resultOf);
  const name = stringAt(message, "name") ?? stringAt(message, "tool_name");
  const toolCallId = stringAt(message, "tool_call_id") ?? stringAt(message, "toolCallId") ?? name ?? "unknown";
  const { content } = toResult(message.content);
  return [withoutUndefined({ role: "toolResult", toolCallId, toolName: name, content, isError: message.is_error === true })];
}

/** A result in a part: Anthropic's in a user message, the AI SDK's in a message of a tool or in a reply. */
function isToolResult(part: unknown): part is JsonObject {
  if (!isObject(part)) return false;
  return (
    (part.type === "tool_result" && typeof part.tool_use_id === "string") ||
    (part.type === "tool-result" && typeof part.toolCallId === "string")
  );
}

function resultOf(part: JsonObject): JsonObject {
  const { content, isError } = toResult(part.content ?? part.output ?? part.result);
  return withoutUndefined({
    role: "toolResult",
    toolCallId: stringAt(part, "tool_use_id") ?? stringAt(part, "toolCallId") ?? "unknown",
    toolName: stringAt(part, "toolName"),
    content,
    isError: isError || part.is_error === true || part.isError === true,
    ...optionsOf(part),
  });
}

/** The parts of each step of an answer on a chat page; at least one step. */
function splitSteps(parts: readonly unknown[]): readonly (readonly unknown[])[] {
  const steps: unknown[][] = [[]];
  for (const part of parts) {
    const isStart = isObject(part) && part.type === "step-start";
    if (!isStart) steps.at(-1)?.push(part);
    else if ((steps.at(-1) ?? []).length > 0) steps.push([]);
  }
  return steps;
}

function stepMessages(parts: readonly unknown[]): readonly JsonObject[] {
  const calls = parts.map(toPageCall);
  const content = parts.map((part, at) => callBlock(calls[at] ?? {}) ?? toBlock(part, true));
  return [{ role: "assistant", content }, ...calls.flatMap((call) => (call === undefined ? [] : pageResult(call)))];
}

/** A call on a chat page: `tool-NAME` or `dynamic-tool`, or the invocation of the AI SDK 4. */
function toPageCall(part: unknown): JsonObject | undefined {
  if (!isObject(part) || typeof part.type !== "string") return undefined;
  if (part.type === "tool-invocation" && isObject(part.toolInvocation)) return part.toolInvocation;
  if (part.type === "dynamic-tool") return part;
  return part.type.startsWith("tool-") && typeof part.toolCallId === "string"
    ? { ...part, toolName: part.type.slice("tool-".length) }
    : undefined;
}

const STATES_WITH_RESULT = new Set<unknown>(["output-available", "output-error", "output-denied", "result"]);

function pageResult(call: JsonObject): readonly JsonObject[] {
  if (!STATES_WITH_RESULT.has(call.state)) return [];
  const output = call.state === "output-error" ? call.errorText : (call.output ?? call.result);
  const { isError, ...result } = resultOf({
    ...call,
    content: output ?? (call.state === "output-denied" ? "The user denied this call." : undefined),
  });
  return [{ ...result, isError: isError === true || call.state === "output-error" || call.state === "output-denied" }];
}

function usageOf(usage: JsonObject): JsonObject | undefined {
  try {
    return normalizeUsage(usage);
  } catch (error) {
    // Counts of no known name: kept with the other members of the message.
    if (error instanceof InvalidEntryError) return undefined;
    throw error;
  }
}

const ALWAYS_READ = [
  "id",
  "role",
  "parts",
  "tool_calls",
  "function_call",
  "refusal",
  "reasoning_content",
  "reasoning",
  "model",
  "provider",
];
const REASONS = ["stop_reason", "finish_reason", "stopReason"];
const TOOL_MEMBERS = ["tool_call_id", "toolCallId", "name", "tool_name", "is_error"];

/** The members of a message that no other function reads. */
export function otherMembers(message: JsonObject): JsonObject {
  const { role, content, parts, type, usage } = message;
  const isReply = ROLES.get(role) === "assistant";
  // Old versions of the AI SDK write the text of the parts again.
  const isContentRead = !Array.isArray(parts) || content === "" || content === textOf(parts);
  return without(message, [
    ...(isReply ? [...ALWAYS_READ, ...REASONS] : ["id", "role", "parts"]),
    ...(ROLES.get(role) === "tool" ? TOOL_MEMBERS : []),
    ...(isContentRead ? ["content"] : []),
    ...(type === "message" ? ["type"] : []),
    ...(isReply && isObject(usage) && usageOf(usage) !== undefined ? ["usage"] : []),
    ...TIMES,
  ]);
}

const TIMES = ["timestamp", "createdAt", "created_at", "created", "time"];

/** The time of a message or a conversation, under any of its usual names; a small number is in seconds. */
export function timeOf(record: JsonObject): number | undefined {
  for (const name of TIMES) {
    const value = record[name];
    const time = parseTime(typeof value === "number" && value < 1e11 ? value * 1000 : value);
    if (time !== undefined) return time;
  }
  return undefined;
}
