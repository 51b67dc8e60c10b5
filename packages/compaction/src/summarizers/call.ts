import { raceAbort } from "@bough/session-core/engine";
import { type CallFailure, SummarizerCallError, SummaryRejectedError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";
import { parseFailure } from "./parse-failure.js";
import { parseSummarizerReply } from "./reply.js";
import type { Summarizer, SummaryReply, SummaryRequest } from "./summarizer.js";

/** The settings of the same names. */
export interface CallPolicy {
  /** Retries of each candidate, after its first call. */
  readonly retries: number;
  /** Of one call. */
  readonly timeoutMs: number;
}

// Delays before retries.
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

/** Replaced in tests. */
export interface CallDependencies {
  /** Resolves after `ms`, or rejects when the signal aborts. Used between tries; the timeout of a call has its own timer. */
  readonly sleep?: ((ms: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/** A summary, the index of the candidate that wrote it, and the number of calls in all. */
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

/** OpenAI: `Unsupported value: 'temperature' does not support 0 with this model.`; Anthropic: "`temperature` may only be set to 1". */
function refusesTemperature(error: SummarizerCallError): boolean {
  return error.failure === "bad-request" && /\btemperature\b/i.test(parseFailure(error).text);
}

/**
 * Calls one summarizer after the other until one returns a summary.
 *
 * A model that accepts only its default temperature is asked again at once without one. A temporary failure is retried after a doubling
 * delay, or the provider's. If that exceeds `MAX_DELAY_MS`, and after any other failure, the next candidate is called. Three outcomes end the
 * call at once, because the caller must react to them: an abort, an overflow (a smaller input is needed) and a rejected reply (a stricter
 * prompt is needed). A summarizer that does not settle is abandoned after `timeoutMs`. No timer or listener remains.
 *
 * @throws the signal's reason; {SummaryRejectedError}; {SummarizerCallError} the overflow, or the last candidate's
 * failure.
 */
export async function callSummarizer(
  candidates: readonly Summarizer[],
  request: SummaryRequest,
  policy: CallPolicy,
  { sleep = wait }: CallDependencies = {},
): Promise<CalledReply> {
  let failure: SummarizerCallError | undefined;
  let attempts = 0;
  for (const [candidate, summarizer] of candidates.entries()) {
    let sent = request;
    for (let retries = 0; ; ) {
      attempts += 1;
      const outcome = await tryOnce(summarizer, sent, policy.timeoutMs);
      if (!(outcome instanceof SummarizerCallError)) return { ...outcome, candidate, attempts };
      failure = outcome;
      if (sent.temperature !== undefined && refusesTemperature(failure)) {
        sent = { ...sent, temperature: undefined };
        continue;
      }
      const delayMs = computeDelay(retries, failure, policy);
      if (delayMs === null) break;
      retries += 1;
      await raceAbort(() => sleep(delayMs, request.signal), request.signal);
    }
  }
  throw failure ?? new SummarizerCallError("bad-request", "no summarizer is configured");
}

/** The reply, or a failure after which a retry or another candidate may succeed. Outcomes for the caller are thrown. */
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

/** `setTimeout` treats a longer time as 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function callWithTimeout(summarizer: Summarizer, request: SummaryRequest, timeoutMs: number): Promise<unknown> {
  const own = new AbortController();
  const timer = setTimeout(
    () => own.abort(new SummarizerCallError("timeout", `no answer within ${timeoutMs} ms`)),
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  const signal = request.signal === undefined ? own.signal : AbortSignal.any([request.signal, own.signal]);
  try {
    // Async, so that a summarizer that throws before its first await is handled like any other.
    return await raceAbort(async () => summarizer({ ...request, signal }), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The delay before the next try of this candidate, after `retries` retries, in milliseconds; null: call the next candidate. Pure. */
function computeDelay(retries: number, { failure, retryAfterMs }: SummarizerCallError, policy: CallPolicy): number | null {
  if (!IS_RETRYABLE[failure] || retries >= policy.retries) return null;
  if (retryAfterMs !== undefined) return retryAfterMs <= MAX_DELAY_MS ? retryAfterMs : null;
  return Math.min(FIRST_DELAY_MS * 2 ** retries, MAX_DELAY_MS);
}

/** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await raceAbort(() => new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))), signal);
  } finally {
    clearTimeout(timer);
  }
}
