import { checkArgument, TEXT } from "@bough/session-core/arguments";
import { findSecrets } from "./find-secrets.js";
import type { FoundSecret, SecretCount } from "./secret.js";

/** A text without its secrets, and the counts of the masked secrets. */
export interface MaskedText {
  readonly text: string;
  /** The number of different secrets of each kind, in the order of their first places. */
  readonly found: readonly SecretCount[];
}

/**
 * Replaces the secrets that `findSecrets` finds by their kind and a number: `[GitHub token 1]`. The same secret gets the same
 * number at each place. To number over several texts, use one `SecretMasker` for all. Masking a text twice changes nothing more.
 *
 * @throws {InvalidArgumentError} `text` is not a string.
 * @example
 * maskSecrets("DB_PASSWORD=hunter22").text; // "DB_PASSWORD=[password 1]"
 */
export function maskSecrets(text: string): MaskedText {
  checkArgument("text", text, TEXT);
  const masker = new SecretMasker();
  return { text: masker.maskText(text), found: masker.counts() };
}

/** Masks secrets in several texts, so that the same secret has the same mask in all of them. */
export class SecretMasker {
  /** The mask of each secret that was found. */
  readonly #masks = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** `find`: where the secrets of the text are; default: `findSecrets`. */
  maskText(text: string, find: (text: string) => readonly FoundSecret[] = findSecrets): string {
    return replaceSecrets(text, (secret, kind) => this.maskOf(secret, kind), find);
  }

  /** The mask of a secret: that of its first place. */
  maskOf(secret: string, kind: string): string {
    const known = this.#masks.get(secret);
    if (known !== undefined) return known;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const mask = `[${kind} ${number}]`;
    this.#masks.set(secret, mask);
    return mask;
  }

  /** Returns the number of different secrets of each kind that were masked. */
  counts(): readonly SecretCount[] {
    return [...this.#counts].map(([kind, count]) => ({ kind, count }));
  }
}

/** A text with each secret replaced. */
export function replaceSecrets(text: string, replacement: (secret: string, kind: string) => string, find = findSecrets): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { start, end, kind } of find(text)) {
    pieces.push(text.slice(done, start), replacement(text.slice(start, end), kind));
    done = end;
  }
  return done === 0 ? text : pieces.join("") + text.slice(done);
}
