import type { SearchMatch } from "@bough/session-core";

// The JSON that the server of a page sends to its script. Declared here once: the command writes it, and the script of `client/` reads it.

/** A branch of a session: where it ends, and its blocks. */
export interface BranchState {
  readonly version: string;
  /** The last entry of the branch; null: the session is empty. */
  readonly tip: string | null;
  /** True if it is the branch of the leaf, and the leaf its end. */
  readonly isLive: boolean;
  /** True while a program writes a reply that the store does not have yet. */
  readonly isHeld: boolean;
  /** Row numbers of the branch, as first and last one of each run. */
  readonly rows: readonly (readonly [first: number, last: number])[];
  /** By block: its number of entries, and a number that changes when its articles do. */
  readonly blocks: readonly (readonly [entries: number, version: number])[];
  /** The number of entries of the session. */
  readonly total: number;
  readonly title: string;
}

/** The place of an entry: its row, and the branch on which it is shown. */
export interface EntryPlace {
  readonly row: number;
  readonly state: BranchState;
}

/** A chunk of the tree: its number of rows, a number that changes with them, and the step of its first row. */
export type ChunkState = readonly [rows: number, version: number, first: number];

/** The lines of a tree that begin with first entries, the active one first, and the chunks of these and of others that were asked for. */
export interface TreeState {
  readonly roots: readonly string[];
  readonly lines: Readonly<Record<string, readonly ChunkState[]>>;
}

/** A hit of the search in a session. */
export interface FoundEntry {
  readonly id: string;
  readonly row: number;
  /** Its row of the tree: the text, and the class that says what it is. */
  readonly text: string;
  readonly kind: string;
  /** The text around the first match; "" beyond the first 50 hits. */
  readonly snippet: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** The hits, the best first. */
export interface FoundInSession {
  readonly hits: readonly FoundEntry[];
  readonly total: number;
  /** The query without its filters, and how the hits match it: the arguments of `createQueryFinder`. */
  readonly words: string;
  readonly matched: SearchMatch;
  /** The difference between hits and query; or the reason why it cannot be searched. */
  readonly note: string;
}
