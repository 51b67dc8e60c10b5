/** A misspelled name is recognized up to this many edits, and only if at least half of its letters are right. */
const MAX_EDITS = 3;

/** The candidate that a misspelled name most likely means, ignoring case; undefined: none is close. */
export function findNearest(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: countEdits(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= MAX_EDITS && edits * 2 <= candidate.length)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate;
}

/** The Levenshtein distance: insertions, deletions and replacements of a character. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 1; at <= to.length; at += 1)
      next.push(Math.min((next[at - 1] ?? 0) + 1, (row[at] ?? 0) + 1, (row[at - 1] ?? 0) + (to[at - 1] === letter ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
