import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  parseArguments,
  parseTime,
  stringAt,
  textsAt,
  toForeignBlock,
  without,
  withoutUndefined,
} from "@bough/session-core/wire";
import { compactionPayload, messagePayload, resultPayload, textBlocks, userPayload, withOthers } from "../source/payloads.js";
import { type RequestEntry, readResponse } from "./response.js";

/** The model of a request: `copilot/gpt-5` is the model gpt-5 of Copilot. */
export function modelOf(request: JsonObject): { readonly provider?: string; readonly modelId: string } | undefined {
  const id = stringAt(request, "modelId") ?? "";
  const [, vendor, model] = /^([^/]+)\/(.+)$/.exec(id) ?? [];
  if (vendor === undefined || model === undefined) return id === "" ? undefined : { modelId: id };
  return { provider: vendor === "copilot" ? "github-copilot" : vendor, modelId: model };
}

/** The prompt of a request. Members that may change later (votes, edits of files) are not part of it. */
export function toPrompt(request: JsonObject): JsonObject {
  const message = objectAt(request, "message");
  const parts: readonly unknown[] = Array.isArray(message?.parts) ? message.parts : [];
  const joined = parts.map((part) => (isObject(part) ? (stringAt(part, "text") ?? "") : "")).join("");
  const content = (message && stringAt(message, "text")) ?? stringAt(request, "message") ?? joined;
  const agent = stringAt(objectAt(request, "agent") ?? {}, "id");
  const command = stringAt(objectAt(request, "slashCommand") ?? {}, "name");
  return withOthers(userPayload(content), "vscode", withoutUndefined({ variableData: request.variableData, agent, command }));
}

/** True if the reply to a request is complete: a later import of an incomplete one would find another text in its place. */
export function isComplete(request: JsonObject): boolean {
  const state = numberAt(objectAt(request, "modelState") ?? {}, "value");
  return request.result !== undefined || request.isCanceled === true || (state !== undefined && state !== PENDING);
}

const PENDING = 0;
const CANCELLED = 2;

/**
 * The reply to a request. Each round of tool calls is a reply with its results; a reply without rounds is made of the parts that the
 * screen shows. A summary follows the round that is the last one in it.
 */
export function toReplies(request: JsonObject): readonly RequestEntry[] {
  const metadata = objectAt(objectAt(request, "result") ?? {}, "metadata") ?? {};
  const rounds = objectsAt(metadata, "toolCallRounds");
  const results = objectAt(metadata, "toolCallResults") ?? {};
  const summary = objectAt(metadata, "summary");
  const own = new Map(rounds.map((round) => [stringAt(round, "id") ?? "", stringAt(round, "summary") ?? ""]));
  const [last, text] = [stringAt(summary ?? {}, "toolCallRoundId") ?? "", stringAt(summary ?? {}, "text") ?? ""];
  const isEarlier = text !== "" && !own.has(last);
  if (text !== "" && own.has(last)) own.set(last, text);
  const entries = rounds.flatMap((round, at) => {
    const id = stringAt(round, "id") ?? "";
    const written = own.get(id) ?? "";
    return [...toRound(round, `r${at}`, results), ...(written === "" ? [] : [toSummary(`s${at}`, written, id, metadata)])];
  });
  const shown = rounds.length === 0 ? readResponse(request.response) : [];
  const all = [...(isEarlier ? [toSummary("s", text, last, metadata)] : []), ...entries, ...shown];
  return finish(request, metadata, all);
}

function toRound(round: JsonObject, name: string, results: JsonObject): readonly RequestEntry[] {
  const thinking = objectAt(round, "thinking");
  const calls = objectsAt(round, "toolCalls");
  const createdAtMs = parseTime(round.timestamp);
  const content = [
    ...(thinking === undefined ? [] : [toThinking(thinking)]),
    ...textBlocks(stringAt(round, "response")),
    ...calls.map(toCall),
  ];
  const rest = without(round, ["id", "response", "toolCalls", "thinking", "timestamp", "summary"]);
  const reply = messagePayload({ role: "assistant", content, stopReason: calls.length > 0 ? "toolUse" : "stop" });
  return [
    { name, createdAtMs, round: stringAt(round, "id"), payload: withOthers(reply, "vscode", rest) },
    ...calls.flatMap((call, at): readonly RequestEntry[] => {
      const id = stringAt(call, "id");
      const result = id !== undefined && Object.hasOwn(results, id) ? objectAt(results, id) : undefined;
      return id === undefined || result === undefined
        ? []
        : [{ name: `${name}:${at}`, createdAtMs, payload: toResult(id, stringAt(call, "name"), result) }];
    }),
  ];
}

function toThinking(thinking: JsonObject): JsonObject {
  const text = stringAt(thinking, "text") ?? textsAt(thinking, "text").join("\n");
  const rest = without(thinking, ["text", "encrypted", "type"]);
  return withoutUndefined({ ...rest, type: "thinking", thinking: text, thinkingSignature: stringAt(thinking, "encrypted") });
}

function toCall(call: JsonObject): JsonObject {
  const id = stringAt(call, "id");
  if (id === undefined) return { ...toForeignBlock(call) };
  const rest = without(call, ["id", "name", "arguments", "type"]);
  return {
    ...rest,
    type: "toolCall",
    id,
    name: stringAt(call, "name") ?? "unknown",
    arguments: parseArguments(call.arguments),
  };
}

function toResult(toolCallId: string, toolName: string | undefined, result: JsonObject): JsonObject {
  const parts = objectsAt(result, "content");
  const isText = parts.every((part) => typeof part.value === "string");
  const texts = parts.map((part) => textsIn(part.value).join("")).filter((text) => text !== "");
  const isError = result.hasError === true || result.isError === true;
  return resultPayload({ toolCallId, toolName, content: texts.join("\n"), isError, details: isText ? {} : result });
}

/** The texts of a result: a text, or a tree of elements with texts at its ends. Deeper ones are in the details. */
function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (!isObject(value) || depth > MOST_DEPTH) return [];
  const children: readonly unknown[] = Array.isArray(value.children) ? value.children : [];
  const own = stringAt(value, "text");
  return [
    ...(own === undefined ? [] : [value.lineBreakBefore === true || value.lineBreakBefore === 1 ? `\n${own}` : own]),
    ...(isObject(value.node) ? textsIn(value.node, depth + 1) : []),
    ...children.flatMap((child) => textsIn(child, depth + 1)),
  ];
}

const MOST_DEPTH = 200;

function toSummary(name: string, summary: string, summarizes: string, metadata: JsonObject): RequestEntry {
  return { name, summarizes, payload: compactionPayload({ summary, tokensBefore: metadata.promptTokens }) };
}

/** Adds the facts of the whole request to the last reply: usage, model, stop reason. */
function finish(request: JsonObject, metadata: JsonObject, entries: readonly RequestEntry[]): readonly RequestEntry[] {
  const failure = objectAt(objectAt(request, "result") ?? {}, "errorDetails");
  const isCancelled = request.isCanceled === true || numberAt(objectAt(request, "modelState") ?? {}, "value") === CANCELLED;
  const reason = isCancelled
    ? { stopReason: "aborted" }
    : failure === undefined
      ? {}
      : { stopReason: "error", errorMessage: messageOf(failure) };
  const isAnswered = entries.some(isReply);
  const empty: RequestEntry = { name: "r", payload: messagePayload({ role: "assistant", content: [] }) };
  const all = isAnswered || Object.keys(reason).length === 0 ? entries : [...entries, empty];
  const last = all.findLast(isReply);
  const chosen = modelOf(request);
  const model = stringAt(metadata, "resolvedModel") || chosen?.modelId;
  const named = model === undefined ? {} : withoutUndefined({ provider: chosen?.provider, model });
  return all.map((entry) => {
    const message = isReply(entry) ? objectAt(entry.payload, "message") : undefined;
    if (message === undefined) return entry;
    const more = entry === last ? { ...usageOf(request, metadata), ...reason } : {};
    return { ...entry, payload: { ...entry.payload, message: { ...message, ...named, ...more } } };
  });
}

function isReply({ payload }: RequestEntry): boolean {
  return objectAt(payload, "message")?.role === "assistant";
}

function messageOf(failure: JsonObject): string {
  return stringAt(failure, "message") ?? stringAt(failure, "code") ?? "the request failed";
}

/** Input tokens are those of the last request to the model, output tokens those of the whole reply. */
function usageOf(request: JsonObject, metadata: JsonObject): JsonObject {
  const usage = objectAt(objectAt(request, "result") ?? {}, "usage") ?? {};
  const input = numberAt(request, "promptTokens") ?? numberAt(metadata, "promptTokens") ?? numberAt(usage, "promptTokens");
  const output = numberAt(request, "completionTokens") ?? numberAt(metadata, "outputTokens") ?? numberAt(usage, "completionTokens");
  const counts = [["input", input] as const, ["output", output] as const].filter(([, count]) => count !== undefined && count >= 0);
  return counts.length === 0 ? {} : { usage: Object.fromEntries(counts) };
}
