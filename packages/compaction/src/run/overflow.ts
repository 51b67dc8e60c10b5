import { type ContextMessage, type EntryId, LeafMovedError, type SessionContext, type Write } from "@bough/session-core";
import { recordRefusal } from "../fit/back-off.js";
import { isContextOverflow, parseContextLimit } from "../summarizers/overflow.js";
import { applyBackground, whenBackgroundSettled } from "./background.js";
import { compactNow } from "./compact.js";
import { readContextState } from "./context-state.js";
import { type Engine, retryWhileBusy, whenIdle } from "./engine.js";
import type { CompactionResult, OverflowResult } from "./results.js";

/**
 * See `Compactor.reportOverflow`. One recovery for each failure: a second overflow of the same turn with no successful
 * reply between gives up. A rate limit is not an overflow, nor is an overflow-like error of a request that is small by our count.
 */
export async function reportOverflow(engine: Engine, error: unknown, signal?: AbortSignal): Promise<OverflowResult> {
  try {
    return await recover(engine, error, signal);
  } catch (thrown) {
    if (signal?.aborted === true) return { kind: "cancelled" };
    throw thrown;
  }
}

async function recover(engine: Engine, error: unknown, signal: AbortSignal | undefined): Promise<OverflowResult> {
  await whenIdle(engine.session, signal);
  const { state } = engine;
  const { recovery, backOff } = state;
  const { use, limits, context, turn, settings } = await readContextState(engine);
  if (!isContextOverflow(error, { usedTokens: use.totalTokens, windowTokens: limits.windowTokens })) return { kind: "not-overflow" };
  const lastGood = lastSuccessfulReply(context);
  if (state.recovery !== null && state.recovery.turnId === turn.id && state.recovery.lastGood === lastGood) return { kind: "gave-up" };
  state.recovery = { turnId: turn.id, lastGood };
  const named = parseContextLimit(error);
  state.backOff = recordRefusal(state.backOff, named, settings.request);
  state.stall = null;
  // A recovery that was cancelled or failed sent no request, so the next report of this failure must be able to recover.
  const restore = () => Object.assign(state, { recovery, backOff });
  try {
    await omitFailedAttempt(engine, context);
    const compaction = await compactAfterOverflow(engine, signal);
    if (compaction.kind === "cancelled" && compaction.by === "signal") {
      restore();
      return { kind: "cancelled" };
    }
    // Nothing became smaller, and the limit is the one that was kept: the same request would be rejected again.
    if (compaction.kind !== "compacted" && named !== undefined && named >= limits.limitTokens)
      state.backOff = recordRefusal(state.backOff, undefined, settings.request);
    return { kind: "retry", compaction };
  } catch (thrown) {
    restore();
    throw thrown;
  }
}

/**
 * Awaits and applies a running background summary, whose calls are already paid for. If there is none, or the context is
 * still above its threshold, compacts now.
 */
async function compactAfterOverflow(engine: Engine, signal: AbortSignal | undefined): Promise<CompactionResult> {
  await whenBackgroundSettled(engine, signal);
  let applied: CompactionResult | null = null;
  if (engine.state.background.at === "ready") {
    const result = await retryWhileBusy(engine.session, signal, () => applyBackground(engine));
    if (result.kind === "compacted") applied = result;
    const { use, limits } = await readContextState(engine);
    if (applied !== null && use.totalTokens <= limits.thresholdTokens) return applied;
  }
  const request = { trigger: "context_limit_retry", again: applied !== null, signal } as const;
  const result = await retryWhileBusy(engine.session, signal, () => compactNow(engine, request));
  return applied !== null && result.kind === "nothing-to-compact" ? applied : result;
}

/** The newest successful reply; while it stays the same, a second overflow is the same failure. */
function lastSuccessfulReply({ messages, entries }: SessionContext): EntryId | null {
  return entries[messages.findLastIndex((message) => message.role === "assistant" && !isFailedAttempt(message))] ?? null;
}

/** True if a reply failed; also by `length`: a reply that is cut off at once has filled the window. */
function isFailedAttempt(message: ContextMessage): boolean {
  return message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "length");
}

/**
 * Omits the failed reply at the end of the context and the results of its calls by edits; they stay in the history. A
 * reply that succeeded stays in the context.
 */
async function omitFailedAttempt({ session }: Engine, { messages, entries }: SessionContext): Promise<void> {
  const at = messages.findLastIndex((message) => message.role !== "toolResult");
  const attempt = messages[at];
  const { leafId } = session;
  if (attempt === undefined || leafId === null || !isFailedAttempt(attempt)) return;
  // A set, because a synthetic result has the id of the entry of its call.
  const targets = new Set(entries.slice(at));
  const writes = [...targets].map((targetId): Write => ({ kind: "entry", entry: { type: "context_edit", targetId, replacement: null } }));
  try {
    await session.write(writes, { expectedLeafId: leafId });
  } catch (error) {
    // Another writer moved the leaf, so the end of the context is no longer the failed attempt.
    if (!(error instanceof LeafMovedError)) throw error;
  }
}
