import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseJson,
  parseJsonObject,
  parseTime,
  stringAt,
  tryStringify,
  without,
} from "@bough/session-core/wire";
import { foreignPayload, messagePayload, resultPayload, textBlocks, thinkingBlocks } from "../source/payloads.js";
import { userMessages } from "./user-text.js";

/** A message, or a part of one, as Cursor's editor shows it; and the number of its row. */
export interface Bubble {
  readonly id: string;
  readonly line: number;
  readonly record: JsonObject;
}

/** The content of an entry: bubbles that are one step of the model, or one prompt. */
export interface Step {
  readonly bubbles: readonly Bubble[];
  readonly payloads: readonly JsonObject[];
  readonly createdAtMs: number | undefined;
}

const USER = 1;
const ASSISTANT = 2;

export function isPrompt({ record }: Bubble): boolean {
  return record.type === USER || record.type === "user";
}

function isReply({ record }: Bubble): boolean {
  return record.type === ASSISTANT || record.type === "ai";
}

function timeOf({ record }: Bubble): number | undefined {
  return parseTime(record.createdAt) ?? numberAt(objectAt(record, "timingInfo") ?? {}, "clientStartTime");
}

/** Joins bubbles to steps: reasoning and text with the call that follows them. Blank bubbles have no payloads. */
export function* toSteps(bubbles: Iterable<Bubble>): Generator<Step, void, void> {
  let held: Bubble[] = [];
  let model: string | undefined;
  for (const bubble of bubbles) {
    const starts = !isReply(bubble) || (hasThinking(bubble) && held.some(hasText));
    if (starts && held.length > 0) yield replyStep(held, model);
    if (starts) held = [];
    model = modelOf(bubble) ?? model;
    if (!isReply(bubble)) yield otherStep(bubble);
    else held.push(bubble);
    if (toolOf(bubble) === undefined) continue;
    yield replyStep(held, model);
    held = [];
  }
  if (held.length > 0) yield replyStep(held, model);
}

function hasText({ record }: Bubble): boolean {
  return textOf(record) !== "";
}

function hasThinking({ record }: Bubble): boolean {
  return thoughtsOf(record).length > 0;
}

/** A prompt, or a bubble of an unknown type. */
function otherStep(bubble: Bubble): Step {
  const { record } = bubble;
  let createdAtMs = timeOf(bubble);
  if (!isPrompt(bubble)) {
    const type = numberAt(record, "type") ?? stringAt(record, "type");
    return { bubbles: [bubble], payloads: [foreignPayload(record, `bubble ${type}`)], createdAtMs };
  }
  const messages = userMessages([{ type: "text", text: textOf(record) }], (sentAtMs) => (createdAtMs ??= sentAtMs));
  return { bubbles: [bubble], payloads: messages.map(messagePayload), createdAtMs };
}

function replyStep(bubbles: readonly Bubble[], model: string | undefined): Step {
  const content = bubbles.flatMap(({ record }) => blocksOf(record));
  const tool = bubbles.map(toolOf).find((one) => one !== undefined);
  const blocks = tool === undefined ? content : [...content, callOf(tool)];
  const reply = messagePayload({ role: "assistant", content: blocks, model, ...usageOf(bubbles) });
  const payloads = blocks.length === 0 ? [] : [reply, ...(tool === undefined ? [] : resultsOf(tool))];
  return { bubbles, payloads, createdAtMs: bubbles.map(timeOf).find((time) => time !== undefined) };
}

function textOf(record: JsonObject): string {
  return stringAt(record, "text") ?? stringAt(record, "rawText") ?? "";
}

function thoughtsOf(record: JsonObject): readonly JsonObject[] {
  const thinking = objectAt(record, "thinking") ?? {};
  return thinkingBlocks(stringAt(thinking, "text"), stringAt(thinking, "signature"));
}

function blocksOf(record: JsonObject): readonly JsonObject[] {
  return [...thoughtsOf(record), ...textBlocks(textOf(record))];
}

/** The model of a reply, or the one that a prompt chose. */
function modelOf({ record }: Bubble): string | undefined {
  const name = stringAt(objectAt(record, "modelInfo") ?? {}, "modelName") ?? stringAt(record, "modelType");
  return name === "default" || name === "" ? undefined : name;
}

/** The tokens of a step. Cursor writes 0 for an unknown count. */
function usageOf(bubbles: readonly Bubble[]): JsonObject {
  const counts = bubbles.map(({ record }) => objectAt(record, "tokenCount") ?? {});
  const sum = (key: string) => counts.reduce((total, count) => total + Math.max(0, numberAt(count, key) ?? 0), 0);
  const [input, output] = [sum("inputTokens"), sum("outputTokens")];
  return input + output === 0 ? {} : { usage: { input, output, totalTokens: input + output } };
}

/** A call of a tool with its result, if it has one. */
interface Tool {
  readonly id: string;
  readonly name: string;
  readonly data: JsonObject;
}

function toolOf({ id, record }: Bubble): Tool | undefined {
  const data = objectAt(record, "toolFormerData");
  const name = data && stringAt(data, "name");
  if (data === undefined || name === undefined || name === "") return undefined;
  return { id: stringAt(data, "toolCallId") || id, name, data };
}

/** The arguments as the model wrote them, or else as Cursor understood them: both are JSON texts. */
function callOf({ id, name, data }: Tool): JsonObject {
  const texts = ["rawArgs", "params"].map((key) => stringAt(data, key) ?? "").filter((text) => text !== "");
  const known = texts.map(parseJsonObject).find((value) => value !== undefined);
  return {
    type: "toolCall",
    id,
    name,
    arguments: known ?? objectAt(data, "params") ?? (texts[0] === undefined ? {} : { unreadable: texts[0] }),
  };
}

/** Members in which results of commands and of read files have their text. */
const SHOWN = ["output", "contents"];

/** The result of a call; none if it has not ended, or was stopped with the program. */
function resultsOf({ id, name, data }: Tool): readonly JsonObject[] {
  const status = stringAt(data, "status") ?? "";
  const error = errorOf(data.error);
  const result = stringAt(data, "result") ?? (data.result === undefined || data.result === null ? "" : (tryStringify(data.result) ?? ""));
  const isError = status === "error" || status === "cancelled" || (error !== "" && result === "");
  if (!isError && result === "" && status !== "completed") return [];
  const parsed = parseJson(result);
  const shownAt = isObject(parsed) ? SHOWN.find((key) => stringAt(parsed, key) !== undefined) : undefined;
  const shown = isObject(parsed) && shownAt !== undefined ? stringAt(parsed, shownAt) : undefined;
  const details = isObject(parsed) && shownAt !== undefined ? without(parsed, [shownAt]) : {};
  const content = isError && error !== "" ? error : (shown ?? result);
  return [resultPayload({ toolCallId: id, toolName: name, content: content || [], isError, details })];
}

/** The error message for the model or the person, from a JSON text, an object or a text. */
function errorOf(error: unknown): string {
  const value = typeof error === "string" ? (parseJson(error) ?? error) : error;
  if (!isObject(value)) return typeof value === "string" ? value : "";
  return stringAt(value, "modelVisibleErrorMessage") ?? stringAt(value, "clientVisibleErrorMessage") ?? tryStringify(value) ?? "";
}

/** The summary that a reply was given instead of the earlier bubbles; undefined: none. */
export function summaryOf({ record }: Bubble): { readonly text: string; readonly keptId: string | undefined } | undefined {
  const given = record.conversationSummary;
  const summary = typeof given === "string" ? parseJsonObject(given) : isObject(given) ? given : undefined;
  const text = summary && stringAt(summary, "summary");
  if (summary === undefined || text === undefined || text === "") return undefined;
  const keptId = stringAt(summary, "clientShouldStartSendingFromInclusiveBubbleId") || undefined;
  return { text, keptId };
}
