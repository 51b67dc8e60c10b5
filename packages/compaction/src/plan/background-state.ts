import type { EntryId } from "@bough/session-core";

/**
 * Where the background summary of a session is. `D` is what a finished one has written.
 *
 * Late results are known by their attempt: one that was cancelled or overtaken changes nothing.
 */
export type BackgroundState<D> =
  | { readonly at: "idle" }
  | { readonly at: "running"; readonly attempt: string }
  | { readonly at: "ready"; readonly attempt: string; readonly draft: D }
  | { readonly at: "failed"; readonly attempt: string };

/** What can happen to it. `consumed`: its result was applied, thrown away, or its failure was reported. */
export type BackgroundEvent<D> =
  | { readonly type: "started"; readonly attempt: string }
  | { readonly type: "finished"; readonly attempt: string; readonly draft: D }
  | { readonly type: "failed"; readonly attempt: string }
  | { readonly type: "consumed" }
  | { readonly type: "cancelled" };

/**
 * The next state (VS Code's machine: idle, in progress, completed or failed; a failed one may start again). Pure; an
 * event that does not fit leaves the state as it is, which the caller sees by identity.
 */
export function nextBackground<D>(state: BackgroundState<D>, event: BackgroundEvent<D>): BackgroundState<D> {
  switch (event.type) {
    case "started":
      return state.at === "idle" || state.at === "failed" ? { at: "running", attempt: event.attempt } : state;
    case "finished":
      return isCurrent(state, event.attempt) ? { at: "ready", attempt: event.attempt, draft: event.draft } : state;
    case "failed":
      return isCurrent(state, event.attempt) ? { at: "failed", attempt: event.attempt } : state;
    case "consumed":
      // While one is running there is nothing to consume.
      return state.at === "ready" || state.at === "failed" ? { at: "idle" } : state;
    case "cancelled":
      return state.at === "idle" ? state : { at: "idle" };
  }
}

/** When a background run was started, and how things were then. */
export interface BackgroundStart {
  /** The message that opened the turn; null: it is summarised. */
  readonly turnId: EntryId | null;
  readonly thresholdTokens: number;
  readonly usedTokens: number;
}

// As much as a compaction must save to count (`breaker.minSavingsShare`).
const CHANGE_SHARE = 0.1;

/**
 * Whether a background run may be started though one was since the last compaction: it failed, found nothing to do or
 * was thrown away, and would end in the same way until something changed. That is a new turn, other limits, or a context
 * that grew or shrank by a tenth of the threshold: a turn may have hundreds of model calls, and each may shrink it a little.
 */
export function startsAgain(last: BackgroundStart | null, now: BackgroundStart): boolean {
  if (last === null || last.turnId !== now.turnId || last.thresholdTokens !== now.thresholdTokens) return true;
  return Math.abs(now.usedTokens - last.usedTokens) >= CHANGE_SHARE * now.thresholdTokens;
}

function isCurrent<D>(state: BackgroundState<D>, attempt: string): boolean {
  return state.at === "running" && state.attempt === attempt;
}
