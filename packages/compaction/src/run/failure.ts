import { BoughError } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { nextBreaker } from "../plan/breaker.js";
import type { Trigger } from "../plan/plan-compaction.js";
import { emitUnsuccessful } from "./apply-draft.js";
import { callHook } from "./call-hook.js";
import type { Engine } from "./engine.js";
import type { CompactionFailure } from "./results.js";

/** An attempt that threw. */
export interface FailedAttempt {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly background: boolean;
  /** Whether the caller will send the request again. */
  readonly willRetry: boolean;
}

/** Anything can be thrown, and not everything can be made a text. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(typeof thrown === "string" ? thrown : `something was thrown that is no error (${typeof thrown})`, { cause: thrown });
}

/** The code that events tell: ours, or one for all errors of a host's summariser. */
export function codeOf(error: Error): string {
  return error instanceof BoughError ? error.code : "SUMMARIZER_FAILED";
}

/**
 * What a failed attempt leaves: an event, a hook's call, a mark in the breaker, and the result. Whatever a host's
 * summariser throws is a failure of this attempt and never one of the agent's turn, so nothing is thrown on.
 */
export async function recordFailure(engine: Engine, thrown: unknown, attempt: FailedAttempt): Promise<CompactionFailure> {
  const error = toError(thrown);
  const failure: CompactionFailure = { kind: "failed", error, attemptId: attempt.attemptId };
  const { memory } = engine;
  memory.breaker = nextBreaker(
    memory.breaker,
    { saved: null, askedModel: !(error instanceof HookResultError) },
    engine.lastSettings.breaker,
  );
  const status = error instanceof SummarizerCallError ? error.status : undefined;
  emitUnsuccessful(engine, attempt, attempt.background, "failed", {
    code: codeOf(error),
    message: error.message,
    ...(status === undefined ? {} : { status }),
  });
  await callHook(engine, "compactFailed", { ...failure, trigger: attempt.trigger, willRetry: attempt.willRetry });
  return failure;
}
