import type { AssistantMessage, ContextMessage, EntryId, ModelSetting, ThinkingBlock } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { findModelFamily } from "../tokens/known-models.js";
import { type CountMessage, type FitStep, keepParts, type RequestParts, replaceParts } from "./request-parts.js";

/** Conditions for putting a thinking block back. */
interface ReattachOptions {
  readonly setting: CompactionSettings["request"]["reattachThinking"];
  readonly model: ModelSetting | null;
  /** The request before messages were dropped. */
  readonly before: Pick<RequestParts, "messages" | "entries">;
  /** The last thinking block of the messages that the compaction summarized. */
  readonly summarized: ThinkingBlock | null;
  /** The most tokens of all messages with the block. */
  readonly limitTokens: number;
}

/**
 * Puts the last dropped thinking block before the first remaining reply, byte for byte, because Anthropic rejects
 * a tool loop that does not start with one. A reply that starts with thinking is not changed. With `auto` this applies
 * only to Anthropic's models, and to blocks and replies of theirs.
 */
export function reattachThinking(parts: RequestParts, total: number, input: ReattachOptions, count: CountMessage): FitStep {
  if (input.setting === "never" || (input.setting === "auto" && !findModelFamily(input.model).needsThinking)) return keepParts(parts);
  const at = parts.messages.findIndex(({ role }) => role === "assistant");
  const reply = parts.messages[at];
  const entry = parts.entries[at];
  if (reply?.role !== "assistant" || entry === undefined || reply.content[0]?.type === "thinking") return keepParts(parts);
  // If the block of the request does not fit or would be rejected, the block stored with the compaction is tried.
  for (const block of [findThinkingBefore(input.before, entry), input.summarized]) {
    if (!block || (input.setting === "auto" && !isAccepted(block, reply))) continue;
    const message: AssistantMessage = { ...reply, content: [block, ...reply.content] };
    const now = count(message);
    const added = now - (parts.tokens[at] ?? 0);
    if (total + added > input.limitTokens) continue;
    const change = { kind: "reattached-thinking", entry, tokens: added } as const;
    return { parts: replaceParts(parts, new Map([[at, { message, tokens: now }]])), changes: [change] };
  }
  return keepParts(parts);
}

/** The last thinking block before the reply of an entry. */
function findThinkingBefore({ messages, entries }: ReattachOptions["before"], entry: EntryId): ThinkingBlock | undefined {
  const end = entries.indexOf(entry);
  for (let at = end - 1; at >= 0; at -= 1) {
    const block = findThinkingIn(messages[at]);
    if (block !== undefined) return block;
  }
  return undefined;
}

function findThinkingIn(message: ContextMessage | undefined): ThinkingBlock | undefined {
  if (message?.role !== "assistant") return undefined;
  return message.content.findLast((block): block is ThinkingBlock => block.type === "thinking");
}

// Anthropic rejects a block without its signature, and one in a reply of another company's model.
function isAccepted({ thinkingSignature }: ThinkingBlock, { provider, model }: AssistantMessage): boolean {
  const isTheirs = (provider === undefined && model === undefined) || findModelFamily({ provider, modelId: model }).needsThinking;
  return thinkingSignature !== undefined && thinkingSignature !== "" && isTheirs;
}
