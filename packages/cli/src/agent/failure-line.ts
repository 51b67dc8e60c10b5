import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";

/** An error's line is no longer than this, in columns. */
const MAX = 400;

/** What keys look like where nobody told us the key: OpenAI's and Anthropic's, Groq's, xAI's, Google's, and a bearer. */
const KEY_SHAPES = /\b(?:sk|gsk|xai)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer [A-Za-z0-9._~+/-]{8,}/g;

/**
 * Why a model call failed, in one line of at most 400 columns that can be shown and stored: the server's own words where
 * there are any, its status, and what lies behind a bare "fetch failed". No secret is in it, also if the server repeats one.
 */
export function failureLine(error: unknown, secrets: readonly string[]): string {
  const last = behind(error);
  const status = member(last, "statusCode");
  const words = wordsOf(last);
  const line = typeof status === "number" ? `HTTP ${status}: ${words === "" ? "no explanation" : words}` : words;
  const clean = hidden(line, secrets).replace(/\s+/g, " ").trim();
  return truncate(safe(clean === "" ? "the model could not be asked" : clean), MAX, "…");
}

/** The last try of several is why it failed. */
function behind(error: unknown): unknown {
  return member(error, "lastError") ?? error;
}

function wordsOf(error: unknown): string {
  const own = typeof error === "string" ? error : textMember(error, "message");
  const inner = deepest(error);
  const body = textMember(error, "responseBody");
  // Servers in front of a model answer with a page: its beginning says more than "Bad Gateway" alone.
  const page = body === "" || body.includes(own) || own.length > 40 ? "" : `: ${body.replace(/<[^>]*>/g, " ").slice(0, 200)}`;
  return `${own}${page}${inner === "" || own.includes(inner) ? "" : ` (${inner})`}`;
}

/** `fetch` says only that it failed; its cause says why: refused, reset, no such host. */
function deepest(error: unknown): string {
  let found = "";
  let cause = member(error, "cause");
  for (let depth = 0; depth < 5 && cause !== undefined; depth += 1) {
    const said = textMember(cause, "message");
    const code = textMember(cause, "code");
    found = said === "" ? code || found : said;
    cause = member(cause, "cause");
  }
  return found;
}

function hidden(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 4)
    .reduce((kept, secret) => kept.replaceAll(secret, "[hidden]"), text)
    .replace(KEY_SHAPES, "[hidden]");
}

function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
