import { foldText, isUnspaced, WORD_CHARACTERS } from "./fold.js";
import type { ExpressionTerm, LiteralTerm } from "./search-terms.js";
import { requiredWords, tokensOf } from "./term-pattern.js";

/** Where in a word a part of a term may be. */
export type Place = "start" | "end" | "anywhere";

/** A part of a term that an index can look up. */
export interface Piece {
  readonly text: string;
  /** undefined: a whole word. */
  readonly place: Place | undefined;
}

/** A part of one letter is in most entries. */
const SHORTEST = 2;
/** The most words of a literal text that are looked up. */
const MOST_PIECES = 8;

/** Lists the pieces that an index can look up of a term that matches by its text; empty if there are none. Every match has each piece. */
export function listPieces(term: LiteralTerm | ExpressionTerm): readonly Piece[] {
  const pieces: readonly Piece[] =
    term.kind === "literal" ? piecesOf(term) : requiredWords(term.words).map((text) => ({ text, place: "anywhere" }));
  const known = pieces.filter(({ text, place }) => place === undefined || text.length >= SHORTEST);
  // Long words are rarer.
  return known.toSorted((a, b) => b.text.length - a.text.length).slice(0, MOST_PIECES);
}

/** The words of a literal text. Its first word may be the end of a longer one, its last word the start. */
function piecesOf({ words }: LiteralTerm): readonly Piece[] {
  const tokens = tokensOf(words);
  const isOpen = (edge: RegExp) => {
    const character = edge.exec(foldText(words.trim()))?.[0] ?? "";
    return character !== "" && !isUnspaced(character);
  };
  const [isOpenBefore, isOpenAfter] = [isOpen(FIRST_IS_WORD), isOpen(LAST_IS_WORD)];
  return tokens.map((text, at) => {
    const [before, after] = [at === 0 && isOpenBefore, at === tokens.length - 1 && isOpenAfter];
    if (before && after) return { text, place: "anywhere" };
    return { text, place: before ? "end" : after ? "start" : undefined };
  });
}

const FIRST_IS_WORD = new RegExp(`^[${WORD_CHARACTERS}]`, "u");
const LAST_IS_WORD = new RegExp(`[${WORD_CHARACTERS}]$`, "u");
