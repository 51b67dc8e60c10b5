/** Of what stays of a text, this share is its head; the rest its tail, where errors and results stand. The rule is VS Code's. */
export const HEAD_SHARE = 0.4;

/** The start of a text, at most `maxChars` UTF-16 code units, never half a surrogate pair. */
export function headOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = Math.max(0, maxChars);
  return text.slice(0, isHigh(text.charCodeAt(end - 1)) ? end - 1 : end);
}

/** The end of a text, at most `maxChars` UTF-16 code units, never half a surrogate pair. */
export function tailOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const start = text.length - Math.max(0, maxChars);
  return text.slice(isLow(text.charCodeAt(start)) ? start + 1 : start);
}

/**
 * A text without its middle: at most `maxChars` UTF-16 code units of it, and a line that says how many are gone. A text
 * that fits is returned as it is.
 *
 * @example
 * cutMiddle("0123456789", 5, 0.4); // "01\n[... 5 characters left out ...]\n789"
 */
export function cutMiddle(text: string, maxChars: number, headShare: number = HEAD_SHARE): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, Math.floor(maxChars * headShare));
  const tail = tailOf(text, maxChars - Math.floor(maxChars * headShare));
  return `${head}\n[... ${text.length - head.length - tail.length} characters left out ...]\n${tail}`;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
