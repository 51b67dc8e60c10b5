import { freezeJson } from "../entry/json.js";
import type { AssistantMessage, ToolCallBlock, ToolResultMessage } from "../entry/message.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextMessage } from "./context.js";

/**
 * The handling of a tool call without a result (after a crash, at a leaf inside a batch of calls, in an import):
 * `close` adds a synthetic error result, `drop` removes the call.
 */
export type DanglingCalls = "close" | "drop";

/** The text of a synthetic result. */
export const NO_RESULT = "No result was recorded for this call.";

/** A message of a paired list. */
export interface PairedMessage {
  readonly message: ContextMessage;
  /** Its index in the given list; for a synthetic result, the index of its reply. */
  readonly index: number;
  /** It is a result that was added here. */
  readonly isAdded: boolean;
}

/**
 * Orders messages as every provider requires: a reply with tool calls is followed by one result for each call, in the
 * order of the calls, and there is no other result. A result that came later moves to its reply; a result without a call
 * is left out. Returns undefined if the messages are in this order already. Linear.
 *
 * With `drop`, synthetic results count as missing, and a reply of which only thinking remains is left out, because
 * several providers reject a reply that ends with thinking.
 *
 * A call id may be used again (some servers name the first call of every reply `call_0`): see `matchResults`.
 */
export function pairCalls(messages: readonly ContextMessage[], dangling: DanglingCalls): readonly PairedMessage[] | undefined {
  if (isPaired(messages, dangling)) return undefined;
  const matched = matchResults(messages, dangling);
  const paired: PairedMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") continue;
    const results = matched.get(index);
    if (message.role !== "assistant" || results === undefined) paired.push({ message, index, isAdded: false });
    else pushReply(paired, message, index, results, messages, dangling);
  }
  return paired;
}

/** The tool calls of a reply, in their order. */
export function listToolCalls(message: AssistantMessage): readonly ToolCallBlock[] {
  return message.content.filter((block) => block.type === "toolCall");
}

/** For each call of a reply, in order: the index of its result in the list of messages, or undefined. */
type ResultIndexes = readonly (number | undefined)[];

/**
 * The results of each reply with calls, by the reply's index. A result belongs to the latest reply before it that made a
 * call of its id, and there to the first such call without a result. Linear.
 */
export function matchResults(messages: readonly ContextMessage[], dangling: DanglingCalls): ReadonlyMap<number, ResultIndexes> {
  const matched = new Map<number, (number | undefined)[]>();
  const pending = new Map<string, { readonly results: (number | undefined)[]; readonly call: number }[]>();
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") {
      const calls = listToolCalls(message);
      if (calls.length === 0) continue;
      const results = calls.map(() => undefined);
      matched.set(index, results);
      // A reply that uses an id again: later results belong to it, not to the earlier call.
      for (const { id } of calls) pending.set(id, []);
      for (const [call, { id }] of calls.entries()) pending.get(id)?.push({ results, call });
    } else if (message.role === "toolResult" && !isMissing(message, dangling)) {
      const next = pending.get(message.toolCallId)?.shift();
      if (next !== undefined) next.results[next.call] = index;
    }
  }
  return matched;
}

/** True if a result counts as missing: it is synthetic, and calls without a result are dropped. */
export function isMissing(result: ToolResultMessage, dangling: DanglingCalls): boolean {
  return dangling === "drop" && result["synthetic"] === true;
}

/** A message and the entry behind it. */
export interface EntryMessage {
  readonly id: EntryId;
  readonly message: ContextMessage;
}

/** The messages in the order of `pairCalls`; the same array if they are in this order already. */
export function pairEntryMessages(placed: readonly EntryMessage[], dangling: DanglingCalls): readonly EntryMessage[] {
  const paired = pairCalls(
    placed.map(({ message }) => message),
    dangling,
  );
  if (paired === undefined) return placed;
  return paired.flatMap(({ message, index }) => {
    const source = placed[index];
    if (source === undefined) return [];
    return [source.message === message ? source : { id: source.id, message }];
  });
}

/** True if each result follows a call of its id, so that pairing these messages changes none before them. */
export function everyResultHasCall(placed: readonly EntryMessage[]): boolean {
  const called = new Set<string>();
  for (const { message } of placed) {
    if (message.role === "assistant") for (const call of listToolCalls(message)) called.add(call.id);
    if (message.role === "toolResult" && !called.has(message.toolCallId)) return false;
  }
  return true;
}

/**
 * The last reply and the results after it, if some of its calls have no result yet: the next result may belong to it.
 * Empty otherwise.
 */
export function findPendingReply(placed: readonly EntryMessage[]): readonly EntryMessage[] {
  const at = placed.findLastIndex(({ message }) => message.role !== "toolResult");
  const tail = at < 0 ? [] : placed.slice(at);
  const messages = tail.map(({ message }) => message);
  return everyResultHasCall(tail) && !isPaired(messages, "close") ? tail : [];
}

/** True if the order is right already, as it nearly always is. Cost: one pass that allocates nothing. */
function isPaired(messages: readonly ContextMessage[], dangling: DanglingCalls): boolean {
  for (let at = 0; at < messages.length; ) {
    const next = nextTurnIndex(messages, at, dangling);
    if (next === undefined) return false;
    at = next;
  }
  return true;
}

/** The index after a message and the results of its calls; undefined if these are not in the right order. */
function nextTurnIndex(messages: readonly ContextMessage[], at: number, dangling: DanglingCalls): number | undefined {
  const message = messages[at];
  if (message?.role === "toolResult") return undefined;
  let next = at + 1;
  if (message?.role !== "assistant") return next;
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    const result = messages[next];
    if (result?.role !== "toolResult" || result.toolCallId !== block.id || isMissing(result, dangling)) return undefined;
    next += 1;
  }
  return next;
}

/** Appends a reply and the results of its calls to `paired`. */
function pushReply(
  paired: PairedMessage[],
  reply: AssistantMessage,
  index: number,
  results: ResultIndexes,
  messages: readonly ContextMessage[],
  dangling: DanglingCalls,
): void {
  const isComplete = dangling === "close" || !results.includes(undefined);
  const message = isComplete ? reply : removeDanglingCalls(reply, results);
  if (hasContent(message)) paired.push({ message, index, isAdded: false });
  for (const [at, call] of listToolCalls(reply).entries()) {
    const found = results[at];
    const result = found === undefined ? undefined : messages[found];
    if (found !== undefined && result !== undefined) paired.push({ message: result, index: found, isAdded: false });
    else if (dangling === "close") paired.push({ message: makeSyntheticResult(call), index, isAdded: true });
  }
}

function hasContent({ content }: AssistantMessage): boolean {
  return content.some((block) => block.type !== "thinking");
}

// Made once for each reply and call, so that later contexts contain the same objects.
const shortenedReplies = new WeakMap<AssistantMessage, AssistantMessage>();
const syntheticResults = new WeakMap<ToolCallBlock, ToolResultMessage>();

function removeDanglingCalls(message: AssistantMessage, results: ResultIndexes): AssistantMessage {
  let call = 0;
  const content = message.content.filter((block) => block.type !== "toolCall" || results[call++] !== undefined);
  const known = shortenedReplies.get(message);
  if (known?.content.length === content.length && content.every((block, at) => block === known.content[at])) return known;
  const shortened = freezeJson({ ...message, content });
  shortenedReplies.set(message, shortened);
  return shortened;
}

function makeSyntheticResult(call: ToolCallBlock): ToolResultMessage {
  const known = syntheticResults.get(call);
  if (known !== undefined) return known;
  const { id: toolCallId, name: toolName } = call;
  const content = [{ type: "text" as const, text: NO_RESULT }];
  const result: ToolResultMessage = freezeJson({ role: "toolResult", toolCallId, toolName, content, isError: true, synthetic: true });
  syntheticResults.set(call, result);
  return result;
}
