import {
  isObject,
  type JsonObject,
  objectAt,
  objectsAt,
  parseArguments,
  parseTime,
  stringAt,
  toOwnUsage,
  without,
} from "@bough/session-core/wire";
import { foreignPayload, hiddenPayload, messagePayload, notePayload, resultPayload, userPayload, withOthers } from "../source/payloads.js";
import { callsIn, hasEnded } from "./history.js";
import { callBlock, isErrorAnswer, isResponse, signatureOf, textOf, toBlock, toParts, toResultContent } from "./parts.js";

/** A payload of a message; the number of it among those of the message, from 0; the call that it answers. */
export interface MessagePayload {
  readonly part: number;
  readonly payload: JsonObject;
  readonly createdAtMs?: number | undefined;
  readonly answers?: string;
}

/**
 * The payloads of a message of Gemini CLI. The results of a reply's calls are in the reply itself, or in a later user message, or in
 * both: only the first one that is read counts.
 *
 * @param isAnswered returns true if a call of the session has a result.
 */
export function toPayloads(record: JsonObject, isAnswered: (callId: string) => boolean): readonly MessagePayload[] {
  const [first, ...more] = knownPayloads(record, isAnswered);
  if (first?.payload.type !== "message") return first === undefined ? [] : [first, ...more];
  return [{ ...first, payload: withOthers(first.payload, "gemini", without(record, KNOWN)) }, ...more];
}

const KNOWN = ["id", "timestamp", "type", "content", "displayContent", "toolCalls", "thoughts", "tokens", "model"];

function knownPayloads(record: JsonObject, isAnswered: (callId: string) => boolean): readonly MessagePayload[] {
  switch (record.type) {
    case "user":
      return userPayloads(record, isAnswered);
    case "gemini":
      return replyPayloads(record, isAnswered);
    case "info":
    case "warning":
    case "error":
      return [{ part: 0, payload: notePayload(`gemini.${record.type}`, without(record, ["id", "timestamp", "type"])) }];
  }
  return [{ part: 0, payload: foreignPayload(record) }];
}

function userPayloads(record: JsonObject, isAnswered: (callId: string) => boolean): readonly MessagePayload[] {
  const parts = toParts(record.content);
  const results = parts.filter(isResponse).flatMap((part, at) => {
    const answer = objectAt(part, "functionResponse") ?? {};
    const callId = stringAt(answer, "id") ?? stringAt(answer, "name") ?? "unknown";
    return isAnswered(callId) ? [] : [{ part: at + 1, payload: toResult(callId, stringAt(answer, "name"), [part], {}), answers: callId }];
  });
  const rest = parts.filter((part) => !isResponse(part));
  if (rest.length === 0 && parts.length > 0) return results;
  return [...results, { part: 0, payload: toPrompt(record, rest) }];
}

const INJECTED = /^\s*(?:<session_context>|<hook_context>|This is the Gemini CLI\. We are setting up the context)/;

function toPrompt(record: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const content = parts.map(toBlock);
  if (INJECTED.test(textOf(parts))) return hiddenPayload("gemini.context", content);
  // The text that the user typed, if the program added files or other texts to it.
  const typed = textOf(toParts(record.displayContent));
  return userPayload(content, typed === "" || typed === textOf(parts) ? {} : { displayContent: record.displayContent });
}

function replyPayloads(record: JsonObject, isAnswered: (callId: string) => boolean): readonly MessagePayload[] {
  const parts = toParts(record.content);
  const calls = callsIn(record);
  const called = parts.filter((part) => isObject(part.functionCall));
  const content = [
    ...(parts.some((part) => part.thought === true) ? [] : toThoughts(record)),
    ...parts.filter((part) => !isObject(part.functionCall)).map(toBlock),
    ...calls.map((call, at) => recordedCall(call, idOf(record, call, at), called)),
    ...called
      .filter((part) => !calls.some(({ id }) => id === objectAt(part, "functionCall")?.id))
      .map((part, at) => callBlock(part, idOf(record, {}, calls.length + at))),
  ];
  const model = stringAt(record, "model");
  const tokens = objectAt(record, "tokens");
  const named = model === undefined ? {} : { provider: "google", model };
  return [
    { part: 0, payload: messagePayload({ role: "assistant", content, ...named, usage: tokens && toUsage(tokens) }) },
    ...calls.flatMap((call, at) => recordedResult(call, idOf(record, call, at), at + 1, isAnswered)),
  ];
}

function toThoughts(record: JsonObject): readonly JsonObject[] {
  return objectsAt(record, "thoughts").map((thought) => {
    const [subject, description] = [stringAt(thought, "subject") ?? "", stringAt(thought, "description") ?? ""];
    const thinking = subject === "" ? description : `**${subject}**\n\n${description}`.trim();
    return { ...without(thought, ["subject", "description"]), type: "thinking", thinking };
  });
}

function recordedCall(call: JsonObject, id: string, called: readonly JsonObject[]): JsonObject {
  const part = called.find((candidate) => objectAt(candidate, "functionCall")?.id === id) ?? {};
  return { type: "toolCall", id, name: stringAt(call, "name") ?? "unknown", arguments: parseArguments(call.args), ...signatureOf(part) };
}

function idOf(record: JsonObject, call: JsonObject, at: number): string {
  return stringAt(call, "id") ?? `${String(record.id)}:call-${at}`;
}

/** The result of a call; none while the call runs. */
function recordedResult(call: JsonObject, callId: string, part: number, isAnswered: (id: string) => boolean): readonly MessagePayload[] {
  const parts = toParts(call.result);
  if (isAnswered(callId) || (parts.length === 0 && !hasEnded(call))) return [];
  const details = without(call, ["id", "name", "args", "result", "timestamp"]);
  const payload = toResult(callId, stringAt(call, "name"), parts, details);
  return [{ part, payload, createdAtMs: parseTime(call.timestamp), answers: callId }];
}

function toResult(toolCallId: string, toolName: string | undefined, parts: readonly JsonObject[], details: JsonObject): JsonObject {
  const shown = stringAt(details, "resultDisplay");
  const blocks = toResultContent(parts);
  const content = blocks.length > 0 || shown === undefined ? blocks : [{ type: "text", text: shown }];
  const isError = details.status === "error" || details.status === "cancelled" || isErrorAnswer(parts);
  return resultPayload({ toolCallId, toolName, content, isError, details });
}

/** Gemini CLI's names of Google's counts; the count of the prompt includes the cached tokens. */
function toUsage(tokens: JsonObject): JsonObject {
  return toOwnUsage(
    {
      promptTokenCount: tokens.input,
      candidatesTokenCount: tokens.output,
      cachedContentTokenCount: tokens.cached,
      thoughtsTokenCount: tokens.thoughts,
      toolUsePromptTokenCount: tokens.tool,
      totalTokenCount: tokens.total,
    },
    "tokens",
  );
}
