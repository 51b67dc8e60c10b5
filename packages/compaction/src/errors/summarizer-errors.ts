import { BoughError } from "@bough/session-core";

/** Why a model's answer is no summary. */
export type RejectedBecause =
  | "empty"
  | "tool-call"
  | "cut-by-length"
  | "larger-than-source"
  | "not-a-text"
  | "no-summary-tag"
  | "refused"
  | "echo"
  | "low-fidelity";

const SAID: Readonly<Record<RejectedBecause, string>> = {
  empty: "it is empty",
  "tool-call": "it calls a tool",
  "cut-by-length": "it was cut by the output limit",
  "larger-than-source": "it is larger than what it replaces",
  "not-a-text": "it is not a text",
  "no-summary-tag": "it has no <summary>",
  refused: "the model or its filter refused",
  echo: "it repeats the instructions",
  "low-fidelity": "it says next to nothing of what it replaces",
};

/** A model answered, but not with a summary. Nothing was written; the engine asks again more strictly, then extracts. */
export class SummaryRejectedError extends BoughError {
  readonly code = "SUMMARY_REJECTED";
  override readonly name = "SummaryRejectedError";
  constructor(
    readonly reason: RejectedBecause,
    /** What came, for a log; untrusted. */
    readonly text: string = "",
  ) {
    super(`The model's answer is no summary: ${SAID[reason]}.`);
  }
}

/**
 * Which kind of failure a call of a model met. `rate-limit`, `overloaded`, `timeout` and `network` may pass and are
 * tried again; `overflow` asks for a smaller input; `auth` and `bad-request` are final.
 */
export type CallFailure = "rate-limit" | "overloaded" | "timeout" | "network" | "overflow" | "auth" | "bad-request";

/** A summariser could not be reached or refused the call. */
export class SummarizerCallError extends BoughError {
  readonly code = "SUMMARIZER_CALL";
  override readonly name = "SummarizerCallError";
  /** HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    readonly failure: CallFailure,
    said: string,
    options: { cause?: unknown; status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(`The summariser could not be called (${failure}): ${said}`, { cause: options.cause });
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
