import type { EntryId } from "@bough/session-core";

/** The sizes of a context at one moment, compared later to see whether enough has changed to try again. */
export interface ContextSnapshot {
  /** The message that opened the turn; null: it is summarized, or there is none. */
  readonly turnId: EntryId | null;
  readonly thresholdTokens: number;
  readonly usedTokens: number;
  readonly messages: number;
}

/**
 * Why automatic compaction pauses. `no-headroom`, `too-many-messages`: the last compaction left a context that would be
 * compacted again at once. `undone`: the user undid it. `failed`, `nothing-to-compact`: the last attempt appended nothing.
 */
export type StallReason = "no-headroom" | "too-many-messages" | "undone" | "failed" | "nothing-to-compact";

/** A pause of automatic compaction: its reason, and the context when it began. */
export interface Stall extends ContextSnapshot {
  readonly because: StallReason;
  /** A failure between two turns: the prompt of the next turn alone does not end the pause. */
  readonly turnOver?: boolean | undefined;
}

/** Growth that is worth another attempt, as a share: as much as a compaction must save to count (`breaker.minSavingsShare`). */
const GROWTH_SHARE = 0.1;
/** The same after a failure. The intervals grow with the context, so a summarizer that always fails costs few calls. */
const RETRY_GROWTH_SHARE = 0.25;
/** Messages that are worth another summary. */
const LEAST_MESSAGES = 4;

/**
 * Whether automatic compaction still pauses. A new turn, model or threshold ends the pause; inside one turn, which may
 * have hundreds of requests, a growing context does: by a quarter after a failure, else by a tenth of the threshold, or a
 * shrinking one. Without the pause each request would summarize again what cannot become smaller. Pure.
 */
export function isStalled(stall: Stall | null, now: ContextSnapshot): boolean {
  if (stall === null || stall.thresholdTokens !== now.thresholdTokens) return false;
  // The kept tail alone has too many messages, and a new turn does not change that: only new messages can be summarized.
  if (stall.because === "too-many-messages") return now.usedTokens <= now.thresholdTokens && !grewByMessages(stall, now);
  const onlyPrompted = stall.turnOver === true && now.messages === stall.messages + 1;
  if (stall.turnId !== now.turnId && !onlyPrompted) return false;
  if (stall.because === "undone") return true;
  if (stall.because === "failed") return now.usedTokens < (1 + RETRY_GROWTH_SHARE) * stall.usedTokens;
  return now.usedTokens >= stall.usedTokens && now.usedTokens <= stall.usedTokens + GROWTH_SHARE * now.thresholdTokens;
}

function grewByMessages({ messages }: Stall, now: ContextSnapshot): boolean {
  return now.messages < messages || now.messages > messages + Math.max(LEAST_MESSAGES, Math.ceil(GROWTH_SHARE * messages));
}

/**
 * Whether a background run may start after an earlier one since the last compaction. That one failed, found nothing to
 * compact or was discarded, and another would end in the same way until the turn or the threshold changed, or the context
 * grew or shrank by a tenth of the threshold. Pure.
 */
export function startsAgain(last: Omit<ContextSnapshot, "messages"> | null, now: Omit<ContextSnapshot, "messages">): boolean {
  if (last === null || last.turnId !== now.turnId || last.thresholdTokens !== now.thresholdTokens) return true;
  return Math.abs(now.usedTokens - last.usedTokens) >= GROWTH_SHARE * now.thresholdTokens;
}
