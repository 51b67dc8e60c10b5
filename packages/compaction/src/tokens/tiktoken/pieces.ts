/** So much of a text is cut into pieces at once, in UTF-16 code units: a pattern never meets a text of megabytes. */
export const WINDOW = 1 << 16;

/** A piece can depend on what follows it: on the character behind it, or on two for `'ll`. So the last ones are cut again. */
const UNSURE = 3;

/**
 * The pieces of a text as the pattern cuts them, a windowful at a time. The same as cutting the whole text at once, but for
 * a piece that fills a whole window (65,536 letters without a break), which is cut there.
 */
export function* piecesOf(text: string, pattern: RegExp): Generator<readonly string[], void, void> {
  for (let start = 0; start < text.length; ) {
    const end = endOf(text, start);
    const pieces: string[] = (start === 0 && end === text.length ? text : text.slice(start, end)).match(pattern) ?? [];
    start = end;
    if (end < text.length && pieces.length > UNSURE) for (const piece of pieces.splice(-UNSURE)) start -= piece.length;
    yield pieces;
  }
}

function endOf(text: string, start: number): number {
  const end = Math.min(text.length, start + WINDOW);
  // Not between the halves of a pair.
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end;
}
