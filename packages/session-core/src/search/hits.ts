import { sql } from "kysely";
import type { SearchHit, SearchRequest } from "../port/session-storage.js";
import type { Connection } from "../storage/connection.js";
import { PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PayloadRow } from "../storage/payloads.js";
import { dynamicQuery, query, rawQuery } from "../storage/query.js";
import type { EntryTable } from "../storage/schema.js";
import type { RankedEntry } from "./rank.js";
import { extractText, findPayloadText } from "./search-index.js";
import { allOf, ftsExpression, type Matching, sessionConditions } from "./search-query.js";
import { createSnippet, type Snippet } from "./snippet.js";

// What a page of a search shows: entries and titles with their snippets.

/** A row of a matching entry. */
interface HitRow extends PayloadRow, Pick<EntryTable, "id" | "type" | "role" | "created_at_ms" | "preview"> {
  readonly is_private: 0 | 1;
  readonly session_id: string;
  readonly session_title: string | null;
}

const rowsOfHits = query<{ seqs: string }, HitRow>(({ sql: text, p }) =>
  rawQuery(text<HitRow>`
    SELECT ${text.raw(PAYLOAD_COLUMNS)}, entry.id, entry.type, entry.role, entry.created_at_ms, entry.preview,
      EXISTS (SELECT 1 FROM private_entry WHERE entry_seq = entry.seq) AS is_private,
      session.id AS session_id, session.title AS session_title
    FROM entry JOIN session ON session.seq = entry.session_seq ${text.raw(PAYLOAD_JOIN)}
    WHERE entry.seq IN (SELECT value FROM json_each(${p.seqs}))`),
);

/** Returns the hits of entries, in the order of `entries`. An entry that was deleted is missing. */
export function readHits(
  connection: Connection,
  entries: readonly Pick<RankedEntry, "seq">[],
  matching: Matching,
  { snippets = true }: SearchRequest,
): readonly SearchHit[] {
  if (entries.length === 0) return [];
  const rows = connection.all(rowsOfHits, { seqs: JSON.stringify(entries.map(({ seq }) => seq)) });
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return entries.flatMap(({ seq }) => {
    const row = bySeq.get(seq);
    return row === undefined ? [] : [toHit(row, snippets ? createHitSnippet(connection, row, matching) : NO_SNIPPET)];
  });
}

const NO_SNIPPET: Snippet = { snippet: "", matches: [] };

function createHitSnippet(connection: Connection, row: HitRow, { terms }: Matching): Snippet {
  const json = findPayloadText(connection, row);
  // A payload in a damaged block cannot be read; the preview is in the row of the entry.
  return createSnippet(json === undefined ? row.preview : extractText(row.type, json), terms);
}

function toHit(row: HitRow, snippet: Snippet): SearchHit {
  return {
    sessionId: row.session_id,
    sessionTitle: row.session_title,
    entryId: row.id,
    seq: row.seq,
    type: row.type,
    role: row.role,
    createdAtMs: row.created_at_ms,
    isPrivate: row.is_private === 1,
    ...snippet,
  };
}

interface TitleRow {
  readonly id: string;
  readonly title: string;
  readonly created_at_ms: number;
}

/** Returns the sessions whose title matches, best first. */
export function findTitleHits(connection: Connection, matching: Matching, request: SearchRequest): readonly SearchHit[] {
  const rows = connection.all(
    dynamicQuery<TitleRow>(() =>
      rawQuery(sql<TitleRow>`
        SELECT session.id, session.title, session.created_at_ms FROM session_text JOIN session ON session.seq = session_text.rowid
        WHERE session_text MATCH ${ftsExpression(matching)} AND session.title IS NOT NULL AND ${allOf(sessionConditions(request, sql.ref("session.created_at_ms")))}
        ORDER BY bm25(session_text), session.seq DESC`),
    ),
    {},
  );
  return rows.map((row) => ({
    sessionId: row.id,
    sessionTitle: row.title,
    entryId: null,
    seq: null,
    type: "title",
    role: null,
    createdAtMs: row.created_at_ms,
    isPrivate: false,
    ...createSnippet(row.title, matching.terms),
  }));
}
