import { type ContextMessage, type EntryId, LeafMovedError, type SessionContext, type Write } from "@bough/session-core";
import { recordRefusal } from "../fit/back-off.js";
import { isContextOverflow, parseContextLimit } from "../summarizers/call-failure.js";
import { applyBackground, whenBackgroundSettled } from "./background.js";
import { compactNow } from "./compact.js";
import { readContextState } from "./context-state.js";
import { type Engine, retryWhileBusy, whenIdle } from "./engine.js";
import type { CompactionResult } from "./results.js";

/** What to do about a request that the provider refused. */
export type OverflowResult =
  /** Prepare the request again and send it: the failed attempt is out of the context, and the limit is lower. */
  | { readonly kind: "retry"; readonly compaction: CompactionResult }
  /** This is no overflow (a rate limit, say): nothing was done. */
  | { readonly kind: "not-overflow" }
  /** The retry failed too, and no request went well since: nothing was done, the error is for the person. */
  | { readonly kind: "gave-up" }
  | { readonly kind: "cancelled" };

/**
 * See `Compactor.reportOverflow`. One recovery for one failure (R103); a rate limit is never taken for an overflow
 * (R108), nor is a full-sounding error of a request that we measured to be small (R109).
 */
export async function reportOverflow(engine: Engine, error: unknown, signal?: AbortSignal): Promise<OverflowResult> {
  await whenIdle(engine.session, signal);
  const { memory } = engine;
  const { recovery, backOff: backOffBefore } = memory;
  const seen = await readContextState(engine);
  if (!isContextOverflow(error, { usedTokens: seen.use.totalTokens, windowTokens: seen.limits.windowTokens }))
    return { kind: "not-overflow" };
  const lastGood = lastGoodReply(seen.context);
  if (memory.recovery !== null && memory.recovery.turnId === seen.turn.id && memory.recovery.lastGood === lastGood)
    return { kind: "gave-up" };
  memory.recovery = { turnId: seen.turn.id, lastGood };
  memory.backOff = recordRefusal(memory.backOff, parseContextLimit(error), seen.settings.request);
  memory.stall = null;
  await omitFailedAttempt(engine, seen.context);
  // Nothing was sent again yet, so the one recovery is still to come where this one is cancelled.
  const forget = () => Object.assign(memory, { recovery, backOff: backOffBefore });
  try {
    const compaction = await compactAfterOverflow(engine, signal);
    if (compaction.kind !== "cancelled" || compaction.by !== "signal") return { kind: "retry", compaction };
    forget();
    return { kind: "cancelled" };
  } catch (error) {
    forget();
    if (signal?.aborted === true) return { kind: "cancelled" };
    throw error;
  }
}

/**
 * A summary that is being written beside the turn is waited for and applied, as its calls are paid for (Copilot CLI's rule);
 * where there is none, or it leaves the context over its threshold, one is written now.
 */
async function compactAfterOverflow(engine: Engine, signal: AbortSignal | undefined): Promise<CompactionResult> {
  await whenBackgroundSettled(engine, signal);
  let applied: CompactionResult | null = null;
  if (engine.memory.background.at === "ready") {
    const result = await retryWhileBusy(engine.session, signal, () => applyBackground(engine));
    if (result.kind === "compacted") applied = result;
    const { use, limits } = await readContextState(engine);
    if (applied !== null && use.totalTokens <= limits.thresholdTokens) return applied;
  }
  const order = { trigger: "context_limit_retry", again: applied !== null, signal } as const;
  const result = await retryWhileBusy(engine.session, signal, () => compactNow(engine, order));
  return applied !== null && result.kind === "nothing-to-compact" ? applied : result;
}

/** The newest reply that went well: while it stays the same, a second overflow is the same failure. */
function lastGoodReply({ messages, entries }: SessionContext): EntryId | null {
  return entries[messages.findLastIndex((message) => message.role === "assistant" && !isFailedAttempt(message))] ?? null;
}

// pi's rule: an answer that is cut by length at once has met the window too.
function isFailedAttempt(message: ContextMessage): boolean {
  return message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "length");
}

/**
 * Takes the failed attempt at the end of the context out of it, together with the results of its calls (R111, R112). It
 * stays in the history. A finished answer is no attempt and stays (R110).
 */
async function omitFailedAttempt({ session }: Engine, { messages, entries }: SessionContext): Promise<void> {
  const at = messages.findLastIndex((message) => message.role !== "toolResult");
  const attempt = messages[at];
  const { leafId } = session;
  if (attempt === undefined || leafId === null || !isFailedAttempt(attempt)) return;
  // The synthetic result of a call has the entry of the call, which is among them once.
  const targets = new Set(entries.slice(at));
  const writes = [...targets].map((targetId): Write => ({ kind: "entry", entry: { type: "context_edit", targetId, replacement: null } }));
  try {
    await session.write(writes, { expectedLeafId: leafId });
  } catch (error) {
    // Somebody went on meanwhile; what stands at the end now is not the attempt that failed.
    if (!(error instanceof LeafMovedError)) throw error;
  }
}
