import { sql } from "kysely";
import type { HitCopy, SearchHit, SearchRequest } from "../../port/search.js";
import {
  type EntryHitRow,
  type EntryMatch,
  groupCopies,
  matchTitles,
  NO_SNIPPET,
  type TitleRow,
  toEntryHit,
} from "../../rules/search/hit-rows.js";
import { labelledText } from "../../rules/search/labels.js";
import type { Matching } from "../../rules/search/matching.js";
import { textOfHit } from "../../rules/search/payload-text.js";
import type { AskedTerm } from "../../rules/search/question.js";
import { createSnippetWriter } from "../../rules/search/snippet.js";
import type { Connection } from "../file/connection.js";
import { PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PayloadRow } from "../payloads/payloads.js";
import { dynamicQuery, query, rawQuery } from "../query.js";
import type { EntryTable } from "../schema.js";
import { findPayloadText } from "./search-index.js";
import { allOf, sessionConditions } from "./search-query.js";
import { findFittingRows } from "./term-rows.js";

// The hits of a page of a search: entries and titles with their snippets.

/** A row of a matching entry. */
interface HitRow extends PayloadRow, Omit<EntryHitRow, "is_private" | "seq">, Pick<EntryTable, "preview"> {
  readonly is_private: 0 | 1;
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
  entries: readonly (EntryMatch & { readonly seq: number })[],
  matching: Matching,
  { snippets = true, places }: SearchRequest,
): readonly SearchHit[] {
  if (entries.length === 0) return [];
  const rows = connection.all(rowsOfHits, { seqs: JSON.stringify(entries.map(({ seq }) => seq)) });
  const copies = readCopies(connection, rows);
  const bySeq = new Map<number, HitRow>(rows.map((row) => [row.seq, row]));
  const writeSnippet = createSnippetWriter(matching.terms);
  return entries.flatMap((entry) => {
    const { seq, label } = entry;
    const row = bySeq.get(seq);
    return row === undefined
      ? []
      : [
          toEntryHit(
            { ...row, is_private: row.is_private === 1 },
            snippets ? writeSnippet(labelledText(label, readText(connection, row, places))) : NO_SNIPPET,
            copies.get(seq) ?? [],
            entry,
          ),
        ];
  });
}

interface CopyRow extends HitCopy {
  readonly seq: number;
  readonly copySeq: number;
}

// Of an entry without an origin, the origin of its copies refers to it: entry/origins.ts.
const copiesOf = query<{ seqs: string }, CopyRow>(({ sql: text, p }) =>
  rawQuery(text<CopyRow>`
    SELECT hit.seq, other.seq AS "copySeq", session.id AS "sessionId", other.id AS "entryId" FROM json_each(${p.seqs}) AS asked CROSS JOIN entry AS hit ON hit.seq = asked.value
      CROSS JOIN session AS place ON place.seq = hit.session_seq CROSS JOIN entry AS other ON other.origin = coalesce(hit.origin, place.id || ' ' || hit.id)
      CROSS JOIN session ON session.seq = other.session_seq
      WHERE other.session_seq <> hit.session_seq
    UNION ALL
    SELECT hit.seq, other.seq, session.id, other.id FROM json_each(${p.seqs}) AS asked CROSS JOIN entry AS hit ON hit.seq = asked.value
      CROSS JOIN session ON session.id = substr(hit.origin, 1, instr(hit.origin, ' ') - 1)
      CROSS JOIN entry AS other ON other.session_seq = session.seq AND other.id = substr(hit.origin, instr(hit.origin, ' ') + 1)
      WHERE other.origin IS NULL AND other.session_seq <> hit.session_seq`),
);

/** The other sessions with each entry of a page, by the row number of the entry. Cost: a look-up for each entry, and its copies. */
function readCopies(connection: Connection, rows: readonly { readonly seq: number }[]): ReadonlyMap<number, readonly HitCopy[]> {
  return groupCopies(connection.all(copiesOf, { seqs: JSON.stringify(rows.map(({ seq }) => seq)) }), ({ seq }) => seq);
}

/** The row numbers of the same entries in other sessions. */
export function findCopies(connection: Connection, seqs: readonly number[]): readonly number[] {
  return seqs.length === 0 ? [] : connection.all(copiesOf, { seqs: JSON.stringify(seqs) }).map(({ copySeq }) => copySeq);
}

/** The text of a hit that was searched. */
function readText(connection: Connection, row: HitRow, places: SearchRequest["places"]): string {
  const json = findPayloadText(connection, row);
  // A payload in a damaged block cannot be read; the preview is in the row of the entry.
  return json === undefined ? row.preview : textOfHit(row.type, json, places);
}

const lastSession = query<Record<never, never>, { seq: number | null }>(({ sql: text }) =>
  rawQuery(text<{ seq: number | null }>`SELECT max(seq) AS seq FROM session`),
);

/** Returns the sessions whose title matches: whole words first, then the newest. Cost: the titles with the words. */
export function findTitles(
  connection: Connection,
  matching: Matching,
  request: SearchRequest,
  words: readonly AskedTerm[] = [],
): readonly TitleRow[] {
  const to = connection.get(lastSession, {})?.seq ?? 0;
  const found = findFittingRows(connection, matching, { table: "session_text", from: 1, to }, words);
  if (found?.length === 0) return [];
  const asked =
    found === null ? sql`TRUE` : sql`session.seq IN (SELECT value FROM json_each(${JSON.stringify(found.map(({ seq }) => seq))}))`;
  const rows = connection.all(
    dynamicQuery(sql<TitleRow>`
        SELECT session.seq, session.id, session.title, session.created_at_ms FROM session
        WHERE ${asked} AND session.title IS NOT NULL AND ${allOf(sessionConditions(request, sql.ref("session.created_at_ms")))}`),
    {},
  );
  return matchTitles(rows, matching, request, (a, b) => b.seq - a.seq);
}
