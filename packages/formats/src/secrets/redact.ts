import { checkArgument, list, TEXT } from "@bough/session-core/arguments";
import { replaceSecrets } from "./mask-secrets.js";

/** Options of `redact`: the secrets to redact, and the text in their place. */
export interface RedactOptions {
  /** Keys and passwords that are known; those of fewer than 4 characters are ignored, because they can be part of any word. */
  readonly secrets?: readonly string[] | undefined;
  /** In brackets. Default: `[redacted]`. */
  readonly replacement?: "[redacted]" | "[hidden]" | undefined;
}

/**
 * Replaces the secrets that `findSecrets` finds in a text by one word, and the given secrets, also as URLs, HTML, JSON and Base64
 * write them. Redacting a text twice changes nothing more. Linear in the text, times the number of secrets.
 *
 * @example
 * redact("export DB_PASSWORD=hunter22"); // "export DB_PASSWORD=[redacted]"
 */
export function redact(text: string, { secrets = [], replacement = "[redacted]" }: RedactOptions = {}): string {
  const patterns = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS).flatMap(secretPatterns);
  return replaceSecrets(
    patterns.reduce<string>((kept, secret) => kept.replaceAll(secret, replacement), text),
    () => replacement,
  );
}

/**
 * A text with secrets replaced by `[hidden]`: the given ones and all that `redact` finds. For messages of errors, because a
 * server may repeat the key that it was sent.
 *
 * @example
 * console.error(withoutSecrets(error.message, [apiKey]));
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  checkArgument("text", text, TEXT);
  checkArgument("secrets", secrets, list(TEXT, "an array of texts"));
  return redact(text, { secrets, replacement: "[hidden]" });
}

/** Shorter secrets can be part of any word. In UTF-16 code units. */
const MIN_SECRET_CHARS = 4;

const HTML_NAMES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

function secretPatterns(secret: string): readonly (string | RegExp)[] {
  return [matchSpellings(secret), ...listBase64Parts(secret)];
}

/** Matches each character of a secret as it is, or as URLs (once or twice), HTML and JSON write it. */
function matchSpellings(secret: string): RegExp {
  const written = [...secret.toWellFormed()].map((character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    const url = [...new TextEncoder().encode(character)].map((byte) => `%(?:25)?${anyCase(byte.toString(16).padStart(2, "0"))}`);
    const html = [`#0{0,6}${character.codePointAt(0)}`, `#[xX]0{0,6}${anyCase(code)}`, HTML_NAMES[character]].filter(Boolean);
    const plain = `\\\\{0,3}${escaped(character)}`;
    const inJson = `\\\\{1,2}u${anyCase(code.padStart(4, "0"))}`;
    // The longer spelling first, because that of a percent sign starts with the shorter one.
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
 * The Base64 texts of a secret inside longer data: for each of its three possible offsets, the characters that depend
 * only on the secret. Both alphabets.
 */
function listBase64Parts(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const parts = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    return whole.toString("base64").slice(Math.ceil((before * 4) / 3), Math.floor((whole.length * 4) / 3));
  });
  return parts.filter((part) => part.length >= 8).flatMap((part) => [part, part.replaceAll("+", "-").replaceAll("/", "_")]);
}
