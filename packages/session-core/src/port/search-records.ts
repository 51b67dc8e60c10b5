import type { EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { EntryId, SessionId } from "../ids/ids.js";

/** What to look for, and where. Every part narrows. */
export interface SearchRequest {
  /**
   * Words, all of which must occur; `"several words"` in a row; `word*` as a beginning. Case and accents do not count;
   * punctuation inside a word makes it words in a row, so `src/a.ts` finds that file name.
   */
  readonly query: string;
  /** In this session only; default: all. */
  readonly sessionId?: SessionId | undefined;
  readonly roles?: readonly MessageRole[] | undefined;
  readonly types?: readonly EntryType[] | undefined;
  /** Entries made at or after this time, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Entries made before this time. */
  readonly untilMs?: number | undefined;
  /** Entries whose tool calls touch this file: the whole path, or its last parts (`src/a.ts`, `a.ts`). */
  readonly path?: string | undefined;
  /** Sessions recorded in this directory. */
  readonly cwd?: string | undefined;
  /** At most this many hits; default 20. */
  readonly limit?: number | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
}

/** One entry, or one session title, that fits. */
export interface SearchHit {
  readonly sessionId: SessionId;
  readonly sessionTitle: string | null;
  /** null: the title of the session fits. */
  readonly entryId: EntryId | null;
  readonly seq: number | null;
  readonly type: EntryType | "title";
  readonly role: MessageRole | null;
  readonly createdAtMs: number;
  /** The surroundings of the first match, about 30 words on one line, without control characters. */
  readonly snippet: string;
  /** The matches in `snippet`: pairs of start and end, in UTF-16 code units. */
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** Hits, best first: titles, then entries by BM25 rank, newest first where the rank is equal. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** How many entries and titles fit in all. */
  readonly total: number;
  readonly next: string | null;
}
