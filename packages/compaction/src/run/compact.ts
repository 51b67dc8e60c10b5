import { setImmediate as pause } from "node:timers/promises";
import type { EntryId } from "@bough/session-core";
import { newEntryId } from "@bough/session-core/wire";
import { turnOf } from "../plan/decide.js";
import type { Trigger } from "../plan/plan-compaction.js";
import { readSpan } from "../plan/span.js";
import { applyDraft } from "./apply-draft.js";
import { cancelBackground } from "./background.js";
import { syncCheckpointFiles } from "./checkpoint-files.js";
import { type ContextState, readContextState, snapshotOf } from "./context-state.js";
import { type Engine, emitNotCompacted, isInsideHook, recordFailure, retryWhileBusy, withSessionLock } from "./engine.js";
import type { CompactionResult, UndoResult } from "./results.js";
import { writeDraft } from "./write-draft.js";

/** A compaction that its caller awaits. */
interface CompactionRequest {
  readonly trigger: Trigger;
  readonly instructions?: string | null | undefined;
  readonly keepFrom?: EntryId | undefined;
  /** A background summary was just applied and did not free enough, so later entries are summarized as well. */
  readonly again?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Compacts while the caller waits: cancels a background run, reads the state, writes a draft and applies it. Failures and
 * cancellation are results; the session changed only for `compacted`.
 *
 * @throws {CompactorBusyError} another compaction or a navigation is running.
 * @throws {InvalidSettingError}
 */
export async function compactNow(engine: Engine, request: CompactionRequest): Promise<CompactionResult> {
  return withSessionLock(engine.session, "compact", async () => {
    cancelBackground(engine);
    const own = new AbortController();
    const signal = request.signal === undefined ? own.signal : AbortSignal.any([request.signal, own.signal]);
    engine.state.foreground = own;
    try {
      return await attemptCompaction(engine, request, signal, await readContextState(engine));
    } finally {
      engine.state.foreground = null;
    }
  });
}

async function attemptCompaction(
  engine: Engine,
  { trigger, instructions = null, keepFrom, again }: CompactionRequest,
  signal: AbortSignal,
  state: ContextState,
): Promise<CompactionResult> {
  const { leafId } = engine.session;
  if (leafId === null) return { kind: "nothing-to-compact", reason: "too-few-messages" };
  const attempt = { attemptId: newEntryId(), trigger };
  engine.emit({ type: "compactionStart", ...attempt, background: false, use: state.use });
  try {
    signal.throwIfAborted();
    const span = await readSpan(engine.session, leafId, state.meter, state.shape);
    const written = await writeDraft(engine, { ...attempt, instructions, keepFrom, again, signal, state, span });
    // The extract is written without an await, so the event that aborts the signal may still be queued: let it run, then
    // check for the last time before the append.
    await pause();
    signal.throwIfAborted();
    if (written.kind === "draft") return await applyDraft(engine, written.draft, false);
    emitNotCompacted(engine, attempt, false, written.kind);
    return written;
  } catch (error) {
    if (signal.aborted) {
      emitNotCompacted(engine, attempt, false, "cancelled");
      return { kind: "cancelled", by: "signal" };
    }
    return recordFailure(engine, error, { ...attempt, background: false, willRetry: trigger === "context_limit_retry" });
  }
}

/** True if a turn is running: the newest prompt, tool call or tool result needs a reply. */
export async function isTurnRunning({ session }: Engine): Promise<boolean> {
  return turnOf(await session.context()).open;
}

/** Runs the compaction that was deferred to the end of the turn, if that turn has ended; null: there is none, or it has not. */
export async function runDeferredCompaction(engine: Engine, signal: AbortSignal | undefined): Promise<CompactionResult | null> {
  const deferred = engine.state.deferredCompaction;
  // A call from a hook of another operation is not the end of a turn.
  if (deferred === null || isInsideHook(engine.session) || (await isInsideOldTurn(engine))) return null;
  engine.state.deferredCompaction = null;
  const signals = [deferred.signal, signal].filter((one) => one !== undefined);
  const request = { trigger: "manual", ...deferred, signal: AbortSignal.any(signals) } as const;
  return retryWhileBusy(engine.session, signal, () => compactNow(engine, request));
}

/** An open turn without a round of tool calls is a new one: its prompt ended the turn before it. */
async function isInsideOldTurn({ session }: Engine): Promise<boolean> {
  const { open, rounds } = turnOf(await session.context());
  return open && rounds > 0;
}

/**
 * See `Compactor.undoCompaction`. Automatic compaction pauses until the next turn, because it would compact again at once;
 * requests are still made to fit.
 */
export async function undoCompaction(engine: Engine): Promise<UndoResult> {
  return withSessionLock(engine.session, "undo", async () => {
    cancelBackground(engine);
    const { session, state } = engine;
    const { leafId } = session;
    const { compaction } = await session.context({ leafId });
    if (compaction === null) return { kind: "nothing-to-undo" };
    const edit = { type: "context_edit", targetId: compaction.entryId, replacement: null } as const;
    const id = newEntryId();
    // Written as a move of the leaf, so that undoing the last move puts the compaction in force again.
    const writes = [
      { kind: "entry", entry: { ...edit, id }, parentId: leafId },
      { kind: "moveLeaf", to: id },
    ] as const;
    await session.write(writes, { expectedLeafId: leafId });
    state.stall = { because: "undone", ...snapshotOf(await readContextState(engine)) };
    engine.emit({ type: "stalled", because: "undone" });
    await syncCheckpointFiles(engine);
    return { kind: "undone", compactionId: compaction.entryId, entryId: id };
  });
}
