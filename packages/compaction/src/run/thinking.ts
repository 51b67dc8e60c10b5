import type { CompactionPayload, ContextMessage, ModelSetting, ThinkingBlock } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { isClaude } from "../shrink/request/model-family.js";

/** The last thinking block of what a compaction covers, where it was kept with it. */
export function thinkingOf(payload: CompactionPayload | undefined): ThinkingBlock | null {
  const kept = payload?.["lastThinking"];
  return isThinking(kept) ? kept : null;
}

// It was written by `lastThinking` below and judged by nobody since; only a block with its text and kind is one.
function isThinking(value: unknown): value is ThinkingBlock {
  return (
    typeof value === "object" &&
    value !== null &&
    "type" in value &&
    value.type === "thinking" &&
    "thinking" in value &&
    typeof value.thinking === "string"
  );
}

/** The last thinking block of some messages, byte for byte; null where the model does not need it back (row 110). */
export function lastThinking(
  messages: readonly ContextMessage[],
  model: ModelSetting | null,
  setting: CompactionSettings["request"]["reattachThinking"],
): ThinkingBlock | null {
  if (setting === "never" || (setting === "auto" && !isClaude(model))) return null;
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const block = message.content.findLast((one): one is ThinkingBlock => one.type === "thinking");
    if (block !== undefined) return block;
  }
  return null;
}
