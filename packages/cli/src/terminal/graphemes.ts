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
    const found = PLAIN.test(chunk) ? codeUnitsOf(chunk) : segmentsOf(chunk);
    // The last cluster of a chunk may continue in the next chunk.
    const whole = isLast ? found.length : found.length - 1;
    for (let at = 0; at < whole; at += 1) {
      const { segment, index } = found[at] ?? { segment: "", index: 0 };
      yield { segment, index: from + index };
    }
    size = whole === 0 ? size * 2 : CHUNK;
    from += isLast ? chunk.length : (found[whole]?.index ?? 0);
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
