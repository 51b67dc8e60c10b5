/** The steps of a session as its page has them: all in its file, or those near the screen, which a server sends. */
export interface Book {
  isShown(step: number): boolean;
  /** True if the branch that a link of a choice of branches leads to is shown. */
  showsBranch(link: HTMLAnchorElement): boolean;
  /** The article of a step, if the document has it now. */
  article(step: number): HTMLElement | undefined;
  /** The article that shows an entry, if the document has it now. */
  articleOf(id: string): HTMLElement | undefined;
  /** Shows the branch of an entry, and returns its article; undefined: there is no such entry, or nothing to read of it. */
  open(id: string): Promise<HTMLElement | undefined>;
  /** The next article of the shown branch after (before) another one; `prompts`: of the user. Undefined: there is none. */
  next(from: HTMLElement, by: 1 | -1, prompts: boolean): Promise<HTMLElement | undefined>;
  /** The last article of the shown branch. */
  last(): Promise<HTMLElement | undefined>;
  /** Calls a function after articles came into the document or left it, and now. */
  onChange(listener: () => void): void;
}

/** The search of a page. A match is an entry, or a place in it. */
export interface Finder {
  /** False if there is nothing to mark. */
  readonly isSearching: boolean;
  /** Finds the places of the searched words in the text of an entry, in order. */
  places(text: string): readonly Place[];
  readonly current: Match | undefined;
  /** The entries with a match, in the order in which `move` goes through them; none: there is no query, or nothing was found. */
  readonly found: readonly FoundRow[];
  find(words: string): Promise<void>;
  /** Moves to the next or previous match, and returns it. `from`: the step at which the first search starts. */
  move(by: 1 | -1, from: number | undefined): Match | undefined;
  /** Describes the matches in one line for the user. */
  describe(): string;
}

/** An entry that was found. `row`: what its row of the tree shows; undefined: the document has that row. */
export interface FoundRow {
  readonly step: number;
  readonly id: string;
  readonly row: { readonly text: string; readonly kind: string } | undefined;
}

/**
 * The next of `count` matches after (before) the current one, around the ends. Without a current one (-1), that of `start`, the first one
 * below the top of the screen, or the one before it. `start` -1: there is none.
 */
export function nextMatch(at: number, by: 1 | -1, count: number, start: number): number {
  if (at < 0 && by === 1) return Math.max(start, 0);
  return ((at >= 0 ? at : start >= 0 ? start : count) + by + count) % count;
}

/** A place in a text, in UTF-16 code units. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A match: the entry, and the place in the text of its body; undefined: the first place of the words there. */
export interface Match {
  readonly step: number;
  readonly id: string;
  readonly place: Place | undefined;
}
