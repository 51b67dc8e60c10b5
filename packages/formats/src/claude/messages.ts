import { stopReasonOf } from "@bough/session-core";
import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
  toContent,
  toContentBlock,
  toReplyBlocks,
  without,
  withoutUndefined,
} from "@bough/session-core/wire";
import {
  classifyInjected,
  findOutputs,
  findResultBlocks,
  type InjectedKind,
  isOutput,
  isReminderBlock,
  isResultBlock,
  META,
  OUTPUT,
  QUEUED,
  readQueuedPrompt,
  textWithoutReminders,
} from "./record-kind.js";

/** The tool name of a call; undefined if the file does not contain the call. */
type ToolNames = (toolCallId: string) => string | undefined;

/**
 * The messages of a `user` record or a queued prompt, at least one: first its tool results, one message each, because they must
 * follow their calls; then its other blocks. Reminders of the program among these become a separate message after the user's,
 * so that the user's text is unchanged and starts the turn.
 */
export function toUserMessages(record: JsonObject, toolNames: ToolNames): readonly JsonObject[] {
  const queued = readQueuedPrompt(record);
  if (queued !== undefined) return [toQueuedMessage(record, queued)];
  const content = objectAt(record, "message")?.content;
  const results = toResultMessages(record, content, toolNames);
  const outputs = findOutputs(content).map((block) => toCustomMessage(OUTPUT, toContent(block.content)));
  const rest = Array.isArray(content) ? content.filter((block) => !isResultBlock(block) && !isOutput(block)) : content;
  const isEmpty = Array.isArray(rest) && rest.length === 0;
  const found = [...results, ...outputs];
  return found.length > 0 && isEmpty ? found : [...found, ...toTextMessages(record, rest)];
}

function toQueuedMessage(record: JsonObject, prompt: unknown): JsonObject {
  const message = toCustomMessage(classifyInjected({}, textWithoutReminders(prompt)) ?? QUEUED, toContent(prompt));
  const details = without(objectAt(record, "attachment") ?? {}, ["type", "prompt"]);
  return Object.keys(details).length === 0 ? message : { ...message, details };
}

function toResultMessages(record: JsonObject, content: unknown, toolNames: ToolNames): readonly JsonObject[] {
  return findResultBlocks(content).map((block, at) => {
    const toolCallId = String(block.tool_use_id);
    return {
      ...{ role: "toolResult", toolCallId, toolName: toolNames(toolCallId) },
      ...{ content: toContent(block.content), isError: block.is_error === true },
      // The record has one structured result for all its blocks.
      details: at === 0 ? record.toolUseResult : undefined,
    };
  });
}

function toTextMessages(record: JsonObject, content: unknown): readonly JsonObject[] {
  const kind = classifyInjected(record, textWithoutReminders(content));
  if (!Array.isArray(content) || kind === META) return [toTextMessage(kind, toContent(content))];
  const reminders = content.filter(isReminderBlock);
  const userBlocks = content.filter((block) => !isReminderBlock(block));
  const remarks = reminders.length === 0 ? [] : [toTextMessage(META, reminders.map(toContentBlock))];
  return userBlocks.length === 0 && remarks.length > 0 ? remarks : [toTextMessage(kind, userBlocks.map(toContentBlock)), ...remarks];
}

function toTextMessage(kind: InjectedKind | undefined, content: string | readonly JsonObject[]): JsonObject {
  return kind === undefined ? { role: "user", content } : toCustomMessage(kind, content);
}

function toCustomMessage({ customType, display }: InjectedKind, content: string | readonly JsonObject[]): JsonObject {
  return { role: "custom", customType, display, content };
}

/** The model name of texts that Claude Code wrote itself. */
const SYNTHETIC = "<synthetic>";

/**
 * The message of a reply, from all its lines in the order of the file. The stop reason is that of the last line that has one; an
 * unfinished reply has none.
 */
export function toReplyMessage(lines: readonly JsonObject[]): JsonObject {
  const messages = lines.map((line) => objectAt(line, "message") ?? {});
  const usages = messages.map((message) => objectAt(message, "usage")).filter((usage) => usage !== undefined);
  const costs = lines.flatMap((line) => numberAt(line, "costUSD") ?? []).filter((cost) => cost >= 0);
  return withoutUndefined({
    role: "assistant",
    content: removeRepeatedCalls(messages.flatMap((message) => toReplyBlocks(message.content))),
    ...readModel(messages),
    usage: isSynthetic(messages) && costs.length === 0 && usages.every(isZero) ? undefined : mergeUsage(usages, costs),
    ...readStopReason(lines, messages),
    responseId: firstNonEmpty(messages, "id"),
  });
}

/** True if no token was counted: a resumed session of another program also has replies without a model, but these were requests. */
function isZero(usage: JsonObject): boolean {
  return !Object.values(usage).some((count) => typeof count === "number" && count > 0);
}

// Providers reject a context in which a call occurs twice.
function removeRepeatedCalls(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const calls = new Set<unknown>();
  return blocks.filter((block) => {
    if (block.type !== "toolCall") return true;
    if (calls.has(block.id)) return false;
    calls.add(block.id);
    return true;
  });
}

function readModel(messages: readonly JsonObject[]): JsonObject {
  const model = firstNonEmpty(messages, "model");
  return model === undefined || isSynthetic(messages) ? {} : { provider: "anthropic", model };
}

/** True if Claude Code wrote the reply itself. It made no request, so the usage, which is zero, has no meaning. */
function isSynthetic(messages: readonly JsonObject[]): boolean {
  return firstNonEmpty(messages, "model") === SYNTHETIC;
}

function readStopReason(lines: readonly JsonObject[], messages: readonly JsonObject[]): JsonObject {
  if (lines.some((line) => line.isApiErrorMessage === true)) {
    return {
      stopReason: "error",
      errorMessage: messages
        .map(joinTextBlocks)
        .filter((text) => text !== "")
        .join("\n"),
    };
  }
  const reason = messages.map((message) => stringAt(message, "stop_reason")).findLast((text) => text !== undefined);
  return reason === undefined ? {} : { stopReason: toStopReason(reason) };
}

// A refusal counts as a failed reply, as in the sessions that were imported before.
function toStopReason(reason: string): string {
  return reason === "refusal" ? "error" : stopReasonOf(reason);
}

function joinTextBlocks(message: JsonObject): string {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block: unknown) => (isObject(block) ? (stringAt(block, "text") ?? "") : "")).join("");
}

function firstNonEmpty(messages: readonly JsonObject[], key: string): string | undefined {
  return messages.map((message) => stringAt(message, key)).find((text) => text !== undefined && text !== "");
}

const FIGURES = [
  ["input", "input_tokens"],
  ["output", "output_tokens"],
  ["cacheRead", "cache_read_input_tokens"],
  ["cacheWrite", "cache_creation_input_tokens"],
] as const;

const READ_NAMES = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost", ...FIGURES.map(([, theirs]) => theirs)];

/**
 * The usage of a reply. Each line repeats the usage of the whole reply, early lines with partial counts, so the result has the
 * maximum of each count, not the sum. Unknown fields are those of the last line.
 *
 * `costs`: US dollars, one for each line; only versions before 1.0 wrote them.
 */
function mergeUsage(usages: readonly JsonObject[], costs: readonly number[]): JsonObject | undefined {
  const last = usages.at(-1);
  if (last === undefined) return undefined;
  const figures: Record<string, unknown> = {};
  for (const [ours, theirs] of FIGURES) {
    const most = usages.reduce((found, usage) => Math.max(found, numberAt(usage, theirs) ?? -1), -1);
    if (most >= 0) figures[ours] = most;
  }
  if (costs.length > 0) figures["cost"] = { total: Math.max(...costs) };
  return { ...figures, ...without(last, READ_NAMES) };
}
