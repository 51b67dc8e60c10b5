import { type Answer, raw } from "../../../compaction/test/model/answer.js";
import { chunk, event, usageChunk } from "../../../compaction/test/model/chat-frames.js";

/** A call as a test scripts it. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** An object, or text that is sent as it is. */
  readonly input: unknown;
}

/** A streamed reply that calls tools. */
export function calls(given: readonly ScriptedCall[], { said = "", finish = "tool_calls" } = {}): Answer {
  const deltas = given.map(({ id, name, input }, index) => {
    const text = typeof input === "string" ? input : JSON.stringify(input);
    return chunk({ tool_calls: [{ index, id: id ?? `call_${index + 1}`, type: "function", function: { name, arguments: text } }] });
  });
  return stream(chunk({ role: "assistant", content: said }), ...deltas, chunk({}, finish), usageChunk(90, 12), event("[DONE]"));
}

/** Any events of a stream. */
export function stream(...events: readonly string[]): Answer {
  return raw(events.join(""), "text/event-stream");
}

/** A message of Anthropic's API, streamed: the blocks one after the other. */
export function anthropicMessage(blocks: readonly (readonly [start: unknown, ...deltas: unknown[]])[], stopReason = "end_turn"): Answer {
  const events = blocks.flatMap(([start, ...deltas], index) => [
    named("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => named("content_block_delta", { index, delta })),
    named("content_block_stop", { index }),
  ]);
  const usage = { input_tokens: 20, cache_read_input_tokens: 70, cache_creation_input_tokens: 5, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-test-1", content: [], stop_reason: null, usage };
  return stream(
    named("message_start", { message }),
    ...events,
    named("message_delta", { delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 11 } }),
    named("message_stop", {}),
  );
}

function named(type: string, data: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
