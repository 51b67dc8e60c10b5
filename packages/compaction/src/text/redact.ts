/** Stands where a secret stood. */
export const REDACTED = "[redacted]";

// A token starts where no word does, or behind an escaped line break inside JSON. Because it cannot start in the middle
// of a run, each run is read once.
const START = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))`;
const token = (shape: string) => new RegExp(START + shape, "g");

/** Keys whose makers gave them a prefix, so that they are known at sight. Hashes of commits have none and stay. */
const TOKENS: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter; a digit, so that a name in kebab case is none.
  token("sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"),
  token("(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
  token("gh[opusr]_[A-Za-z0-9]{36,}"),
  token("github_pat_[A-Za-z0-9_]{22,}"),
  token("glpat-[A-Za-z0-9_-]{20,}"),
  token("xox[abeoprs]-[A-Za-z0-9-]{10,}"),
  token("(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
  token("AIza[0-9A-Za-z_-]{35}"),
  token("npm_[A-Za-z0-9]{36}"),
  token("hf_[A-Za-z0-9]{30,}"),
  token("pypi-[A-Za-z0-9_-]{50,}"),
  token("SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{32,}"),
  // A JSON web token: two JSON objects and a signature.
  token("eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*"),
];

const NAMED =
  "(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|(?:auth|access|refresh|bearer)[_-]?token)(?:[_-]?key(?:[_-]?base)?)?";
/** What is a reference to a secret, or was masked before. */
const NO_VALUE = String.raw`(?!\[redacted\]|[$<{*(\[]|process\.|os\.|env\.)`;
const BARE = String.raw`[^\s"'${"`"}<>,;&()\\]`;

/** A value that its place shows to be a secret: what stands before it stays, as the first group. */
const PLACES: readonly RegExp[] = [
  // "password": "...", apiKey = '...', also with escaped quotes inside JSON.
  new RegExp(String.raw`(${NAMED}\\?["']?\s{0,3}[:=]\s{0,3}(\\?["']))${NO_VALUE}(?:(?!\2)[^\\\n]){4,512}(?=\2)`, "gi"),
  // PASSWORD=... of an environment or a command; code that passes a variable on (password=password) is none.
  new RegExp(String.raw`(${NAMED}=)${NO_VALUE}(?!${NAMED}(?!\w))${BARE}{4,}`, "gi"),
  new RegExp(`((?<![A-Za-z0-9_])[A-Z0-9_]{0,40}TOKEN=)${NO_VALUE}${BARE}{8,}`, "g"),
  new RegExp(`(--(?:password|passwd|token|secret|api-key)[= ])${NO_VALUE}(?!-)${BARE}{4,}`, "gi"),
  /(\bAuthorization\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?:Bearer|Basic|Token)\s{1,3})[A-Za-z0-9._~+/=-]{8,}/gi,
  /(\bBearer\s{1,3})[A-Za-z0-9._~+/=-]{20,}/g,
  // A password in an address.
  /((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"'<>]{1,100}:)(?!\[redacted\])[^\s@/"'<>]{1,200}(?=@)/gi,
];

/**
 * A text without keys, tokens, passwords and private keys, each masked by `[redacted]`. What is masked stays as it is the second time. Linear.
 *
 * Precise rather than complete: known prefixes, private keys, and values whose name or place says what they are.
 *
 * @example
 * redact("export DB_PASSWORD=hunter22"); // "export DB_PASSWORD=[redacted]"
 */
export function redact(text: string): string {
  const placed = PLACES.reduce(masked, withoutPrivateKeys(text));
  return TOKENS.reduce((kept, shape) => kept.replace(shape, REDACTED), placed);
}

function masked(text: string, place: RegExp): string {
  return text.replace(place, (found: string, before: string, ...rest: readonly unknown[]) => {
    const at = rest.find((one): one is number => typeof one === "number") ?? 0;
    // A call, as in password=ask(): a name of code, not a value.
    return text[at + found.length] === "(" ? found : before + REDACTED;
  });
}

const KEY_EDGE = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** What the inside of a key looks like where its end is missing. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\]*/y;
/** The largest keys in use have 16,384 bits, about 13,000 characters; what lies further apart is prose about keys. */
const MAX_KEY_CHARS = 16_384;

/** One pass over the edges of keys: a pattern over the whole key would read to the end of the text from each open one. */
function withoutPrivateKeys(text: string): string {
  const kept: string[] = [];
  let done = 0;
  let begin: { readonly at: number; readonly after: number } | null = null;
  const mask = (from: number, to: number): void => {
    kept.push(text.slice(done, from), REDACTED);
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

/** A key has no angle bracket in it: what lies between may be a tag that must stay. */
function isKey(between: string): boolean {
  return between.length <= MAX_KEY_CHARS && !between.includes("<");
}

function endOfBody(text: string, from: number): number {
  KEY_BODY.lastIndex = from;
  KEY_BODY.exec(text);
  return KEY_BODY.lastIndex;
}
