// Offsets of a text in UTF-16 code units. Only the line around an offset is read: a pasted text may be long, and no grapheme spans a line end.

const PLAIN = /^[\x20-\x7e]*$/;

/** Code units segmented at a time: in V8 the cost of each segment grows with the length of the whole string. */
const CHUNK = 256;

/** A user-perceived character (grapheme cluster); `index` is its offset in the text, in UTF-16 code units. */
interface Grapheme {
  readonly segment: string;
  readonly index: number;
}

let segmenter: Intl.Segmenter | undefined;

/** The grapheme clusters of a text, in order. Lazy; the cost is linear in the length of what is consumed. */
export function* graphemesOf(text: string): Generator<Grapheme> {
  let size = CHUNK;
  for (let from = 0; from < text.length; ) {
    const end = from + size;
    // Half of a surrogate pair at the end would count as a cluster of its own, and the cluster before it as complete.
    const chunk = text.slice(from, isFirstHalf(text.charCodeAt(end - 1)) ? end - 1 : end);
    const isLast = from + chunk.length === text.length;
    const graphemes = PLAIN.test(chunk) ? codeUnitsOf(chunk) : segmentsOf(chunk);
    // The last cluster of a chunk may continue in the next chunk.
    const whole = isLast ? graphemes.length : graphemes.length - 1;
    for (let at = 0; at < whole; at += 1) {
      const { segment, index } = graphemes[at] ?? { segment: "", index: 0 };
      yield { segment, index: from + index };
    }
    size = whole === 0 ? size * 2 : CHUNK;
    from += isLast ? chunk.length : (graphemes[whole]?.index ?? 0);
  }
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function codeUnitsOf(text: string): readonly Grapheme[] {
  return Array.from(text, (segment, index) => ({ segment, index }));
}

function segmentsOf(text: string): readonly Grapheme[] {
  // Created on first use: loading ICU takes some milliseconds.
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text));
}

/** The start of the line that contains an offset. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** The end of the line that contains an offset, before its `\n`. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

/** The start of the grapheme cluster before an offset; 0 at the start of the text. */
export function graphemeBefore(text: string, offset: number): number {
  const from = lineStart(text, offset);
  return offset === from ? Math.max(offset - 1, 0) : from + boundaryBefore(text.slice(from, lineEnd(text, offset)), offset - from);
}

/** The end of the grapheme cluster at an offset; the end of the text at its end. */
export function graphemeAfter(text: string, offset: number): number {
  const from = lineStart(text, offset);
  const to = lineEnd(text, offset);
  return offset === to ? Math.min(offset + 1, text.length) : from + boundaryFrom(text.slice(from, to), offset - from + 1);
}

/** The offset itself at a grapheme boundary, otherwise the next boundary. */
export function snapToGrapheme(text: string, offset: number): number {
  const from = lineStart(text, offset);
  return from + boundaryFrom(text.slice(from, lineEnd(text, offset)), offset - from);
}

/** The start of the word before an offset. Words are separated by whitespace. */
export function wordBefore(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && isSpace(text, at - 1)) at -= 1;
  while (at > 0 && !isSpace(text, at - 1)) at -= 1;
  return at === offset || snapToGrapheme(text, at) === at ? at : graphemeBefore(text, at);
}

/** The end of the word after an offset. */
export function wordAfter(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && isSpace(text, at)) at += 1;
  while (at < text.length && !isSpace(text, at)) at += 1;
  return snapToGrapheme(text, at);
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text.charAt(at));
}

function boundaryBefore(line: string, offset: number): number {
  let stop = 0;
  for (const { index } of graphemesOf(line)) {
    if (index >= offset) break;
    stop = index;
  }
  return stop;
}

/** The first grapheme boundary at or after an offset. */
function boundaryFrom(line: string, offset: number): number {
  if (offset <= 0) return 0;
  for (const { index } of graphemesOf(line)) if (index >= offset) return index;
  return line.length;
}
