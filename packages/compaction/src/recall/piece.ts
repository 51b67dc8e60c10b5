/**
 * The part of a text from `offset` on, at most `maxChars` UTF-16 code units of it, and at its end how to go on. Never half a
 * surrogate pair, wherever it is cut.
 */
export function pieceOf(text: string, offset: number, maxChars: number): string {
  const start = wholeFrom(text, offset);
  if (start >= text.length) return start === 0 ? text : "There is nothing more.";
  const end = wholeFrom(text, start + maxChars);
  return end >= text.length ? text.slice(start) : `${text.slice(start, end)}\n\n(more: continue with offset ${end})`;
}

/** One less where the place is inside a surrogate pair. */
function wholeFrom(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
