import { raceAbort } from "@bough/session-core/engine";
import { newEntryId } from "@bough/session-core/wire";
import { type BackgroundEvent, nextBackground } from "../plan/background-transitions.js";
import { readSpan } from "../plan/span.js";
import { applyDraft } from "./apply-draft.js";
import { type ContextState, snapshotOf } from "./context-state.js";
import type { Draft } from "./draft.js";
import { type Engine, emitNotCompacted, isInsideHook, recordFailure, withSessionLock } from "./engine.js";
import type { CompactionResult } from "./results.js";
import { writeDraft } from "./write-draft.js";

/**
 * Starts to write a summary of the current path while the agent continues. Appends nothing; `applyBackground` does. Never
 * throws: a failure is reported by an event and kept in the background state.
 *
 * @returns whether one was started: another call may have started one since the state was read.
 */
export function startBackground(engine: Engine, state: ContextState): boolean {
  const { leafId } = engine.session;
  const { at } = engine.state.background;
  if (leafId === null || at === "running" || at === "ready") return false;
  const attemptId = newEntryId();
  const abort = new AbortController();
  dispatch(engine, { type: "started", attempt: attemptId });
  engine.state.backgroundStart = snapshotOf(state);
  engine.emit({ type: "compactionStart", attemptId, trigger: "threshold", background: true, use: state.use });
  engine.state.backgroundRun = { abort, settled: runBackground(engine, state, leafId, attemptId, abort.signal) };
  return true;
}

async function runBackground(engine: Engine, state: ContextState, leafId: string, attemptId: string, signal: AbortSignal): Promise<void> {
  const attempt = { attemptId, trigger: "threshold" } as const;
  try {
    const span = await readSpan(engine.session, leafId, state.meter, state.shape);
    const written = await writeDraft(engine, { ...attempt, instructions: null, signal, state, span });
    if (signal.aborted) return;
    if (written.kind === "draft") return dispatch(engine, { type: "finished", attempt: attemptId, draft: written.draft });
    dispatch(engine, { type: "cancelled" });
    emitNotCompacted(engine, attempt, true, written.kind);
  } catch (error) {
    // `cancelBackground` has already emitted the event.
    if (signal.aborted) return;
    dispatch(engine, { type: "failed", attempt: attemptId });
    await recordFailure(engine, error, { ...attempt, background: true, willRetry: false });
  }
}

function dispatch(engine: Engine, event: BackgroundEvent<Draft>): void {
  engine.state.background = nextBackground(engine.state.background, event);
}

/** Resolves when the background run has ended; at once inside a hook, which may be the run's own. @throws the reason of `signal`. */
export async function whenBackgroundSettled(engine: Engine, signal: AbortSignal | undefined): Promise<void> {
  const { backgroundRun } = engine.state;
  if (backgroundRun === null || isInsideHook(engine.session)) return;
  await raceAbort(backgroundRun.settled, signal);
}

/**
 * Appends the finished summary; `superseded`: there is none, or the path has changed. After an error of the store the summary stays
 * ready, because its calls are paid for: the next request appends it.
 */
export async function applyBackground(engine: Engine): Promise<CompactionResult> {
  const { background } = engine.state;
  if (background.at !== "ready") return { kind: "superseded" };
  return withSessionLock(engine.session, "compact", async () => {
    dispatch(engine, { type: "consumed" });
    try {
      return await applyDraft(engine, background.draft, true);
    } catch (error) {
      if (engine.state.background.at === "idle") engine.state.background = background;
      const { attemptId, trigger } = background.draft;
      return recordFailure(engine, error, { attemptId, trigger, background: true, willRetry: false });
    }
  });
}

/** Aborts the background run, or discards its finished summary. */
export function cancelBackground(engine: Engine, outcome: "cancelled" | "discarded" = "cancelled"): void {
  const { background, backgroundRun } = engine.state;
  if (background.at === "idle") return;
  dispatch(engine, { type: "cancelled" });
  backgroundRun?.abort.abort();
  engine.state.backgroundRun = null;
  if (background.at === "failed") return;
  const usage = background.at === "ready" ? background.draft.usage : null;
  emitNotCompacted(engine, { attemptId: background.attempt, trigger: "threshold", usage }, true, outcome);
}
