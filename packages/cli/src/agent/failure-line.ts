import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";

/** An error's line is no longer than this, in columns. */
const MAX = 400;

/** A server's answer is looked at so far, in UTF-16 code units; a page can have any length. */
const LOOKED_AT = 100_000;

/** Where the rest is left out, so is this much before it: a secret can have been cut in half there. */
const CUT_EDGE = 5_000;

/** What keys look like where nobody told us the key: OpenAI's and Anthropic's, Groq's, xAI's, Google's, and a bearer. */
const KEY_SHAPES = /\b(?:sk|gsk|xai)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer [A-Za-z0-9._~+/-]{8,}/g;

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
  const beginning = secrets
    .filter((secret) => secret.length >= 4)
    .flatMap((secret): readonly (string | RegExp)[] => [spellings(secret), ...base64Parts(secret)])
    .reduce<string>((kept, secret) => kept.replaceAll(secret, "[hidden]"), text.slice(0, LOOKED_AT))
    .replace(KEY_SHAPES, "[hidden]");
  return (text.length > LOOKED_AT ? beginning.slice(0, -CUT_EDGE) : beginning).replace(/\s+/g, " ").trim();
}

const HTML_NAMES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

/** A secret character by character: as it is, or as URLs (once or twice), HTML and JSON write it. */
function spellings(secret: string): RegExp {
  const written = [...secret.toWellFormed()].map((character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    const url = [...new TextEncoder().encode(character)].map((byte) => `%(?:25)?${anyCase(byte.toString(16).padStart(2, "0"))}`);
    const html = [`#0{0,6}${character.codePointAt(0)}`, `#[xX]0{0,6}${anyCase(code)}`, HTML_NAMES[character]].filter(Boolean);
    const plain = `\\\\{0,3}${escaped(character)}`;
    const inJson = `\\\\{1,2}u${anyCase(code.padStart(4, "0"))}`;
    // The longer spelling first: that of a percent sign begins with one.
    return `(?:${url.join("")}|&(?:${html.join("|")});|${inJson}|${plain}${character === " " ? "|\\+" : ""})`;
  });
  return new RegExp(written.join(""), "gu");
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function escaped(character: string): string {
  return /[A-Za-z0-9]/.test(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/**
 * What Base64 makes of a secret, whatever stands before and behind it: for each of the three places at which it can begin, the
 * characters that depend on nothing else. Both alphabets.
 */
function base64Parts(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const parts = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    return whole.toString("base64").slice(Math.ceil((before * 4) / 3), Math.floor((whole.length * 4) / 3));
  });
  return parts.filter((part) => part.length >= 8).flatMap((part) => [part, part.replaceAll("+", "-").replaceAll("/", "_")]);
}

function textMember(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
