import { BoughError } from "@bough/session-core";

/** The reason why a model's reply was rejected as a summary. */
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

const REASONS: Readonly<Record<RejectedBecause, string>> = {
  empty: "it is empty",
  "tool-call": "it calls a tool",
  "cut-by-length": "it was cut by the output limit",
  "larger-than-source": "it is not smaller than what it replaces",
  "not-a-text": "it is not a text",
  "no-summary-tag": "it has no <summary>",
  refused: "the model or its filter refused",
  echo: "it repeats the instructions",
  "low-fidelity": "it has almost none of the facts that it replaces",
};

/** A model's reply is no summary. Nothing was written; the model is asked again with a stricter prompt, then the extract is used. */
export class SummaryRejectedError extends BoughError {
  readonly code = "SUMMARY_REJECTED";
  readonly reason: RejectedBecause;
  /** The reply, for a log; untrusted. */
  readonly text: string;
  constructor(reason: RejectedBecause, text = "") {
    super(`The model's reply is no summary: ${REASONS[reason]}.`);
    this.reason = reason;
    this.text = text;
  }
}

/**
 * The kind of a failed call. `rate-limit`, `overloaded`, `timeout` and `network` are temporary and retried; `overflow` needs
 * a smaller input; `auth` and `bad-request` are final.
 */
export type CallFailure = "rate-limit" | "overloaded" | "timeout" | "network" | "overflow" | "auth" | "bad-request";

/** A summarizer could not be reached, or rejected the call. */
export class SummarizerCallError extends BoughError {
  readonly code = "SUMMARIZER_CALL";
  readonly failure: CallFailure;
  /** HTTP status; undefined: there was no response. */
  readonly status: number | undefined;
  /** The delay that the provider asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    failure: CallFailure,
    reason: string,
    options: { cause?: unknown; status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(`The summarizer could not be called (${failure}): ${reason}`, { cause: options.cause });
    this.failure = failure;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
