import type { ToolCallBlock } from "../../entry/block.js";
import type { AssistantMessage, ToolResultMessage } from "../../entry/message.js";
import type { ContextMessage } from "../context.js";

/**
 * Which result belongs to which call.
 *
 * A context is valid already; what this adds is that ids may repeat (some servers name the first call of every reply
 * `call_0`) and that a result may stand behind something else than its call. A result goes to the first call of its
 * id, in the latest reply that made one, which has none yet; a result without such a call belongs nowhere.
 */
export function resultsByCall(messages: readonly ContextMessage[]): ReadonlyMap<ToolCallBlock, ToolResultMessage> {
  const results = new Map<ToolCallBlock, ToolResultMessage>();
  const waiting = new Map<string, ToolCallBlock[]>();
  for (const message of messages) {
    if (message.role === "assistant") expect(waiting, callsOf(message));
    if (message.role !== "toolResult") continue;
    const call = waiting.get(message.toolCallId)?.shift();
    if (call !== undefined) results.set(call, message);
  }
  return results;
}

function callsOf(message: AssistantMessage): readonly ToolCallBlock[] {
  return message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
}

// A reply that uses an id again ends the wait of the earlier call: what comes now answers the later one.
function expect(waiting: Map<string, ToolCallBlock[]>, calls: readonly ToolCallBlock[]): void {
  for (const call of calls) waiting.set(call.id, []);
  for (const call of calls) waiting.get(call.id)?.push(call);
}
