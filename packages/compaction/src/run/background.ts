import { type BackgroundEvent, type BackgroundStart, nextBackground } from "../plan/background-state.js";
import { readSpan } from "../plan/span.js";
import { applyDraft, tellOutcome } from "./apply-draft.js";
import type { Look } from "./context-state.js";
import type { Draft } from "./draft.js";
import { alone, type Engine, inHook } from "./engine.js";
import { failed } from "./failure.js";
import { orAborted } from "./or-aborted.js";
import type { CompactionResult } from "./results.js";
import { writeDraft } from "./write-draft.js";

/** What a later start is compared with. */
export function startOf({ turn, use }: Look): BackgroundStart {
  return { turnId: turn.id, thresholdTokens: use.thresholdTokens, usedTokens: use.totalTokens };
}

/**
 * Starts a summary beside the agent's turn, on the path as it is now. Nothing is appended before `applyBackground`.
 * Never throws and never rejects: what goes wrong is told by an event and by the state.
 */
export function startBackground(engine: Engine, look: Look): void {
  const { leafId } = engine.session;
  if (leafId === null) return;
  const attemptId = engine.newAttempt();
  const abort = new AbortController();
  take(engine, { type: "started", attempt: attemptId });
  engine.memory.backgroundStart = startOf(look);
  engine.emit({ type: "compaction_start", attemptId, trigger: "threshold", background: true, use: look.use });
  engine.memory.backgroundRun = { abort, settled: write(engine, look, leafId, attemptId, abort.signal) };
}

async function write(engine: Engine, look: Look, leafId: string, attemptId: string, signal: AbortSignal): Promise<void> {
  const about = { attemptId, trigger: "threshold" } as const;
  try {
    const span = await readSpan(engine.session, leafId, look.meter);
    const written = await writeDraft(engine, { ...about, instructions: null, signal, look, span });
    if (signal.aborted) return;
    if (written.kind === "draft") return take(engine, { type: "finished", attempt: attemptId, draft: written.draft });
    take(engine, { type: "cancelled" });
    tellOutcome(engine, about, true, written.kind);
  } catch (error) {
    // Whoever cancelled it has told so already.
    if (signal.aborted) return;
    take(engine, { type: "failed", attempt: attemptId });
    await failed(engine, error, { ...about, background: true, willRetry: false });
  }
}

function take(engine: Engine, event: BackgroundEvent<Draft>): void {
  engine.memory.background = nextBackground(engine.memory.background, event);
}

/** Waits for the running summary, or until `signal` ends the wait (which then throws its reason). */
export async function backgroundSettled(engine: Engine, signal: AbortSignal | undefined): Promise<void> {
  const { backgroundRun } = engine.memory;
  // A hook of that very run must not wait for it.
  if (backgroundRun === null || inHook(engine.session)) return;
  await orAborted(backgroundRun.settled, signal);
}

/** Appends the finished summary; `superseded` where the path has changed under it. */
export async function applyBackground(engine: Engine): Promise<CompactionResult> {
  const { background } = engine.memory;
  if (background.at !== "ready") return { kind: "superseded" };
  return alone(engine.session, "compact", () => {
    take(engine, { type: "consumed" });
    return applyDraft(engine, background.draft, true);
  });
}

/** Ends a background run, or throws its finished result away. */
export function cancelBackground(engine: Engine, outcome: "cancelled" | "discarded" = "cancelled"): void {
  const { background, backgroundRun } = engine.memory;
  if (background.at === "idle") return;
  take(engine, { type: "cancelled" });
  backgroundRun?.abort.abort();
  engine.memory.backgroundRun = null;
  if (background.at === "failed") return;
  const usage = background.at === "ready" ? background.draft.usage : null;
  tellOutcome(engine, { attemptId: background.attempt, trigger: "threshold", usage }, true, outcome);
}
