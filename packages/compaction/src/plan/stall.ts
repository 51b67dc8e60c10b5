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

/** Minimum growth before another attempt, as a share: the default of `breaker.minSavingsShare`. */
const MIN_GROWTH_SHARE = 0.1;
/**
 * Minimum growth before another attempt after a failure, as a share. The intervals grow with the context, so a summarizer
 * that always fails costs few calls.
 */
const MIN_RETRY_GROWTH_SHARE = 0.25;
/** Minimum new messages before another summary. */
const MIN_NEW_MESSAGES = 4;

/**
 * Whether automatic compaction still pauses. Without the pause each request would summarize again what cannot become
 * smaller. One of these ends the pause:
 * - a new turn, unless too many messages were kept; after a failure between turns, more than its prompt;
 * - another threshold (model or settings);
 * - after a failure: a context that grew by a quarter;
 * - after too many messages were kept: fewer messages, a tenth more (at least four), or a context above the threshold;
 * - after too little headroom or nothing to compact: a context that shrank, or grew by a tenth of the threshold.
 *
 * After an undo only a new turn or another threshold does. Pure.
 */
export function isStalled(stall: Stall | null, now: ContextSnapshot): boolean {
  if (stall === null || stall.thresholdTokens !== now.thresholdTokens) return false;
  // The kept tail alone has too many messages, and a new turn does not change that: only new messages can be summarized.
  if (stall.because === "too-many-messages") return now.usedTokens <= now.thresholdTokens && !grewByMessages(stall, now);
  const onlyPrompted = stall.turnOver === true && now.messages === stall.messages + 1;
  if (stall.turnId !== now.turnId && !onlyPrompted) return false;
  if (stall.because === "undone") return true;
  if (stall.because === "failed") return now.usedTokens < (1 + MIN_RETRY_GROWTH_SHARE) * stall.usedTokens;
  return now.usedTokens >= stall.usedTokens && now.usedTokens <= stall.usedTokens + MIN_GROWTH_SHARE * now.thresholdTokens;
}

function grewByMessages({ messages }: Stall, now: ContextSnapshot): boolean {
  return now.messages < messages || now.messages > messages + Math.max(MIN_NEW_MESSAGES, Math.ceil(MIN_GROWTH_SHARE * messages));
}

/**
 * Whether a background run may start although one was started since the last compaction. That one failed, found nothing to
 * compact or was discarded. Another would end the same way unless the turn or the threshold has changed, or the context has
 * grown or shrunk by a tenth of the threshold. Pure.
 */
export function startsAgain(last: Omit<ContextSnapshot, "messages"> | null, now: Omit<ContextSnapshot, "messages">): boolean {
  if (last === null || last.turnId !== now.turnId || last.thresholdTokens !== now.thresholdTokens) return true;
  return Math.abs(now.usedTokens - last.usedTokens) >= MIN_GROWTH_SHARE * now.thresholdTokens;
}
