import { withoutSecrets } from "@bough/formats/secrets";
import { oneLine } from "@bough/session-core/view";
import { type CallFailure, SummarizerCallError } from "../errors/summarizer-errors.js";
import { isOverflowFailure } from "./overflow.js";
import { type FailureDetails, parseFailure } from "./parse-failure.js";

/** Options of `toCallError`. */
interface CallErrorOptions {
  /** Removed from the message. */
  readonly secrets?: readonly string[] | undefined;
  /** Needed for a `Retry-After` with a date. */
  readonly nowMs?: number | undefined;
}

/** Longest message of a failure, in UTF-16 code units: one line on a screen or in a log. */
const MAX_MESSAGE_CHARS = 400;

/**
 * Converts any error of a call, with the original as its cause. A {SummarizerCallError} is returned as it is. The message
 * contains none of `secrets`; a cause that contains one is omitted.
 *
 * The kind is decided by the text of an overflow, then by other texts and the status; an unknown error is a bad request.
 *
 * @example
 * toCallError({ statusCode: 429, message: "Too Many Requests" }).failure; // "rate-limit"
 */
export function toCallError(error: unknown, { secrets = [], nowMs }: CallErrorOptions = {}): SummarizerCallError {
  if (error instanceof SummarizerCallError) return error;
  const failure = parseFailure(error, nowMs);
  // Secrets are removed before the text is cut, because half a secret is not recognized.
  const text = withoutSecrets(failure.text, secrets);
  const repeats = text !== failure.text;
  return new SummarizerCallError(classifyFailure(failure), formatMessage({ ...failure, text }), {
    cause: repeats ? undefined : error,
    status: failure.status,
    retryAfterMs: failure.retryAfterMs,
  });
}

function formatMessage({ status, text }: FailureDetails): string {
  const [line = ""] = text.split("\n").filter((line) => line.trim() !== "");
  const short = oneLine(line, MAX_MESSAGE_CHARS);
  return status === undefined || short.startsWith(String(status)) ? short || "no reason given" : `${status} ${short}`.trim();
}

function classifyFailure(failure: FailureDetails): CallFailure {
  if (isOverflowFailure(failure)) return "overflow";
  const byWords = BY_WORDS.find(([words]) => words.test(failure.text))?.[1];
  return classifyByStatus(failure.status, byWords) ?? byWords ?? "bad-request";
}

/** The status decides if there is one, with two exceptions: a 413 about tokens per minute, and a 429 of an empty account. */
function classifyByStatus(status: number | undefined, byWords: CallFailure | undefined): CallFailure | undefined {
  if (status === undefined) return undefined;
  if (status === 429) return byWords === "auth" ? "auth" : "rate-limit";
  // An overflow was recognized by its text before.
  if (status === 413) return byWords ?? "bad-request";
  if (status === 400 && (byWords === "rate-limit" || byWords === "overloaded" || byWords === "auth")) return byWords;
  return BY_STATUS[status] ?? (status >= 500 ? "overloaded" : "bad-request");
}

/** The kind of failure by HTTP status. Any other 4xx is a bad request, any other 5xx an overload. */
const BY_STATUS: Readonly<Record<number, CallFailure>> = {
  401: "auth",
  402: "auth",
  403: "auth",
  407: "auth",
  408: "timeout",
  409: "overloaded",
  413: "overflow",
  425: "overloaded",
  429: "rate-limit",
  504: "timeout",
  522: "timeout",
  524: "timeout",
  529: "overloaded",
};

// The first match counts. An empty account does not recover by waiting, so it is matched before rate limits.
const BY_WORDS: readonly (readonly [RegExp, CallFailure])[] = [
  [/insufficient_quota|exceeded your current quota|credit balance is too low|payment required|insufficient (?:credits|funds)/i, "auth"],
  [
    /rate[ _-]?limit|too many requests|throttl|too many tokens|(?:tokens|requests) per (?:min|minute|hour|day)|resource_exhausted|\bquota\b/i,
    "rate-limit",
  ],
  [/overloaded|at capacity|server is busy|service unavailable|temporarily unavailable|internal server error|server_error/i, "overloaded"],
  [/TimeoutError|ETIMEDOUT|UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT|timed? ?out/i, "timeout"],
  [/invalid[ _]api[ _]key|incorrect api key|unauthorized|authentication_error|permission_error|permission denied/i, "auth"],
  [
    /ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_|fetch failed|cannot connect|network error|socket hang up|^terminated$|AbortError|premature close|stream ended|JSONParseError|InvalidResponseData|empty response body|no output generated/im,
    "network",
  ],
];
