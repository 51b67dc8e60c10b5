import type { AssistantMessage, ContextMessage, LeftOutThinking, ModelSetting, ThinkingBlock } from "@bough/session-core";
import { countBound, stripThinking } from "@bough/session-core/wire";
import type { CompactionSettings } from "../settings/settings.js";
import { findModelFamily } from "../tokens/known-models.js";
import {
  type CountedMessage,
  type CountMessage,
  type CutMemo,
  type FitStep,
  keepParts,
  type RequestParts,
  replaceParts,
} from "./request-parts.js";

/** Removes the signed thinking of the replies that the model would reject it from. Linear. */
export function leaveOut(parts: RequestParts, leftOut: readonly LeftOutThinking[], count: CountMessage, cuts: CutMemo): FitStep {
  if (leftOut.length === 0) return keepParts(parts);
  const replies = new Set(leftOut.map(({ entryId }) => entryId));
  return { parts: stripAt(parts, (at) => replies.has(parts.entries[at] ?? ""), count, cuts), changes: [] };
}

function stripAt(parts: RequestParts, isChosen: (at: number) => boolean, count: CountMessage, cuts: CutMemo): RequestParts {
  const changed = new Map<number, CountedMessage>();
  for (const [at, message] of parts.messages.entries()) {
    if (!isChosen(at) || countBound(message) === 0) continue;
    const strip = () => {
      const stripped = stripThinking(message);
      return { message: stripped, tokens: count(stripped) };
    };
    changed.set(at, cuts.get(message, "without thinking", strip));
  }
  return changed.size === 0 ? parts : replaceParts(parts, changed);
}

/** A request without the thinking behind a change, and what was left out. */
interface WithoutThinking {
  readonly parts: RequestParts;
  readonly leftOut: readonly LeftOutThinking[];
}

/**
 * Removes the signed thinking of a shortened request that stands behind the first message that differs from `before`, the request as
 * it was: a model that binds thinking to its prefix rejects it. Linear.
 */
export function leaveOutBehindChange(parts: RequestParts, before: RequestParts, count: CountMessage, cuts: CutMemo): WithoutThinking {
  const changed = parts.messages.findIndex((message, at) => message !== before.messages[at]);
  if (changed === -1) return { parts, leftOut: [] };
  const leftOut = parts.messages.flatMap((message, at): readonly LeftOutThinking[] => {
    const [blocks, entryId] = [countBound(message), parts.entries[at]];
    return at < changed || blocks === 0 || entryId === undefined ? [] : [{ entryId, because: "changed", blocks }];
  });
  return { parts: stripAt(parts, (at) => at >= changed, count, cuts), leftOut };
}

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
  const replyIndex = parts.messages.findIndex(({ role }) => role === "assistant");
  const reply = parts.messages[replyIndex];
  const entry = parts.entries[replyIndex];
  if (reply?.role !== "assistant" || entry === undefined || reply.content[0]?.type === "thinking") return keepParts(parts);
  // If the block of the request does not fit or would be rejected, the block stored with the compaction is tried.
  for (const block of [findLastThinking(input.before.messages, input.before.entries.indexOf(entry)), input.summarized]) {
    if (!block || (input.setting === "auto" && !isAccepted(block, reply))) continue;
    const message: AssistantMessage = { ...reply, content: [block, ...reply.content] };
    const now = count(message);
    const added = now - (parts.tokens[replyIndex] ?? 0);
    if (total + added > input.limitTokens) continue;
    const change = { kind: "reattached-thinking", entry, tokens: added } as const;
    return { parts: replaceParts(parts, new Map([[replyIndex, { message, tokens: now }]])), changes: [change] };
  }
  return keepParts(parts);
}

/** The last thinking block of messages before `end`, byte for byte. */
export function findLastThinking(messages: readonly ContextMessage[], end = messages.length): ThinkingBlock | undefined {
  for (let at = end - 1; at >= 0; at -= 1) {
    const message = messages[at];
    const content = message?.role === "assistant" ? message.content : [];
    const block = content.findLast((one): one is ThinkingBlock => one.type === "thinking");
    if (block !== undefined) return block;
  }
  return undefined;
}

// Anthropic rejects a block without its signature, and one in a reply of another company's model.
function isAccepted({ thinkingSignature }: ThinkingBlock, { provider, model }: AssistantMessage): boolean {
  const isTheirs = (provider === undefined && model === undefined) || findModelFamily({ provider, modelId: model }).needsThinking;
  return thinkingSignature !== undefined && thinkingSignature !== "" && isTheirs;
}
