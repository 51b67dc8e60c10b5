import type { EntryType } from "../../entry/entry.js";
import type { MessageRole } from "../../entry/message.js";
import type { HitCopy, SearchHit, SearchRequest } from "../../port/search.js";
import type { Matching } from "./matching.js";
import { createSnippetWriter, type Snippet } from "./snippet.js";
import { createCounter } from "./term-counter.js";
import { FoldedText } from "./term-matcher.js";
import { matchLimited } from "./text-scan.js";

// The hits of a search, from the rows of either engine.

/** The columns of an entry that its hit contains. */
export interface EntryHitRow {
  readonly seq: number;
  readonly id: string;
  readonly type: EntryType;
  readonly role: MessageRole | null;
  readonly created_at_ms: number;
  readonly is_private: boolean;
  readonly session_id: string;
  readonly session_title: string | null;
}

/** The snippet of a search without snippets. */
export const NO_SNIPPET: Snippet = { snippet: "", matches: [] };

/** The facts that a search has of an entry that it found. `label`: it has words of the query. */
export interface EntryMatch {
  readonly score?: number | undefined;
  readonly label?: string | undefined;
}

/** Returns the hit of an entry. */
export function toEntryHit(row: EntryHitRow, snippet: Snippet, copies: readonly HitCopy[], { score, label }: EntryMatch = {}): SearchHit {
  return {
    sessionId: row.session_id,
    sessionTitle: row.session_title,
    entryId: row.id,
    seq: row.seq,
    type: row.type,
    role: row.role,
    createdAtMs: row.created_at_ms,
    score: score ?? null,
    label: label ?? null,
    isPrivate: row.is_private,
    copies,
    ...snippet,
  };
}

/**
 * Returns the number of other sessions that have the entry of a hit, as a phrase; "" if there are none. `isWithin`: the search was in
 * one session, which may have a copy.
 */
export function describeCopies({ copies }: Pick<SearchHit, "copies">, isWithin = false): string {
  if (copies.length === 0) return "";
  const [one, several] = isWithin ? ["other session", "other sessions"] : ["fork", "forks"];
  return `also in ${copies.length} ${copies.length === 1 ? one : several}`;
}

/**
 * Copies of entries by the key of the entry, in the order of `SearchHit.copies`: of each session with an entry, the first copy in it. `copySeq`:
 * the row number of the copy.
 */
export function groupCopies<K, R extends HitCopy & { readonly copySeq: number }>(
  rows: readonly R[],
  keyOf: (row: R) => K,
): ReadonlyMap<K, readonly HitCopy[]> {
  const ordered = rows.toSorted((a, b) => (a.sessionId === b.sessionId ? a.copySeq - b.copySeq : a.sessionId < b.sessionId ? -1 : 1));
  const groups = new Map<K, HitCopy[]>();
  for (const row of ordered) {
    const { sessionId, entryId } = row;
    const group = groups.get(keyOf(row)) ?? [];
    if (group.at(-1)?.sessionId !== sessionId) group.push({ sessionId, entryId });
    groups.set(keyOf(row), group);
  }
  return groups;
}

/** A session with a title. */
export interface TitleRow {
  readonly seq: number;
  readonly id: string;
  readonly title: string;
  readonly created_at_ms: number;
}

/** Returns the titles that match: those with whole words first; of the same fit the newest first, as given. @throws {SlowExpressionError} */
export function matchTitles(
  rows: readonly TitleRow[],
  matching: Matching,
  { query }: SearchRequest,
  byAge: (a: TitleRow, b: TitleRow) => number,
): readonly TitleRow[] {
  const count = createCounter(matching);
  const characters = rows.reduce((sum, { title }) => sum + title.length, 0);
  const found = matchLimited(query, characters, () =>
    rows.flatMap((row) => {
      const counts = count(new FoldedText(row.title));
      return counts === undefined ? [] : [{ row, fit: counts.fit }];
    }),
  );
  return found.sort((a, b) => a.fit - b.fit || byAge(a.row, b.row)).map(({ row }) => row);
}

/** Returns the hits of titles, in their order. */
export function toTitleHits(rows: readonly TitleRow[], { terms }: Matching, { snippets = true }: SearchRequest): readonly SearchHit[] {
  const writeSnippet = createSnippetWriter(terms);
  return rows.map((row) => toTitleHit(row, snippets ? writeSnippet(row.title) : NO_SNIPPET));
}

function toTitleHit(row: TitleRow, snippet: Snippet): SearchHit {
  return {
    sessionId: row.id,
    sessionTitle: row.title,
    entryId: null,
    seq: null,
    type: "title",
    role: null,
    createdAtMs: row.created_at_ms,
    score: null,
    label: null,
    isPrivate: false,
    copies: [],
    ...snippet,
  };
}
