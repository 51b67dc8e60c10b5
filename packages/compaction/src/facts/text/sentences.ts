/** What ends a sentence, also where people write without capitals; "e.g. x", "v1.2" and "a.ts" do not. */
const END = /(?<=[\p{L}\p{N}`"'’)\]]{2}[.!?]{1,3})(?<!\b(?:etc|vs|cf|approx|resp|incl)\.)\s+|(?<=[。！？])/u;
const MARKER = /^\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/;

/** A sentence, and whether a list marker stood before it. */
export interface Sentence {
  readonly text: string;
  readonly listed: boolean;
}

/**
 * The sentences of a prose in order, without list markers, heading marks and bold marks. A line break ends a sentence.
 * Linear.
 */
export function sentencesOf(prose: string): readonly Sentence[] {
  return prose.split("\n").flatMap((line) => {
    if (/^\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$)/.test(line)) return [];
    const listed = MARKER.test(line);
    const text = line.replace(MARKER, "").replaceAll("**", "").trim();
    return text
      .split(END)
      .map((one) => one.trim())
      .filter((one) => one !== "")
      .map((one) => ({ text: one, listed }));
  });
}
