import { checkArgument, TEXT } from "../arguments/rules.js";

/** Why a reply ended, as Bough stores it in `stopReason`. */
export type StopReason = "stop" | "length" | "toolUse" | "contentFilter" | "compaction" | "error" | "aborted";

// The words of the AI SDK, OpenAI (chat completions, Responses), Anthropic and Google, in lower case.
const BY_WORD: ReadonlyMap<string, StopReason> = new Map([
  ...wordsFor("stop", ["stop", "end_turn", "stop_sequence", "completed", "other", "unknown"]),
  ...wordsFor("length", ["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"]),
  ...wordsFor("toolUse", ["tooluse", "tool-calls", "tool_calls", "function_call", "tool_use"]),
  ...wordsFor("contentFilter", ["contentfilter", "content-filter", "content_filter", "refusal"]),
  ...wordsFor("contentFilter", ["safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"]),
  // Anthropic compacted the conversation and paused, or was asked for nothing else.
  ...wordsFor("compaction", ["compaction"]),
  ...wordsFor("error", ["error", "failed", "malformed_function_call"]),
  ...wordsFor("aborted", ["aborted", "cancelled", "canceled"]),
]);

function wordsFor(reason: StopReason, words: readonly string[]): readonly (readonly [string, StopReason])[] {
  return words.map((word) => [word, reason]);
}

/**
 * The stop reason of a provider or framework as Bough stores it; a word that is not in the table is returned as it is, so that a new
 * one is not lost.
 *
 * @example
 * stopReasonOf("tool_calls"); // "toolUse"
 * stopReasonOf("MAX_TOKENS"); // "length"
 */
export function stopReasonOf(reason: string): StopReason | (string & {}) {
  checkArgument("reason", reason, TEXT);
  return BY_WORD.get(reason.toLowerCase()) ?? reason;
}
