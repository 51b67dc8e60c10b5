/** A secret in a text: its position, in UTF-16 code units, and its kind. */
export interface FoundSecret {
  readonly start: number;
  /** After the last character. */
  readonly end: number;
  /** Such as `GitHub token` or `password in a URL`. */
  readonly kind: string;
}

/** A shape by which secrets are recognized. */
export interface SecretRule {
  /** The kind of the secret; or a function that returns it for the text before the secret. */
  readonly kind: string | ((before: string) => string);
  /** Texts one of which is part of every match. A text without any of them is not searched. */
  readonly hints: readonly string[] | RegExp;
  /** Global, linear. A first group is the text before the secret; without one, the whole match is the secret. */
  readonly pattern: RegExp;
  /** Returns true if a match is a secret, where the pattern cannot decide it. `start`: the position of the match in the text. */
  readonly accepts?: ((secret: string, text: string, start: number) => boolean) | undefined;
}

/** The number of secrets of one kind. */
export interface SecretCount {
  readonly kind: string;
  readonly count: number;
}

// Kinds whose plural is not formed with an s at the end.
const PLURALS: Readonly<Record<string, string>> = {
  "password in a URL": "passwords in URLs",
  "token in a URL": "tokens in URLs",
  "value of an .env file": "values of .env files",
};

/**
 * Describes the number of secrets and their kinds, the most frequent kind first.
 *
 * @param done the participle of the action on them, such as `masked`.
 * @example
 * describeSecrets([{ kind: "GitHub token", count: 2 }, { kind: "password in a URL", count: 1 }], "masked");
 * // "3 secrets masked: 2 GitHub tokens, 1 password in a URL"
 */
export function describeSecrets(counts: readonly SecretCount[], done = ""): string {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const kinds = [...counts].sort((a, b) => b.count - a.count).map(({ kind, count }) => `${count} ${nameOf(kind, count)}`);
  return `${total} ${total === 1 ? "secret" : "secrets"}${done === "" ? "" : ` ${done}`}${kinds.length === 0 ? "" : `: ${kinds.join(", ")}`}`;
}

function nameOf(kind: string, count: number): string {
  return count === 1 ? kind : (PLURALS[kind] ?? `${kind}s`);
}
