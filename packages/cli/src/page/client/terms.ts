/** The words of a query, without case and accents; words in quotes are one. */
export function parseTerms(query: string): readonly string[] {
  return [...query.matchAll(/"([^"]+)"?|(\S+)/g)]
    .map(([, phrase, word]) => foldText(phrase ?? word ?? ""))
    .filter((term) => term.trim() !== "");
}

/** A text without case and accents, of the same length. */
export function foldText(text: string): string {
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return text.replace(/[\u0041-\u005a\u0080-\uffff]/g, foldUnit);
}

function foldUnit(unit: string): string {
  const folded = unit.normalize("NFD").charAt(0).toLowerCase();
  return folded.length === 1 ? folded : unit;
}

/** A place in a text, in UTF-16 code units. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** The places of terms in a folded text, in order, if it has all of them. */
export function findTerms(text: string, terms: readonly string[]): readonly Place[] {
  if (!terms.every((term) => text.includes(term))) return [];
  const places = terms.flatMap((term) => findTerm(text, term));
  return terms.length === 1 ? places : places.sort((a, b) => a.start - b.start || b.end - a.end);
}

function findTerm(text: string, term: string): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) places.push({ start: at, end: at + term.length });
  return places;
}
