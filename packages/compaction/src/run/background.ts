import { type BackgroundEvent, type BackgroundStart, nextBackground } from "../plan/background-state.js";
import { readSpan } from "../plan/span.js";
import { applyDraft, emitUnsuccessful } from "./apply-draft.js";
import type { ContextState } from "./context-state.js";
import type { Draft } from "./draft.js";
import { type Engine, isInsideHook, withSessionLock } from "./engine.js";
import { recordFailure } from "./failure.js";
import { orAborted } from "./or-aborted.js";
import type { CompactionResult } from "./results.js";
import { writeDraft } from "./write-draft.js";

/** What a later start is compared with. */
export function startOf({ turn, use }: ContextState): BackgroundStart {
  return { turnId: turn.id, thresholdTokens: use.thresholdTokens, usedTokens: use.totalTokens };
}

/**
 * Starts a summary beside the agent's turn, on the path as it is now. Nothing is appended before `applyBackground`.
 * Never throws and never rejects: what goes wrong is told by an event and by the state.
 */
export function startBackground(engine: Engine, state: ContextState): void {
  const { leafId } = engine.session;
  if (leafId === null) return;
  const attemptId = engine.newAttempt();
  const abort = new AbortController();
  dispatch(engine, { type: "started", attempt: attemptId });
  engine.memory.backgroundStart = startOf(state);
  engine.emit({ type: "compactionStart", attemptId, trigger: "threshold", background: true, use: state.use });
  engine.memory.backgroundRun = { abort, settled: runBackground(engine, state, leafId, attemptId, abort.signal) };
}

async function runBackground(engine: Engine, state: ContextState, leafId: string, attemptId: string, signal: AbortSignal): Promise<void> {
  const about = { attemptId, trigger: "threshold" } as const;
  try {
    const span = await readSpan(engine.session, leafId, state.meter);
    const written = await writeDraft(engine, { ...about, instructions: null, signal, state, span });
    if (signal.aborted) return;
    if (written.kind === "draft") return dispatch(engine, { type: "finished", attempt: attemptId, draft: written.draft });
    dispatch(engine, { type: "cancelled" });
    emitUnsuccessful(engine, about, true, written.kind);
  } catch (error) {
    // Whoever cancelled it has told so already.
    if (signal.aborted) return;
    dispatch(engine, { type: "failed", attempt: attemptId });
    await recordFailure(engine, error, { ...about, background: true, willRetry: false });
  }
}

function dispatch(engine: Engine, event: BackgroundEvent<Draft>): void {
  engine.memory.background = nextBackground(engine.memory.background, event);
}

/** Waits for the running summary, or until `signal` ends the wait (which then throws its reason). */
export async function whenBackgroundSettled(engine: Engine, signal: AbortSignal | undefined): Promise<void> {
  const { backgroundRun } = engine.memory;
  // A hook of that very run must not wait for it.
  if (backgroundRun === null || isInsideHook(engine.session)) return;
  await orAborted(backgroundRun.settled, signal);
}

/** Appends the finished summary; `superseded` where the path has changed under it. */
export async function applyBackground(engine: Engine): Promise<CompactionResult> {
  const { background } = engine.memory;
  if (background.at !== "ready") return { kind: "superseded" };
  return withSessionLock(engine.session, "compact", () => {
    dispatch(engine, { type: "consumed" });
    return applyDraft(engine, background.draft, true);
  });
}

/** Ends a background run, or throws its finished result away. */
export function cancelBackground(engine: Engine, outcome: "cancelled" | "discarded" = "cancelled"): void {
  const { background, backgroundRun } = engine.memory;
  if (background.at === "idle") return;
  dispatch(engine, { type: "cancelled" });
  backgroundRun?.abort.abort();
  engine.memory.backgroundRun = null;
  if (background.at === "failed") return;
  const usage = background.at === "ready" ? background.draft.usage : null;
  emitUnsuccessful(engine, { attemptId: background.attempt, trigger: "threshold", usage }, true, outcome);
}
