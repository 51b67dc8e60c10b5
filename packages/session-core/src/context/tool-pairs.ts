import type { AssistantMessage, ToolResultMessage } from "../entry/message.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextMessage } from "./context.js";
import { frozen } from "./frozen.js";

/** A message and the entry behind it. */
export interface Placed {
  readonly id: EntryId;
  readonly message: ContextMessage;
}

/**
 * What becomes of a tool call without a result (a crash in between, a leaf inside a batch of calls, an import):
 * `close` gives it a result that says so, `drop` takes the call away.
 */
export type DanglingCalls = "close" | "drop";

const NO_RESULT = "No result was recorded for this call.";

/**
 * The messages in the order every provider accepts: after a reply with tool calls come the results of those calls, in
 * the order of the calls, and nothing else. A result that came later (a person spoke meanwhile) is put after its reply;
 * a result whose call is not there is left out.
 *
 * A call id may occur again in a later reply, so a result belongs to the nearest call before it.
 */
export function paired(placed: readonly Placed[], dangling: DanglingCalls): readonly Placed[] {
  return isPaired(placed) ? placed : repaired(placed, dangling);
}

/** Whether the order is right already, as it nearly always is: one pass that allocates nothing. */
function isPaired(placed: readonly Placed[]): boolean {
  for (let at = 0; at < placed.length; ) {
    const next = afterTurn(placed, at);
    if (next === undefined) return false;
    at = next;
  }
  return true;
}

/** Where the message behind this one and the results of its calls is; undefined: they are not as they must be. */
function afterTurn(placed: readonly Placed[], at: number): number | undefined {
  const message = placed[at]?.message;
  if (message?.role === "toolResult") return undefined;
  let next = at + 1;
  if (message?.role !== "assistant") return next;
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    // A broken reply that names one id twice gets one result (below), also where two are recorded.
    if (next > at + 1 && namesTwice(message)) return undefined;
    const result = placed[next]?.message;
    if (result?.role !== "toolResult" || result.toolCallId !== block.id) return undefined;
    next += 1;
  }
  return next;
}

function namesTwice(message: AssistantMessage): boolean {
  const calls = callsOf(message);
  return new Set(calls.map(({ id }) => id)).size < calls.length;
}

/** Whether each result stands somewhere behind a call of its id, so that pairing these changes nothing that stands before them. */
export function answersItself(placed: readonly Placed[]): boolean {
  const called = new Set<string>();
  for (const { message } of placed) {
    if (message.role === "assistant") for (const call of callsOf(message)) called.add(call.id);
    if (message.role === "toolResult" && !called.has(message.toolCallId)) return false;
  }
  return true;
}

/**
 * The last reply and what stands behind it, where that is results of its calls and not of all of them: what the next
 * result may belong to. Empty otherwise.
 */
export function openReply(placed: readonly Placed[]): readonly Placed[] {
  const at = placed.findLastIndex(({ message }) => message.role !== "toolResult");
  const tail = at < 0 ? [] : placed.slice(at);
  return answersItself(tail) && !isPaired(tail) ? tail : [];
}

function repaired(placed: readonly Placed[], dangling: DanglingCalls): readonly Placed[] {
  const results = matchResults(placed);
  const valid: Placed[] = [];
  for (const [index, one] of placed.entries()) {
    const { message } = one;
    if (message.role === "toolResult") continue;
    const calls = message.role === "assistant" ? callsOf(message) : [];
    if (message.role !== "assistant" || calls.length === 0) valid.push(one);
    else pushReply(valid, { id: one.id, message }, calls, results.get(index) ?? new Map(), dangling);
  }
  return valid;
}

type Results = Map<string, Placed>;

/** The results of each reply, by its position and by call id. */
function matchResults(placed: readonly Placed[]): ReadonlyMap<number, Results> {
  const open = new Map<string, number>();
  const matched = new Map<number, Results>();
  for (const [index, one] of placed.entries()) {
    const { message } = one;
    if (message.role === "assistant") for (const call of callsOf(message)) open.set(call.id, index);
    if (message.role !== "toolResult") continue;
    const reply = open.get(message.toolCallId);
    if (reply === undefined) continue;
    open.delete(message.toolCallId);
    const results = matched.get(reply);
    if (results === undefined) matched.set(reply, new Map([[message.toolCallId, one]]));
    else results.set(message.toolCallId, one);
  }
  return matched;
}

type Calls = ReturnType<typeof callsOf>;

function callsOf(message: AssistantMessage) {
  return message.content.filter((block) => block.type === "toolCall");
}

function pushReply(
  valid: Placed[],
  reply: Placed & { readonly message: AssistantMessage },
  calls: Calls,
  results: Results,
  dangling: DanglingCalls,
): void {
  const answered = calls.filter((call) => results.has(call.id));
  const kept = dangling === "close" ? calls : answered;
  const message = kept.length === calls.length ? reply.message : shortened(reply.message, results);
  if (message.content.length > 0) valid.push({ id: reply.id, message });
  const seen = new Set<string>();
  for (const call of kept) {
    // One result a call, also where a broken reply names one id twice.
    if (seen.has(call.id)) continue;
    seen.add(call.id);
    valid.push(results.get(call.id) ?? { id: reply.id, message: closing(call) });
  }
}

// Made once for each reply and call, so that they are the same objects in the next context. They go with the reply.
const shortenedReplies = new WeakMap<AssistantMessage, AssistantMessage>();
const closings = new WeakMap<Calls[number], ToolResultMessage>();

function shortened(message: AssistantMessage, results: Results): AssistantMessage {
  const content = message.content.filter((block) => block.type !== "toolCall" || results.has(block.id));
  const known = shortenedReplies.get(message);
  if (known?.content.length === content.length && content.every((block, at) => block === known.content[at])) return known;
  const without = frozen({ ...message, content });
  shortenedReplies.set(message, without);
  return without;
}

function closing(call: Calls[number]): ToolResultMessage {
  const known = closings.get(call);
  if (known !== undefined) return known;
  const { id: toolCallId, name: toolName } = call;
  const content = [{ type: "text" as const, text: NO_RESULT }];
  const result: ToolResultMessage = frozen({ role: "toolResult", toolCallId, toolName, content, isError: true, synthetic: true });
  closings.set(call, result);
  return result;
}
