/** The first `length` UTF-16 units of a text, or one less where the cut would part a surrogate pair (regression R101). */
export function headOf(text: string, length: number): string {
  return text.slice(0, isInsidePair(text, length) ? length - 1 : length);
}

/** The last `length` UTF-16 units of a text, or one less where the cut would part a surrogate pair. */
export function tailOf(text: string, length: number): string {
  const start = Math.max(0, text.length - length);
  return text.slice(isInsidePair(text, start) ? start + 1 : start);
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const behind = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && behind >= 0xdc00 && behind <= 0xdfff;
}

/** What a cut text says where something is missing: UTF-16 units, and how many images and documents. */
export function cutMarker(chars: number, attachments: number): string {
  const gone = [chars > 0 ? `${chars} characters` : "", attachments > 0 ? `${attachments} images or documents` : ""];
  return `[${gone.filter((one) => one !== "").join(" and ")} left out of this request]`;
}

/**
 * A text without its middle: head and tail have `chars` UTF-16 units together, the head `headShare` of them, and a line
 * between them says how much is gone. VS Code's way of cutting tool results.
 *
 * @example
 * cutMiddle("a".repeat(1_000), 10, 0.4, 0); // "aaaa\n[990 characters left out of this request]\naaaaaa"
 */
export function cutMiddle(text: string, chars: number, headShare: number, attachments: number): string {
  if (chars >= text.length) return attachments === 0 ? text : joined([text, cutMarker(0, attachments)]);
  const headLength = Math.floor(chars * headShare);
  const head = headOf(text, headLength);
  const tail = tailOf(text, chars - headLength);
  return joined([head, cutMarker(text.length - head.length - tail.length, attachments), tail]);
}

function joined(lines: readonly string[]): string {
  return lines.filter((line) => line !== "").join("\n");
}
