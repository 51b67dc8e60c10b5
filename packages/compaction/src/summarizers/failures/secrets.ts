import { rules } from "@bough/session-core/internals";

/** A shorter one is no secret and could stand in any word. */
const MIN_SECRET = 4;

/** What keys look like where nobody told us the key: OpenAI's and Anthropic's, Groq's, xAI's, Google's, and a bearer. */
const KEY_SHAPES = /\b(?:sk|gsk|xai)[-_][A-Za-z0-9_-]{12,}|\bAIza[A-Za-z0-9_-]{20,}|\bBearer [A-Za-z0-9._~+/-]{8,}/g;

/**
 * A text with each secret, and what has the shape of one, replaced by `[hidden]`: a server may repeat the key it was sent, as it
 * is or as URLs, HTML, JSON and Base64 write it. Secrets of fewer than 4 characters stay: they could stand in any word. Cost:
 * linear in the text, times the number of secrets.
 *
 * @example
 * console.error(withoutSecrets(error.message, [apiKey]));
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  rules.checkArgument("text", text, rules.TEXT);
  rules.checkArgument("secrets", secrets, rules.list(rules.TEXT, "an array of texts"));
  return secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .flatMap((secret): readonly (string | RegExp)[] => [spellings(secret), ...base64Parts(secret)])
    .reduce<string>((kept, secret) => kept.replaceAll(secret, "[hidden]"), text)
    .replace(KEY_SHAPES, "[hidden]");
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
