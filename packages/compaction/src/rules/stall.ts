import type { EntryId } from "@bough/session-core";

/** Why the automatic path stands still, and how things were then. */
export interface Stall {
  readonly because: "no-headroom" | "too-many-messages" | "undone" | "failed" | "nothing-to-compact";
  /** The user message that the context ended with, at or above it. */
  readonly turnId: EntryId | null;
  readonly thresholdTokens: number;
  readonly usedTokens: number;
  readonly messages: number;
  /** A failure at the end of a turn: the prompt of the next one alone changes nothing. */
  readonly turnOver?: boolean | undefined;
}

/** How things are now. */
export type StallNow = Omit<Stall, "because" | "turnOver">;

// Another tenth of the threshold is as much as a compaction must save to count (`breaker.minSavingsShare`).
const GROWTH_SHARE = 0.1;
// A summariser that failed is asked again at ever longer intervals, so that one that always fails costs few calls.
const RETRY_GROWTH_SHARE = 0.25;
/** Messages that are worth another summary. */
const LEAST_MESSAGES = 4;

/**
 * Whether the automatic path still has to stand still: until a new turn, another model or settings; where a compaction
 * left too little room, or there was nothing to compact, until the context shrank, or grew by a tenth of the threshold, so
 * that there is something new to summarise; where one failed, until the context grew by a quarter, as a turn may have
 * hundreds of model calls. Without it each request would summarise again what cannot become smaller.
 */
export function isStalled(stall: Stall | null, now: StallNow): boolean {
  if (stall === null || stall.thresholdTokens !== now.thresholdTokens) return false;
  // What is kept is too many messages by itself, and stays so in the next turn: only new ones can be summarised.
  if (stall.because === "too-many-messages") return now.usedTokens <= now.thresholdTokens && !grewByMessages(stall, now);
  const onlyPrompted = stall.turnOver === true && now.messages === stall.messages + 1;
  if (stall.turnId !== now.turnId && !onlyPrompted) return false;
  if (stall.because === "undone") return true;
  if (stall.because === "failed") return now.usedTokens < (1 + RETRY_GROWTH_SHARE) * stall.usedTokens;
  return now.usedTokens >= stall.usedTokens && now.usedTokens <= stall.usedTokens + GROWTH_SHARE * now.thresholdTokens;
}

function grewByMessages({ messages }: Stall, now: StallNow): boolean {
  return now.messages < messages || now.messages > messages + Math.max(LEAST_MESSAGES, Math.ceil(GROWTH_SHARE * messages));
}
