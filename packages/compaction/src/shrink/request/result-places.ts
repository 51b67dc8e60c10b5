import type { AssistantMessage, ContextMessage, DanglingCalls, ToolCallBlock, ToolResultMessage } from "@bough/session-core";

/** The tool calls of a reply, in their order. */
export function callsOf(message: AssistantMessage): readonly ToolCallBlock[] {
  return message.content.filter((block) => block.type === "toolCall");
}

/** Whether a result only says that there is none, and calls of that kind are to be dropped. */
export function isUnanswered(result: ToolResultMessage, dangling: DanglingCalls): boolean {
  return dangling === "drop" && result["synthetic"] === true;
}

interface Waiting {
  readonly places: (number | undefined)[];
  readonly call: number;
}

/**
 * For each reply with calls, by its place: the places of the results of its calls, in the order of the calls;
 * undefined where there is none. Linear.
 *
 * A call id may occur again (some servers name the first call of every reply `call_0`): a result answers the first
 * call of its id that waits for one, in the latest reply that made such a call.
 */
export function matchResults(
  messages: readonly ContextMessage[],
  dangling: DanglingCalls,
): ReadonlyMap<number, readonly (number | undefined)[]> {
  const matched = new Map<number, (number | undefined)[]>();
  const waiting = new Map<string, Waiting[]>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "assistant") {
      const calls = callsOf(message);
      const places = calls.map(() => undefined);
      if (calls.length > 0) matched.set(at, places);
      expect(waiting, calls, places);
    }
    if (message.role !== "toolResult" || isUnanswered(message, dangling)) continue;
    const one = waiting.get(message.toolCallId)?.shift();
    if (one !== undefined) one.places[one.call] = at;
  }
  return matched;
}

function expect(waiting: Map<string, Waiting[]>, calls: readonly ToolCallBlock[], places: (number | undefined)[]): void {
  // A reply that uses an id again ends the wait of the earlier call.
  for (const { id } of calls) waiting.set(id, []);
  for (const [call, { id }] of calls.entries()) waiting.get(id)?.push({ places, call });
}
