import { stopReasonOf } from "@bough/session-core";

/**
 * The stop reason of a step. `overflow`: the context window was too small. undefined: the connection ended before the reply did;
 * a provider then reports "other" without a reason of the server.
 */
export function readStopReason(finishReason: string, rawFinishReason: string | undefined): string | undefined {
  // z.ai reports an input that was too long in the place of a finish reason.
  if (rawFinishReason === "model_context_window_exceeded") return "overflow";
  // Anthropic compacted the conversation and paused; the SDK has no word for it.
  if (rawFinishReason === "compaction") return "compaction";
  return finishReason === "other" && rawFinishReason === undefined ? undefined : stopReasonOf(finishReason);
}
