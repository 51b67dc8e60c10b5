import { rules } from "@bough/session-core/internals";

// A token starts after a character that is not part of a word, or after an escaped line break in JSON. It cannot start in
// the middle of a run, so each run is read once.
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;
const token = (shape: string) => new RegExp(START + shape, "g");

/** Keys with a known prefix. Hashes of commits have none and stay. */
const TOKENS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter, Groq, xAI; with a digit, because names in kebab case can begin like this.
  token("(?:sk|gsk|xai)[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}"),
  token("(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
  token("gh[opusr]_[A-Za-z0-9]{36,}"),
  token("github_pat_[A-Za-z0-9_]{22,}"),
  token("glpat-[A-Za-z0-9_-]{20,}"),
  token("xox[abeoprs]-[A-Za-z0-9-]{10,}"),
  token("(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
  token("AIza[0-9A-Za-z_-]{20,}"),
  token("npm_[A-Za-z0-9]{36}"),
  token("hf_[A-Za-z0-9]{30,}"),
  token("pypi-[A-Za-z0-9_-]{50,}"),
  token("SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{32,}"),
  // A JSON web token: two JSON objects and a signature.
  token("eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*"),
];

const NAMED =
  "(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|(?:auth|access|refresh|bearer)[_-]?token)(?:[_-]?key(?:[_-]?base)?)?";
/** A reference to a secret, or text that is masked already. */
const NO_VALUE = String.raw`(?![$<{*(\[]|process\.|os\.|env\.)`;
const BARE = String.raw`[^\s"'${"`"}<>,;&()\\]`;

/** Values identified as secrets by their name or place. The text before the value is the first group and stays. */
const PLACES: readonly RegExp[] = [
  // "password": "...", apiKey = '...', also with escaped quotes in JSON.
  new RegExp(String.raw`(${NAMED}\\?["']?\s{0,3}[:=]\s{0,3}(\\?["']))${NO_VALUE}(?:(?!\2)[^\\\n]){4,512}(?=\2)`, "gi"),
  // PASSWORD=... of an environment or a command, but not code that passes on a variable (password=password).
  new RegExp(String.raw`(${NAMED}=)${NO_VALUE}(?!${NAMED}(?!\w))${BARE}{4,}`, "gi"),
  new RegExp(`((?<![A-Za-z0-9_])[A-Z0-9_]{0,40}TOKEN=)${NO_VALUE}${BARE}{8,}`, "g"),
  new RegExp(`(--(?:password|passwd|token|secret|api-key)[= ])${NO_VALUE}(?!-)${BARE}{4,}`, "gi"),
  /(\bAuthorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?:Bearer|Basic|Token)\s{1,3})[A-Za-z0-9._~+/=-]{8,}/gi,
  /(\bBearer\s{1,3})(?:[A-Za-z0-9._~+/=-]{20,}|(?=[A-Za-z._~+/=-]{0,20}[0-9])[A-Za-z0-9._~+/=-]{8,})/g,
  // A password in a URL.
  /((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>]{1,100}:)(?!\[(?:redacted|hidden)\])[^\s@/"'<>]{1,200}(?=@)/gi,
];

/** What to redact, and what to put in its place. */
interface RedactOptions {
  /** Keys and passwords that are known; those of fewer than 4 characters are ignored, because they can be part of any word. */
  readonly secrets?: readonly string[] | undefined;
  /** In brackets. Default: `[redacted]`. */
  readonly replacement?: "[redacted]" | "[hidden]" | undefined;
}

/**
 * Replaces keys, tokens, passwords and private keys in a text, and the given secrets, also as URLs, HTML, JSON and Base64
 * write them. Redacting a text twice changes nothing more. Linear in the text, times the number of secrets.
 *
 * Precise rather than complete: known prefixes, private keys, and values whose name or place identifies them.
 *
 * @example
 * redact("export DB_PASSWORD=hunter22"); // "export DB_PASSWORD=[redacted]"
 */
export function redact(text: string, { secrets = [], replacement = "[redacted]" }: RedactOptions = {}): string {
  const patterns = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS).flatMap(secretPatterns);
  const withoutKnown = patterns.reduce<string>((kept, secret) => kept.replaceAll(secret, replacement), text);
  const withoutValues = PLACES.reduce((kept, place) => redactPlace(kept, place, replacement), redactPrivateKeys(withoutKnown, replacement));
  return TOKENS.reduce((kept, shape) => kept.replace(shape, replacement), withoutValues);
}

/**
 * A text with secrets replaced by `[hidden]`: the given ones and all that `redact` finds. For messages of errors, because a
 * server may repeat the key that it was sent.
 *
 * @example
 * console.error(withoutSecrets(error.message, [apiKey]));
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  rules.checkArgument("text", text, rules.TEXT);
  rules.checkArgument("secrets", secrets, rules.list(rules.TEXT, "an array of texts"));
  return redact(text, { secrets, replacement: "[hidden]" });
}

function redactPlace(text: string, place: RegExp, replacement: string): string {
  return text.replace(place, (found: string, before: string, ...rest: readonly unknown[]) => {
    const at = rest.find((one): one is number => typeof one === "number") ?? 0;
    // A call, as in password=ask(): the name of a function, not a value.
    return text[at + found.length] === "(" ? found : before + replacement;
  });
}

const KEY_EDGE = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The body of a key without an end. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\]*/y;
/** The largest keys in use have 16,384 bits, about 13,000 characters; longer text between two edges is not a key. */
const MAX_KEY_CHARS = 16_384;

/** One pass over the edges of keys. A pattern for a whole key would scan to the end of the text from each edge. */
function redactPrivateKeys(text: string, replacement: string): string {
  const kept: string[] = [];
  let done = 0;
  let begin: { readonly at: number; readonly after: number } | null = null;
  const mask = (from: number, to: number): void => {
    kept.push(text.slice(done, from), replacement);
    done = to;
  };
  for (const edge of text.matchAll(KEY_EDGE)) {
    const after = edge.index + edge[0].length;
    if (begin !== null)
      mask(begin.at, edge[1] === "END" && isKey(text.slice(begin.after, edge.index)) ? after : endOfBody(text, begin.after));
    begin = edge[1] === "BEGIN" ? { at: edge.index, after } : null;
  }
  if (begin !== null) mask(begin.at, endOfBody(text, begin.after));
  return kept.join("") + text.slice(done);
}

/** A key contains no angle bracket; otherwise a tag between two edges would be removed. */
function isKey(between: string): boolean {
  return between.length <= MAX_KEY_CHARS && !between.includes("<");
}

function endOfBody(text: string, from: number): number {
  KEY_BODY.lastIndex = from;
  KEY_BODY.exec(text);
  return KEY_BODY.lastIndex;
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
