// The constants of bm25() in FTS5.
const K1 = 1.2;
const B = 0.75;

/** The BM25 score of a text: higher is better. `weights`: of each term, larger for a rare one. `meanWords`: the mean length of the texts. */
export function scoreOf(
  { occurrences, words }: { readonly occurrences: readonly number[]; readonly words: number },
  weights: readonly number[],
  meanWords: number,
): number {
  const damping = K1 * (1 - B + (B * words) / Math.max(meanWords, 1));
  return occurrences.reduce((sum, count, at) => sum + (weights[at] ?? 0) * ((count * (K1 + 1)) / (count + damping)), 0);
}
