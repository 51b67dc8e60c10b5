import type { EntryId } from "@bough/session-core";
import { turnOf } from "../plan/decide.js";
import type { Trigger } from "../plan/plan-compaction.js";
import { readSpan } from "../plan/span.js";
import { applyDraft, emitUnsuccessful } from "./apply-draft.js";
import { cancelBackground } from "./background.js";
import { syncCheckpointFiles } from "./checkpoint-files.js";
import { type ContextState, readContextState } from "./context-state.js";
import { type Engine, isInsideHook, retryWhileBusy, withSessionLock } from "./engine.js";
import { recordFailure } from "./failure.js";
import type { CompactionResult } from "./results.js";
import { writeDraft } from "./write-draft.js";

/** A compaction that its caller waits for. */
export interface CompactionRequest {
  readonly trigger: Trigger;
  readonly instructions?: string | null | undefined;
  readonly keepFrom?: EntryId | undefined;
  /** A background summary was applied just now and was not enough: what it kept came partly after it was planned. */
  readonly again?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The one way to compact while somebody waits: look, plan, hooks, summary, append, tell. A background run is cancelled
 * first. Every end is a result; the session changed only for `compacted`.
 *
 * @throws {CompactorBusyError} another one, or a navigation, is running.
 * @throws {InvalidSettingError} the settings are wrong.
 */
export async function compactNow(engine: Engine, order: CompactionRequest): Promise<CompactionResult> {
  return withSessionLock(engine.session, "compact", async () => {
    cancelBackground(engine);
    const own = new AbortController();
    const signal = order.signal === undefined ? own.signal : AbortSignal.any([order.signal, own.signal]);
    engine.memory.foreground = own;
    try {
      return await attempt(engine, { ...order, signal }, await readContextState(engine));
    } finally {
      engine.memory.foreground = null;
    }
  });
}

async function attempt(engine: Engine, order: CompactionRequest, state: ContextState): Promise<CompactionResult> {
  const { leafId } = engine.session;
  if (leafId === null) return { kind: "nothing-to-compact", reason: "too-few-messages" };
  const { trigger, signal = new AbortController().signal, instructions = null, keepFrom, again } = order;
  const about = { attemptId: engine.newAttempt(), trigger };
  engine.emit({ type: "compactionStart", ...about, background: false, use: state.use });
  try {
    signal.throwIfAborted();
    const span = await readSpan(engine.session, leafId, state.meter);
    const written = await writeDraft(engine, { ...about, instructions, keepFrom, again, signal, state: state, span });
    // An extract is written without a pause; an interruption that came meanwhile is heard now.
    await new Promise(setImmediate);
    // Asked once more after the last wait: a cancelled compaction leaves no trace (R39).
    signal.throwIfAborted();
    if (written.kind === "draft") return await applyDraft(engine, written.draft, false);
    emitUnsuccessful(engine, about, false, written.kind);
    return written;
  } catch (error) {
    if (signal.aborted) {
      emitUnsuccessful(engine, about, false, "cancelled");
      return { kind: "cancelled", by: "signal" };
    }
    return recordFailure(engine, error, { ...about, background: false, willRetry: trigger === "context_limit_retry" });
  }
}

/** Whether the agent is inside a turn: its newest prompt, tool call or tool result waits for a reply. */
export async function isTurnRunning({ session }: Engine): Promise<boolean> {
  return turnOf(await session.context()).open;
}

/** Runs a compaction that was asked for inside a turn, once no turn runs or a new one has just begun. */
export async function runDeferred(engine: Engine, signal: AbortSignal | undefined): Promise<CompactionResult | null> {
  const { deferred } = engine.memory;
  // A hook of another operation is no end of a turn.
  if (deferred === null || isInsideHook(engine.session) || (await isInsideOldTurn(engine))) return null;
  engine.memory.deferred = null;
  const signals = [deferred.signal, signal].filter((one) => one !== undefined);
  const order = { trigger: "manual", ...deferred, signal: AbortSignal.any(signals) } as const;
  return retryWhileBusy(engine.session, signal, () => compactNow(engine, order));
}

/** A new prompt ends the turn before it; only rounds of tools mean that the old turn still runs. */
async function isInsideOldTurn({ session }: Engine): Promise<boolean> {
  const { open, rounds } = turnOf(await session.context());
  return open && rounds > 0;
}

/** What became of an undo. `compactionId` is the compaction that no longer counts from here on. */
export type UndoResult =
  | { readonly kind: "undone"; readonly compactionId: EntryId; readonly entryId: EntryId }
  | { readonly kind: "nothing-to-undo" };

/**
 * See `Compactor.undoCompaction`. The automatic path stands still until the next turn, or it would do at once what was
 * just undone; the request guard goes on.
 */
export async function undoCompaction(engine: Engine): Promise<UndoResult> {
  return withSessionLock(engine.session, "undo", async () => {
    cancelBackground(engine);
    const { session, memory } = engine;
    const { leafId } = session;
    const { compaction } = await session.context({ leafId });
    if (compaction === null) return { kind: "nothing-to-undo" };
    const edit = { type: "context_edit", targetId: compaction.entryId, replacement: null } as const;
    const { id } = await session.append(edit, { expectedLeafId: leafId });
    const after = await readContextState(engine);
    memory.stall = {
      because: "undone",
      turnId: after.turn.id,
      thresholdTokens: after.limits.thresholdTokens,
      usedTokens: after.use.totalTokens,
      messages: after.context.messages.length,
    };
    engine.emit({ type: "stalled", because: "undone" });
    await syncCheckpointFiles(engine);
    return { kind: "undone", compactionId: compaction.entryId, entryId: id };
  });
}
