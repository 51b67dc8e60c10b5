import { BoughError } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { nextBreaker } from "../plan/decide.js";
import type { Trigger } from "../plan/plan-compaction.js";
import type { Draft } from "./draft.js";
import { callHook, type Engine } from "./engine.js";
import type { CompactionComplete } from "./events.js";
import type { CompactionDone, CompactionFailure } from "./results.js";

/** An attempt that threw. */
interface FailedAttempt {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly background: boolean;
  /** True if the host will send the request again. */
  readonly willRetry: boolean;
}

/** Emits `compactionComplete` for a compaction that was appended. */
export function emitCompacted(
  engine: Engine,
  done: CompactionDone,
  more: Pick<CompactionComplete, "background" | "useAfter" | "checkpointNumber">,
): void {
  const { attemptId, trigger, entryId, tokensBefore, tokensAfter, messagesBefore, messagesAfter } = done;
  const { usage, checkpointPath, method, failures, requestId } = done;
  const sizes = { tokensBefore, tokensAfter, messagesBefore, messagesAfter };
  const about = { attemptId, trigger, entryId, ...sizes, usage, checkpointPath, method, failures, requestId, ...more };
  const fidelity = done.fidelity?.score ?? null;
  engine.emit({ type: "compactionComplete", success: true, error: null, outcome: "compacted", fidelity, ...about });
}

/** Emits `compactionComplete` for an attempt that appended nothing. Its `usage` is counted too. */
export function emitNotCompacted(
  engine: Engine,
  attempt: Pick<Draft, "attemptId" | "trigger"> & { readonly usage?: Draft["usage"] },
  background: boolean,
  outcome: Exclude<CompactionComplete["outcome"], "compacted">,
  error: CompactionComplete["error"] = null,
): void {
  engine.emit({
    type: "compactionComplete",
    attemptId: attempt.attemptId,
    trigger: attempt.trigger,
    background,
    success: false,
    error,
    outcome,
    entryId: null,
    tokensBefore: null,
    tokensAfter: null,
    messagesBefore: null,
    messagesAfter: null,
    usage: attempt.usage ?? null,
    useAfter: null,
    method: null,
    fidelity: null,
    failures: [],
    requestId: null,
    checkpointPath: null,
    checkpointNumber: null,
  });
}

/**
 * Records a failed attempt: the event, the hook `compactFailed` and the breaker. Returns the result and does not throw,
 * because the failure of a summarizer must not fail the agent's turn.
 */
export async function recordFailure(engine: Engine, thrown: unknown, attempt: FailedAttempt): Promise<CompactionFailure> {
  const error = toError(thrown);
  const failure: CompactionFailure = { kind: "failed", error, attemptId: attempt.attemptId };
  const { state } = engine;
  const askedModel = !(error instanceof HookResultError);
  state.breaker = nextBreaker(state.breaker, { saved: null, askedModel });
  const status = error instanceof SummarizerCallError ? error.status : undefined;
  const eventError = { code: codeOf(error), message: error.message, ...(status === undefined ? {} : { status }) };
  emitNotCompacted(engine, attempt, attempt.background, "failed", eventError);
  await callHook(engine, "compactFailed", { ...failure, trigger: attempt.trigger, willRetry: attempt.willRetry });
  return failure;
}

/** Wraps anything that is thrown in an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(typeof thrown === "string" ? thrown : `a value of type ${typeof thrown} was thrown`, { cause: thrown });
}

/** The code of an error in events: its own, or SUMMARIZER_FAILED for an error of a host's summarizer. */
export function codeOf(error: Error): string {
  return error instanceof BoughError ? error.code : "SUMMARIZER_FAILED";
}
