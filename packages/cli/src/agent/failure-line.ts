import { withoutSecrets } from "@bough/compaction/internals";
import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";

/** An error's line is no longer than this, in columns. */
const MAX = 400;

/** A server's answer is looked at so far, in UTF-16 code units; a page can have any length. */
const LOOKED_AT = 100_000;

/** Where the rest is left out, so is this much before it: a secret can have been cut in half there. */
const CUT_EDGE = 5_000;

/**
 * Why a model call failed, in one line of at most 400 columns that can be shown and stored: the server's own words where
 * there are any, its status, and what lies behind a bare "fetch failed". No secret is in it, also if the server repeats one,
 * as it is or as URLs, HTML, JSON and Base64 write it. The time is linear in what the server said.
 */
export function failureLine(error: unknown, secrets: readonly string[]): string {
  const last = behind(error);
  const status = member(last, "statusCode");
  const words = wordsOf(last, secrets);
  const isRefusal = typeof status === "number" && (status < 200 || status > 299);
  const line = isRefusal ? `HTTP ${status}: ${words === "" ? "no explanation" : words}` : words;
  const clean = cleaned(line, secrets);
  return truncate(safe(clean === "" ? "the model could not be asked" : clean), MAX, "…");
}

/** The last try of several is why it failed. */
function behind(error: unknown): unknown {
  return member(error, "lastError") ?? error;
}

/** What libraries say where a stream that had begun well ended too early; Node's versions differ. */
const BROKE_OFF = /^(terminated$|Failed to process successful response)/;

function wordsOf(error: unknown, secrets: readonly string[]): string {
  const own = typeof error === "string" ? error : textMember(error, "message");
  const inner = deepest(error);
  if (BROKE_OFF.test(own)) return `the answer broke off${inner === "" || inner === own ? "" : `: ${inner}`}`;
  const body = textMember(error, "responseBody");
  // Servers in front of a model answer with a page: its beginning says more than "Bad Gateway" alone.
  const page = body === "" || body.includes(own) || own.length > 40 ? "" : `: ${withoutTags(cleaned(body, secrets)).slice(0, 200)}`;
  return `${own}${page}${inner === "" || own.includes(inner) ? "" : ` (${inner})`}`;
}

/** Each `<` is looked at once: a tag holds no other. */
function withoutTags(page: string): string {
  return page
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
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

/** One line without secrets; of a long text its beginning. */
function cleaned(text: string, secrets: readonly string[]): string {
  const beginning = withoutSecrets(text.slice(0, LOOKED_AT), secrets);
  return (text.length > LOOKED_AT ? beginning.slice(0, -CUT_EDGE) : beginning).replace(/\s+/g, " ").trim();
}

function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
