// FTS5's unicode61 takes an unbroken run of Chinese, Japanese or Korean as one word, so that nothing inside it is found.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const ANY_UNSPACED = new RegExp(UNSPACED.source, "u");
const STARTS_UNSPACED = new RegExp(`^${UNSPACED.source}`, "u");

/**
 * Text as the search index takes it in: characters of scripts written without spaces become words of their own, so that
 * any part of a sentence is found by looking for its characters in a row. Other text stays as it is.
 */
export function searchableForm(text: string): string {
  const whole = text.toWellFormed().replaceAll("\0", " ");
  return ANY_UNSPACED.test(whole) ? whole.replace(UNSPACED, " $& ") : whole;
}

/** Whether the text starts with a character of a script that is written without spaces. */
export function isUnspaced(text: string): boolean {
  return STARTS_UNSPACED.test(text);
}
