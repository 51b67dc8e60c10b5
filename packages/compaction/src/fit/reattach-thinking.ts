import type { AssistantMessage, ContextMessage, EntryId, ModelSetting, ThinkingBlock } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import { isClaude } from "../shrink/request/model-family.js";
import { type CountMessage, type FitStep, keepParts, type RequestParts, replaceParts } from "./request-parts.js";

/** What decides whether a thinking block comes back. */
export interface ReattachOptions {
  readonly setting: CompactionSettings["request"]["reattachThinking"];
  readonly model: ModelSetting | null;
  /** The request before anything was left out. */
  readonly before: Pick<RequestParts, "messages" | "entries">;
  /** The last thinking block of what a compaction covers. */
  readonly summarized: ThinkingBlock | null;
  /** The block comes back only where all messages together have no more than this. */
  readonly limitTokens: number;
}

/**
 * Puts the last thinking block that was left out before the first reply that is still there, byte for byte: Anthropic's
 * models refuse a tool loop that does not start with one. The rule of VS Code and Copilot CLI. A reply that starts with
 * thinking keeps its own. `auto` is for Anthropic's models and for blocks and replies of theirs.
 */
export function reattachThinking(parts: RequestParts, total: number, input: ReattachOptions, count: CountMessage): FitStep {
  if (input.setting === "never" || (input.setting === "auto" && !isClaude(input.model))) return keepParts(parts);
  const at = parts.messages.findIndex(({ role }) => role === "assistant");
  const reply = parts.messages[at];
  const entry = parts.entries[at];
  if (reply?.role !== "assistant" || entry === undefined || reply.content[0]?.type === "thinking") return keepParts(parts);
  // One that does not fit, or that Anthropic would refuse, leaves the place to the one of the compaction.
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

// Without its signature a block is refused, and so is one in the mouth of another company's model.
function isAccepted({ thinkingSignature }: ThinkingBlock, { provider, model }: AssistantMessage): boolean {
  const isTheirs = (provider === undefined && model === undefined) || isClaude({ provider, modelId: model });
  return thinkingSignature !== undefined && thinkingSignature !== "" && isTheirs;
}
