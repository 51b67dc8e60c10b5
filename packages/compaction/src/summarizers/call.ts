import { type CallFailure, SummarizerCallError, SummaryRejectedError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";
import { untilAborted } from "./http/until-aborted.js";
import { parseSummarizerReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/** How often and how long to try; times in milliseconds. The settings of the same names. */
export interface CallPolicy {
  /** New tries for each candidate, after its first call. */
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
  /** Of one call. */
  readonly timeoutMs: number;
}

/** What a test replaces. */
export interface CallDependencies {
  /** Resolves after `ms`, or rejects when the signal aborts. Between tries only; a call's timeout has its own timer. */
  readonly sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/** A summary, which of the candidates wrote it (0: the first), and how many calls it took in all. */
interface CalledReply extends SummaryReply {
  readonly candidate: number;
  readonly attempts: number;
}

const IS_RETRYABLE: Readonly<Record<CallFailure, boolean>> = {
  "rate-limit": true,
  overloaded: true,
  timeout: true,
  network: true,
  overflow: false,
  auth: false,
  "bad-request": false,
};

/**
 * Asks one summarizer after the other until one gives a summary.
 *
 * A failure that may pass is tried again after a doubling wait, or after the wait that the provider asks for; where that is
 * longer than `maxRetryDelayMs`, and after any other failure, the next candidate is asked. Three things end it at once,
 * because only the caller can answer them: the caller's abort, an overflow (a smaller input is needed) and a reply that is no
 * summary (a stricter prompt is needed). A summarizer that never settles is left behind after `timeoutMs`; whatever it does
 * later is dropped. No timer and no listener is left.
 *
 * @throws the signal's reason; {SummaryRejectedError}; {SummarizerCallError} the overflow, or the last candidate's failure.
 */
export async function callSummarizer(
  candidates: readonly Summarizer[],
  request: SummaryRequest,
  policy: CallPolicy,
  { sleep = wait }: CallDependencies = {},
): Promise<CalledReply> {
  let failure = new SummarizerCallError("bad-request", "no summarizer is configured");
  let attempts = 0;
  for (const [candidate, summarizer] of candidates.entries()) {
    for (let tries = 0; ; tries += 1) {
      attempts += 1;
      const outcome = await tryOnce(summarizer, request, policy.timeoutMs);
      if (!(outcome instanceof SummarizerCallError)) return { ...outcome, candidate, attempts };
      failure = outcome;
      const delayMs = computeDelay(tries, failure, policy);
      if (delayMs === null) break;
      await untilAborted(request.signal, () => sleep(delayMs, request.signal));
    }
  }
  throw failure;
}

/** The reply, or a failure that another try or another candidate may mend. What only the caller can answer is thrown. */
async function tryOnce(summarizer: Summarizer, request: SummaryRequest, timeoutMs: number): Promise<SummaryReply | SummarizerCallError> {
  try {
    return parseSummarizerReply(await callWithTimeout(summarizer, request, timeoutMs));
  } catch (error) {
    request.signal?.throwIfAborted();
    if (error instanceof SummaryRejectedError) throw error;
    const failure = toCallError(error);
    if (failure.failure === "overflow") throw failure;
    return failure;
  }
}

/** `setTimeout` takes a longer time for 1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function callWithTimeout(summarizer: Summarizer, request: SummaryRequest, timeoutMs: number): Promise<unknown> {
  const own = new AbortController();
  const timer = setTimeout(
    () => own.abort(new SummarizerCallError("timeout", `no answer within ${timeoutMs} ms`)),
    Math.min(timeoutMs, LONGEST_TIMER_MS),
  );
  const signal = request.signal === undefined ? own.signal : AbortSignal.any([request.signal, own.signal]);
  try {
    // In an async function, so that a summarizer which throws before its first await fails like any other.
    return await untilAborted(signal, async () => summarizer({ ...request, signal }));
  } finally {
    clearTimeout(timer);
  }
}

/** How long to wait before the next try of this candidate, in milliseconds; null: ask the next one. Pure. */
function computeDelay(tries: number, { failure, retryAfterMs }: SummarizerCallError, policy: CallPolicy): number | null {
  if (!IS_RETRYABLE[failure] || tries >= policy.retries) return null;
  if (retryAfterMs !== undefined) return retryAfterMs <= policy.maxRetryDelayMs ? retryAfterMs : null;
  return Math.min(policy.retryDelayMs * 2 ** tries, policy.maxRetryDelayMs);
}

/** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await untilAborted(signal, () => new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))));
  } finally {
    clearTimeout(timer);
  }
}
