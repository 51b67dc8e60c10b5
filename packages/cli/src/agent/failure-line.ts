import { type FailureParts, readFailureParts } from "@bough/compaction/internals";
import { withoutSecrets } from "@bough/formats/secrets";
import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";

/** Maximum width of the line, in columns. */
const MAX = 400;

/** Length of a response body that is searched, in UTF-16 code units; a page can have any length. */
const LOOKED_AT = 100_000;

/** Also removed before the cut, because a secret may be cut in half there. */
const CUT_EDGE = 5_000;

/**
 * Describes why a model call failed, in one line of at most 400 columns that is safe to show and store: the HTTP status, the
 * message of the server, and the cause behind a bare "fetch failed". Secrets are removed, also in the spellings of URLs,
 * HTML, JSON and Base64. The time is linear in the length of the response.
 */
export function failureLine(error: unknown, secrets: readonly string[]): string {
  const { status, ...parts } = readFailureParts(error);
  const words = describeFailure(parts, secrets);
  const isRefusal = status !== undefined && (status < 200 || status > 299);
  const line = isRefusal ? `HTTP ${status}: ${words === "" ? "no explanation" : words}` : words;
  const clean = cleaned(line, secrets);
  return truncate(safe(clean === "" ? "the request to the model failed" : clean), MAX, "…");
}

/** Messages of libraries for a stream that ended too early; they depend on the version of Node. */
const BROKE_OFF = /^(terminated$|Failed to process successful response)/;

/** The HTTP status of a failure, else its line: short enough for a line of progress. */
export function shortFailure(error: unknown, secrets: readonly string[]): string {
  const { status } = readFailureParts(error);
  return status === undefined ? failureLine(error, secrets) : `HTTP ${status}`;
}

function describeFailure({ message, cause, body }: Omit<FailureParts, "status">, secrets: readonly string[]): string {
  if (BROKE_OFF.test(message))
    return `The connection broke in the middle of the reply${cause === "" || cause === message ? "" : `: ${cause}`}`;
  // A proxy in front of a model answers with a page: its beginning explains more than "Bad Gateway" alone.
  const hasPage = body !== "" && !body.includes(message) && message.length <= 40;
  const page = hasPage ? `: ${withoutTags(cleaned(body, secrets)).slice(0, 200)}` : "";
  return `${message}${page}${cause === "" || message.includes(cause) ? "" : ` (${cause})`}`;
}

/** Removes HTML tags in linear time: a tag contains no `<`. */
function withoutTags(page: string): string {
  return page
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The beginning of a text in one line, without secrets. */
function cleaned(text: string, secrets: readonly string[]): string {
  const beginning = withoutSecrets(text.slice(0, LOOKED_AT), secrets);
  return (text.length > LOOKED_AT ? beginning.slice(0, -CUT_EDGE) : beginning).replace(/\s+/g, " ").trim();
}
