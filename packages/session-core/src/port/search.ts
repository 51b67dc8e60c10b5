import type { EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { EntryId, SessionId } from "../ids/ids.js";

/** The query and the scope of a search. Conditions are combined with AND. */
export interface SearchRequest {
  /**
   * The parts that must all occur:
   *
   * - a word: `text` finds `text`, then `texts`, then `userMessageText`. Of two letters only words that start with them, of one letter only
   *   the word; in a query of more than three parts, which is a question, only whole words.
   * - `"several words"`: these words, whole and in this order; `word*`: words that start with it.
   * - a word with other characters, such as `C++`, `--flag` or `src/a.ts`, and such a text in quotation marks: as it is typed.
   * - `/expression/` or `/expression/i`: a regular expression of JavaScript; `^` and `$` match at line breaks.
   *
   * Case and accents are ignored, except in an expression without `i`. Empty, with another condition: every entry that meets the
   * conditions, the newest first.
   */
  readonly query: string;
  /**
   * If no entry has all of it: look for entries with the same words, whatever is between them, then with most of the words, then with one
   * spelling mistake in one word, then with some of them. `SearchPage.matched` says which of these the hits are. Default false.
   */
  readonly relax?: boolean | undefined;
  /** At least this many of the words must occur; default all of them. Not together with `relax`. */
  readonly atLeast?: number | undefined;
  /** Default true. false: the hits have empty snippets, and no payload is read. */
  readonly snippets?: boolean | undefined;
  /** Default: all sessions. */
  readonly sessionId?: SessionId | undefined;
  readonly roles?: readonly MessageRole[] | undefined;
  readonly types?: readonly EntryType[] | undefined;
  /** Only where the text is in one of these places. */
  readonly places?: readonly SearchPlace[] | undefined;
  /** Only calls of the tool with this name, in any case, and their results. */
  readonly tool?: string | undefined;
  /** Only sessions that were imported in one of these formats (`claude`, `pi`); `bough`: sessions that were made by Bough. */
  readonly agents?: readonly string[] | undefined;
  /** Only entries created at or after this time, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Only entries created before this time. */
  readonly untilMs?: number | undefined;
  /** Only entries whose tool calls touch this file, and the results of these calls, by its path or the end of it (`src/a.ts`, `a.ts`). */
  readonly path?: string | undefined;
  /** Only sessions of this working directory. */
  readonly cwd?: string | undefined;
  /** Only these sessions, such as those that a host has chosen. Unlike `sessionId`, an entry that several of them have is one hit. */
  readonly sessionIds?: readonly SessionId[] | undefined;
  /** Only these entries, by their order of arrival (`seq`). */
  readonly seqs?: readonly number[] | undefined;
  /** Also what a user kept out of the conversation (`excludeFromContext`). Default false: such entries are left out and not counted. */
  readonly includePrivate?: boolean | undefined;
  /** At most this many hits; default 20. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** The places of `SearchRequest.places`. */
export const SEARCH_PLACES = ["prose", "code", "tool"] as const satisfies readonly SearchPlace[];

/**
 * Where in an entry a search looks. `prose`: what people and models wrote, thoughts and summaries, without fenced blocks. `code`: fenced
 * blocks, arguments of calls that write or change files or run commands, commands of the user, and files that a tool has read. `tool`: calls
 * of tools with all arguments, their results, commands of the user and their output.
 */
export type SearchPlace = "prose" | "code" | "tool";

/** The same entry in another session. */
export interface HitCopy {
  readonly sessionId: SessionId;
  readonly entryId: EntryId;
}

/** An entry or a session title that matches. */
export interface SearchHit {
  readonly sessionId: SessionId;
  readonly sessionTitle: string | null;
  /** null if the title of the session matches. */
  readonly entryId: EntryId | null;
  readonly seq: number | null;
  readonly type: EntryType | "title";
  readonly role: MessageRole | null;
  readonly createdAtMs: number;
  /**
   * Of a question: 0 to 1, how much of what an entry can have for it this one has, with the entries around it; comparable between questions.
   * null: of another query, or a title.
   */
  readonly score: number | null;
  /** The label of the entry, if it has words of the query: then the snippet starts with it, in brackets. null: of another entry, or a title. */
  readonly label: string | null;
  /** True if the user kept the entry out of the conversation. Searches return such entries only with `includePrivate`. */
  readonly isPrivate: boolean;
  /** The other sessions that have the entry, by their ids: its forks, or of a copy the original. Empty for titles. */
  readonly copies: readonly HitCopy[];
  /** The text around the first match, about 30 words on one line, without control characters. */
  readonly snippet: string;
  /** The matches in `snippet` as pairs of start and end, in UTF-16 code units. */
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** The rule by which all hits of a search match the query. */
export type SearchMatch =
  /** All the words. */
  | { readonly kind: "all" }
  /** All the words, but not the characters between or around them as they were typed. */
  | { readonly kind: "words" }
  /** At least `words` of the `of` words. */
  | { readonly kind: "some"; readonly words: number; readonly of: number }
  /** All the words, one of them with one letter changed, added, missing or exchanged with the next. `found`: the words of this page. */
  | { readonly kind: "spelling"; readonly typed: string; readonly found: readonly string[] }
  /** Some words of a question, in any form, the best first. `misspelt`: the typed words that no entry has; words with one mistake match. */
  | { readonly kind: "ranked"; readonly misspelt: readonly string[] };

/**
 * A page of hits. An entry that several sessions have is one hit: the original, or, if only some sessions are searched, the first of its
 * copies there. Titles first, then entries whose label matches, then those with the query as whole words by BM25 rank, as starts of words,
 * as parts of words; of equal ranks the newest first.
 */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** The number of matching entries and titles on all pages. */
  readonly total: number;
  /** Other than `all` only with `relax` or `atLeast`. */
  readonly matched: SearchMatch;
  /** The text after a quotation mark that is not closed, which was searched as a phrase; null: all are closed. */
  readonly unclosedQuote: string | null;
  readonly next: string | null;
}
