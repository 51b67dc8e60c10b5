import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseArguments,
  stringAt,
  toForeignBlock,
  toOwnUsage,
  without,
} from "@bough/session-core/wire";
import {
  compactionPayload,
  hiddenPayload,
  type KeptEntries,
  messagePayload,
  resultPayload,
  textBlocks,
  thinkingBlocks,
  userPayload,
  withOthers,
} from "../source/payloads.js";

/** The provider of Copilot's models, as other programs name it. */
export const COPILOT_PROVIDER = "github-copilot";

/** Sources of a `user.message` that a person typed: here, or in a remote control. Others were written by the program. */
const TYPED = /^(?:|user|immediate-prompt|command-.*)$/;

/** True if a person typed a `user.message`. */
export function isTyped(data: JsonObject): boolean {
  return TYPED.test(stringAt(data, "source") ?? "") && data.isAutopilotContinuation !== true;
}

/**
 * The payload of a `user.message`; undefined if it has an unexpected shape. A text of the program (that of a skill, a result of a
 * background agent) becomes a custom message: in the context of the model, never a title.
 */
export function toUserPayload(data: JsonObject, isPrompt: boolean): JsonObject | undefined {
  const text = stringAt(data, "content");
  if (text === undefined) return undefined;
  const attachments: readonly unknown[] = Array.isArray(data.attachments) ? data.attachments : [];
  const images = imagesIn(attachments);
  const content = images.length === 0 ? text : [{ type: "text", text }, ...images];
  const others = attachments.filter((attachment) => toImage(attachment) === undefined);
  const rest = {
    ...without(data, ["content", ...(Array.isArray(data.attachments) ? ["attachments"] : []), ...same(data, "transformedContent", text)]),
    ...(others.length === 0 ? {} : { attachments: others }),
  };
  return withOthers(isPrompt ? userPayload(content) : hiddenPayload("copilot.injected", content), "copilot", rest);
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const IMAGE_TYPE = /^image\/[\w.+-]+$/;

function imagesIn(parts: readonly unknown[]): readonly JsonObject[] {
  return parts.map(toImage).filter((image) => image !== undefined);
}

/** An image block of an attachment or a part of a result; undefined: it is something else. */
function toImage(value: unknown): JsonObject | undefined {
  if (!isObject(value) || (value.type !== "blob" && value.type !== "image")) return undefined;
  const data = stringAt(value, "data");
  const mimeType = stringAt(value, "mimeType");
  if (data === undefined || mimeType === undefined || !BASE64.test(data) || !IMAGE_TYPE.test(mimeType)) return undefined;
  return { ...value, type: "image", data, mimeType };
}

/** Members of an `assistant.message` that are in the reply itself, or identify the event. */
const IN_REPLY = ["content", "toolRequests", "reasoningText", "reasoningOpaque", "model", "outputTokens", "parentToolCallId"];

/** The known facts of a reply that are not in its own event. */
interface AboutReply {
  /** The reasoning that was written before it. */
  readonly thinking: string | undefined;
  /** The model of the session. */
  readonly model: string | undefined;
  /** The `usage` of the record that was written for its request. */
  readonly usage: JsonObject | undefined;
}

/**
 * The payload of a reply from the `data` of its events, in their order: a reply that was written in chunks has several. Members without
 * a place of their own are those of the last chunk that has them.
 */
export function toReplyPayload(chunks: readonly JsonObject[], about: AboutReply): JsonObject {
  const content = chunks.flatMap((data, at) => toReplyBlocks(data, at === 0 ? about.thinking : undefined));
  const merged: JsonObject = Object.assign({}, ...chunks);
  const recorded = about.usage ?? {};
  const named = stringAt(merged, "model") ?? stringAt(recorded, "model") ?? about.model;
  // Up to 1.0.40, the reply has its output tokens, and no record those of the prompt.
  const output = Math.max(0, ...chunks.map((data) => numberAt(data, "outputTokens") ?? 0));
  const usage = readUsage(recorded) ?? (output > 0 ? { output } : undefined);
  const stopReason = content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
  const payload = messagePayload({ role: "assistant", content, ...modelFields(named), usage, stopReason });
  const moreUsage = without(recorded, [...COUNTS, "model", "apiCallId"]);
  return withOthers(payload, "copilot", withOthers(without(merged, IN_REPLY), "usage", moreUsage));
}

function modelFields(model: string | undefined): JsonObject {
  return model === undefined ? {} : { provider: COPILOT_PROVIDER, model };
}

/**
 * The payload of a request without a reply: an empty reply with what the request cost, so that totals have it. undefined: it has no counts.
 * @param data the whole event, which is kept.
 */
export function toStoppedPayload(data: JsonObject, counts: JsonObject, errorMessage: string, model?: string): JsonObject | undefined {
  const usage = readUsage(counts);
  if (usage === undefined) return undefined;
  const named = modelFields(stringAt(counts, "model") ?? model);
  return withOthers(
    messagePayload({ role: "assistant", content: [], ...named, usage, stopReason: "error", errorMessage }),
    "copilot",
    data,
  );
}

const COUNTS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"];

/** The counts of a request, in which the input tokens include those of the cache for every provider; undefined: there are none. */
function readUsage(counts: JsonObject): JsonObject | undefined {
  const usage = toOwnUsage(
    {
      inputTokens: counts.inputTokens,
      outputTokens: counts.outputTokens,
      inputTokenDetails: { cacheReadTokens: counts.cacheReadTokens, cacheWriteTokens: counts.cacheWriteTokens },
      reasoningTokens: counts.reasoningTokens,
    },
    "usage",
  );
  return Object.keys(usage).length === 0 ? undefined : { ...usage };
}

function toReplyBlocks(data: JsonObject, earlier: string | undefined): readonly JsonObject[] {
  const requests: readonly unknown[] = Array.isArray(data.toolRequests) ? data.toolRequests : [];
  return [
    ...thinkingBlocks(stringAt(data, "reasoningText") || earlier, stringAt(data, "reasoningOpaque")),
    ...textBlocks(stringAt(data, "content")),
    ...requests.map(toCallBlock),
  ];
}

function toCallBlock(request: unknown): JsonObject {
  if (!isObject(request)) return { ...toForeignBlock(request) };
  const id = stringAt(request, "toolCallId");
  const name = stringAt(request, "name");
  if (id === undefined || name === undefined) return { ...toForeignBlock(request) };
  const rest = without(request, ["toolCallId", "name", "arguments", "type"]);
  return { ...rest, type: "toolCall", id, name, arguments: toArguments(request) };
}

/** The input of a custom tool is a text of any kind; the arguments of others are an object, or in some versions its JSON. */
function toArguments(request: JsonObject): JsonObject {
  const given = request.arguments;
  return request.type === "custom" && typeof given === "string" ? { input: given } : parseArguments(given);
}

/** The payload of a `tool.execution_complete`; undefined if it has an unexpected shape. `toolName`: of its call. */
export function toResultPayload(data: JsonObject, toolName: string | undefined): JsonObject | undefined {
  const toolCallId = stringAt(data, "toolCallId");
  if (toolCallId === undefined) return undefined;
  const result = toResult(data);
  const text = stringAt(result, "content");
  const details = without(result, text === undefined ? [] : ["content", ...same(result, "detailedContent", text)]);
  const payload = resultPayload({ toolCallId, toolName, content: toResultContent(data, result), isError: data.success !== true, details });
  const placed = ["toolCallId", "success", "parentToolCallId", ...(result === NONE ? [] : ["result"])];
  return withOthers(payload, "copilot", without(data, placed));
}

const NONE: JsonObject = {};

/** The result of a tool; some versions write its text alone. */
function toResult(data: JsonObject): JsonObject {
  const text = stringAt(data, "result");
  const whole: JsonObject = text === undefined ? NONE : { content: text };
  return objectAt(data, "result") ?? whole;
}

/** The name of a member that repeats a text. */
function same(object: JsonObject, name: string, text: string): readonly string[] {
  return object[name] === text || object[name] === null ? [name] : [];
}

function toResultContent(data: JsonObject, result: JsonObject): string | readonly JsonObject[] {
  const parts: readonly unknown[] = Array.isArray(result.contents) ? result.contents : [];
  const images = imagesIn(parts);
  const text = stringAt(result, "content") ?? stringAt(objectAt(data, "error") ?? {}, "message") ?? stringAt(data, "error") ?? "";
  return images.length === 0 ? text : [{ type: "text", text }, ...images];
}

/** A command that the user ran; undefined: another tool, or another shape. */
export function toShellPayload(data: JsonObject, args: JsonObject): JsonObject | undefined {
  const command = stringAt(args, "command");
  const result = objectAt(data, "result") ?? {};
  if (command === undefined) return undefined;
  const output = stringAt(result, "content") ?? stringAt(objectAt(data, "error") ?? {}, "message") ?? "";
  const exit = /<exited with exit code (-?\d+)>\s*$/.exec(output)?.[1];
  const message = { role: "bashExecution", command, output, exitCode: exit === undefined ? undefined : Number(exit) };
  return withOthers(messagePayload(message), "copilot", without(data, ["success"]));
}

/** Members of a `session.compaction_complete` that have a place of their own in a compaction. */
const IN_COMPACTION = ["success", "summaryContent", "preCompactionTokens", "postCompactionTokens", "trigger", "customInstructions"];

/**
 * The payload of a successful `session.compaction_complete`.
 * @param firstKept the first entry that the compaction kept; null: none.
 */
export function toCompactionPayload(data: JsonObject, summary: string, kept: KeptEntries): JsonObject {
  const title = /<checkpoint_title>([^<]*)<\/checkpoint_title>/i.exec(summary)?.[1]?.trim();
  const [instructions, trigger] = [stringAt(data, "customInstructions"), stringAt(data, "trigger")];
  const counts = { tokensBefore: data.preCompactionTokens, tokensAfter: data.postCompactionTokens };
  const usage = readUsage(objectAt(data, "compactionTokensUsed") ?? {});
  return {
    ...compactionPayload({ summary, kept, ...counts, trigger, title, instructions, usage }),
    copilot: without(data, IN_COMPACTION),
  };
}
