/** Counts the tokens of texts as one vocabulary cuts them. */
export interface TokenCounter {
  /** Names its counts in the store's cache: another name whenever a count can differ. */
  readonly name: string;
  /** Tokens of a text. Special-token text is text. Cost is linear, whatever the text. */
  count(text: string): number;
}

/** Runs that no vocabulary knows words in: base64, hashes, minified code. */
const UNBROKEN = /[A-Za-z0-9+/=_-]{64,}/g;
/** Scripts in which a character is about a token: Chinese, Japanese, Korean. */
const DENSE = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[\u{20000}-\u{3ffff}]/gu;
/** Other scripts than Latin, and signs outside of ASCII: about two characters a token. */
const OTHER = /[\u0370-\u2e7f]|[\u{1f000}-\u{1ffff}]/gu;
/** Signs and breaks of code, most of which are tokens of their own. */
const SIGNS = /[^\sA-Za-z0-9\u0080-\u{10ffff}]+|\n/gu;

/**
 * An estimate that needs no table, for programs that cannot load one: a token for four characters of words, for 1.6 of
 * unbroken runs, for one of Chinese, Japanese and Korean, for two of other scripts, and for each run of signs. On prose,
 * code, JSON, Chinese and base64 it is within a third of o200k_base; characters ÷ 4 is three times too low on the last two.
 */
export const roughCounter: TokenCounter = {
  name: "rough/1",
  count(text) {
    const unbroken = lengthOf(text.match(UNBROKEN));
    const dense = text.match(DENSE)?.length ?? 0;
    const other = text.match(OTHER)?.length ?? 0;
    const signs = text.match(SIGNS) ?? [];
    const words = Math.max(0, text.length - unbroken - dense - other - lengthOf(signs));
    return Math.ceil(unbroken / 1.6 + dense * 0.9 + other / 2 + words / 4.6 + signs.length * 0.75);
  },
};

function lengthOf(matches: readonly string[] | null): number {
  return (matches ?? []).reduce((sum, { length }) => sum + length, 0);
}
