import type { EntryId } from "@bough/session-core";
import { readSpan } from "../path/read-span.js";
import type { Trigger } from "../rules/trigger.js";
import { applyDraft, tellOutcome } from "./apply-draft.js";
import { cancelBackground } from "./background.js";
import type { Engine } from "./engine.js";
import { failed } from "./failure.js";
import { alone } from "./lock.js";
import { type Look, look } from "./look.js";
import type { CompactionResult } from "./result.js";
import { writeDraft } from "./write-draft.js";

/** A compaction that its caller waits for. */
export interface CompactOrder {
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
export async function compactNow(engine: Engine, order: CompactOrder): Promise<CompactionResult> {
  return alone(engine.session, "compact", async () => {
    cancelBackground(engine);
    const own = new AbortController();
    const signal = order.signal === undefined ? own.signal : AbortSignal.any([order.signal, own.signal]);
    engine.memory.foreground = own;
    try {
      return await attempt(engine, { ...order, signal }, await look(engine));
    } finally {
      engine.memory.foreground = null;
    }
  });
}

async function attempt(engine: Engine, order: CompactOrder, seen: Look): Promise<CompactionResult> {
  const { leafId } = engine.session;
  if (leafId === null) return { kind: "nothing-to-compact", reason: "too-few-messages" };
  const { trigger, signal = new AbortController().signal, instructions = null, keepFrom, again } = order;
  const about = { attemptId: engine.newAttempt(), trigger };
  engine.emit({ type: "compaction_start", ...about, background: false, use: seen.use });
  try {
    signal.throwIfAborted();
    const span = await readSpan(engine.session, leafId, seen.meter);
    const written = await writeDraft(engine, { ...about, instructions, keepFrom, again, signal, look: seen, span });
    // An extract is written without a pause; an interruption that came meanwhile is heard now.
    await new Promise(setImmediate);
    // Asked once more after the last wait: a cancelled compaction leaves no trace (R39).
    signal.throwIfAborted();
    if (written.kind === "draft") return await applyDraft(engine, written.draft, false);
    tellOutcome(engine, about, false, written.kind);
    return written;
  } catch (error) {
    if (signal.aborted) {
      tellOutcome(engine, about, false, "cancelled");
      return { kind: "cancelled", by: "signal" };
    }
    return failed(engine, error, { ...about, background: false, willRetry: trigger === "context_limit_retry" });
  }
}
