import { type CallFailure, SummarizerCallError } from "../errors/summarizer-errors.js";
import { withoutSecrets } from "./failures/secrets.js";
import { isOverflowFailure } from "./overflow.js";
import { type FailureDetails, parseFailure } from "./read-failure.js";

export { isContextOverflow, type MeasuredRequest, parseContextLimit } from "./overflow.js";

/** What a status alone says. Missing ones: any other 4xx is a bad request, any other 5xx an overload. */
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

// In order: the first that is found counts. An empty account does not fill by waiting, so it is looked for before limits.
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

/**
 * Which kind of failure a call met. A table: the words of an overflow, then other words, then the status; what none of them
 * knows is final.
 *
 * @example
 * callFailureOf({ statusCode: 429, message: "Too Many Requests" }); // "rate-limit"
 */
export function callFailureOf(error: unknown): CallFailure {
  return error instanceof SummarizerCallError ? error.failure : classifyFailure(parseFailure(error));
}

function classifyFailure(failure: FailureDetails): CallFailure {
  if (isOverflowFailure(failure)) return "overflow";
  const byWords = BY_WORDS.find(([words]) => words.test(failure.text))?.[1];
  return classifyByStatus(failure.status, byWords) ?? byWords ?? "bad-request";
}

/** A status is surer than words, where both speak; but a 413 about tokens per minute, or a 429 of an empty account, is not what it says. */
function classifyByStatus(status: number | undefined, byWords: CallFailure | undefined): CallFailure | undefined {
  if (status === undefined) return undefined;
  if (status === 429) return byWords === "auth" ? "auth" : "rate-limit";
  // Not an overflow by its words, or it had been found before.
  if (status === 413) return byWords ?? "bad-request";
  if (status === 400 && (byWords === "rate-limit" || byWords === "overloaded" || byWords === "auth")) return byWords;
  return BY_STATUS[status] ?? (status >= 500 ? "overloaded" : "bad-request");
}

/** How long the message of a failure may be, in UTF-16 code units: one line on a screen or in a log. */
const MAX_SAID = 400;

/** What `asCallError` needs to know. */
interface CallErrorOptions {
  /** Never shown, whoever repeats them. */
  readonly secrets?: readonly string[] | undefined;
  /** For a `Retry-After` that names a date. */
  readonly nowMs?: number | undefined;
}

/**
 * Any error of a call as ours, with the original as its cause. One of ours is returned as it is. No secret given is in the
 * message; a cause that repeats one is left out.
 */
export function toCallError(error: unknown, { secrets = [], nowMs }: CallErrorOptions = {}): SummarizerCallError {
  if (error instanceof SummarizerCallError) return error;
  const failure = parseFailure(error, nowMs);
  // Before it is cut: a secret that is cut in half is not known any more.
  const text = withoutSecrets(failure.text, secrets);
  const repeats = text !== failure.text;
  return new SummarizerCallError(classifyFailure(failure), oneLine({ ...failure, text }), {
    cause: repeats ? undefined : error,
    status: failure.status,
    retryAfterMs: failure.retryAfterMs,
  });
}

function oneLine({ status, text }: FailureDetails): string {
  const [said = ""] = text.split("\n").filter((line) => line.trim() !== "");
  const clean = said.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
  const short = clean.length > MAX_SAID ? `${clean.slice(0, MAX_SAID).toWellFormed()}…` : clean;
  return status === undefined || short.startsWith(String(status)) ? short || "no reason given" : `${status} ${short}`.trim();
}
