import type { HitCopy, SearchHit, SearchRequest } from "@bough/session-core";
import {
  createSnippetWriter,
  type EntryMatch,
  type EntrySeq,
  groupCopies,
  labelledText,
  type Matching,
  matchTitles,
  NO_SNIPPET,
  type TextScan,
  type TitleRow,
  textOfHit,
  toEntryHit,
  toEntryKind,
  toEntrySeq,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.js";
import { entryNamed, joinNamed } from "./entries.js";
import { type PgEntry, pgDynamicQuery, pgQuery, pgRaw } from "./query.js";
import { candidatesCondition, matches, searchedSessions, type WordParts, type WordsColumn } from "./search-words.js";

/** The key of an entry, and its age. */
export interface FoundEntry {
  readonly session_id: string;
  readonly seq: EntrySeq;
  readonly created_at_ms: number;
}

/** Compares the newest first; in one session by number. */
export function byAge(a: FoundEntry, b: FoundEntry): number {
  if (a.created_at_ms !== b.created_at_ms) return b.created_at_ms - a.created_at_ms;
  if (a.session_id === b.session_id) return b.seq - a.seq;
  return a.session_id < b.session_id ? 1 : -1;
}

/** The order of `byAge`, in SQL. */
export const BY_AGE = sql`created_at_ms DESC, session_id DESC, seq DESC`;
export const BY_AGE_OF_ENTRY = sql`entry.created_at_ms DESC, entry.session_id DESC, entry.seq DESC`;

interface Keys {
  sessions: readonly string[];
  seqs: readonly number[];
}

type HitRow = Pick<PgEntry, "session_id" | "seq" | "id" | "kind" | "created_at_ms" | "is_private" | "payload"> & {
  readonly session_title: string | null;
};

const hitRows = pgQuery<Keys & { snippets: boolean }, HitRow>(({ sql: text, p }) =>
  pgRaw(text<HitRow>`
    SELECT entry.session_id, entry.seq, entry.id, entry.kind, entry.created_at_ms, entry.is_private,
      CASE WHEN ${p.snippets}::boolean THEN entry.payload ELSE '' END AS payload, session.title AS session_title
    FROM unnest(${p.sessions}::text[], ${p.seqs}::integer[]) AS asked (session_id, seq)
    ${joinNamed(p.tenant, "asked")}
    JOIN session ON session.tenant = ${p.tenant} AND session.session_id = entry.session_id`),
);

/** Returns the hits of entries, in their order. An entry that was deleted is missing. Two statements. */
export async function readHits(
  database: Database,
  entries: readonly (FoundEntry & EntryMatch)[],
  matching: Matching,
  { snippets = true, places }: SearchRequest,
): Promise<readonly SearchHit[]> {
  if (entries.length === 0) return [];
  const rows = new Map((await database.all(hitRows, { ...keysOf(entries), snippets })).map((row) => [keyOf(row), row]));
  const copies = groupCopies(await database.all(copiesOf, keysOf(entries)), keyOf);
  const writeSnippet = createSnippetWriter(matching.terms);
  return entries.flatMap((entry) => {
    const row = rows.get(keyOf(entry));
    if (row === undefined) return [];
    const kind = toEntryKind(row.kind);
    const snippet = snippets ? writeSnippet(labelledText(entry.label, textOfHit(kind.type, row.payload, places))) : NO_SNIPPET;
    return [toEntryHit({ ...row, ...kind }, snippet, copies.get(keyOf(entry)) ?? [], entry)];
  });
}

type CopyRow = Pick<FoundEntry, "session_id" | "seq"> & HitCopy & { readonly copySeq: number };

// Of an entry without an origin, the origin of its copies refers to it: entry/origins.ts.
const copiesOf = pgQuery<Keys, CopyRow>(({ sql: text, p }) =>
  pgRaw(text<CopyRow>`
    WITH hit AS MATERIALIZED (
      SELECT entry.session_id, entry.seq, coalesce(entry.origin, entry.session_id || ' ' || entry.id) AS origin
      FROM unnest(${p.sessions}::text[], ${p.seqs}::integer[]) AS asked (session_id, seq)
      ${joinNamed(p.tenant, "asked")})
    SELECT hit.session_id, hit.seq, other.session_id AS "sessionId", other.id AS "entryId", other.seq AS "copySeq" FROM hit
      JOIN entry AS other ON other.tenant = ${p.tenant} AND other.origin = hit.origin AND other.session_id <> hit.session_id
    UNION ALL
    SELECT hit.session_id, hit.seq, other.session_id, other.id, other.seq FROM hit
      CROSS JOIN LATERAL ${entryNamed(p.tenant, text`split_part(hit.origin, ' ', 1)`, "id", text`split_part(hit.origin, ' ', 2)`)} AS other
      WHERE other.origin IS NULL AND other.session_id <> hit.session_id`),
);

/** The same entries in other sessions. */
export async function findCopies(
  database: Database,
  entries: readonly FoundEntry[],
): Promise<readonly Pick<FoundEntry, "session_id" | "seq">[]> {
  if (entries.length === 0) return [];
  const copies = await database.all(copiesOf, keysOf(entries));
  return copies.map(({ sessionId, copySeq }) => ({ session_id: sessionId, seq: toEntrySeq(copySeq) }));
}

export function keyOf({ session_id, seq }: Pick<FoundEntry, "session_id" | "seq">): string {
  return `${seq} ${session_id}`;
}

function keysOf(entries: readonly FoundEntry[]): Keys {
  return { sessions: entries.map(({ session_id }) => session_id), seqs: entries.map(({ seq }) => seq) };
}

type PayloadRow = FoundEntry & Pick<PgEntry, "kind" | "payload">;

const payloadRows = pgQuery<Keys, PayloadRow>(({ sql: text, p }) =>
  pgRaw(text<PayloadRow>`
    SELECT entry.session_id, entry.seq, entry.created_at_ms, entry.kind, entry.payload
    FROM unnest(${p.sessions}::text[], ${p.seqs}::integer[]) AS asked (session_id, seq)
    ${joinNamed(p.tenant, "asked")}`),
);

/** An entry to scan. */
export type Candidate = FoundEntry & Pick<PgEntry, "payload_bytes">;

/** The most entries of a page of a scan. */
const PAGE_ENTRIES = 2000;

/** Scans entries, in pages of about the size that the scan specifies. @throws {SlowExpressionError} */
export async function scanEntries<T extends object>(
  database: Database,
  entries: readonly Candidate[],
  scan: TextScan<FoundEntry, T>,
): Promise<void> {
  let page: Candidate[] = [];
  let bytes = 0;
  const scanPage = async () => {
    const rows = await database.all(payloadRows, keysOf(page));
    scan.scan(rows.map(({ kind, payload, ...entry }) => ({ entry, type: toEntryKind(kind).type, json: payload })));
    [page, bytes] = [[], 0];
  };
  for (const entry of entries) {
    if (page.length >= PAGE_ENTRIES || (page.length > 0 && bytes + entry.payload_bytes > scan.pageBytes)) await scanPage();
    page.push(entry);
    bytes += entry.payload_bytes;
  }
  if (page.length > 0) await scanPage();
}

/** The words of titles. */
function titleWords(tenant: string, parts: WordParts): WordsColumn {
  return {
    tenant,
    parts,
    has: (queries) => matches(sql`session_title.words`, queries),
    counted: (conditions, atLeast) =>
      sql<boolean>`${sql.join(
        conditions.map((one) => sql`(${one})::integer`),
        sql` + `,
      )} >= ${atLeast}`,
  };
}

/** Returns the sessions whose title matches: whole words first, then the newest. One statement. */
export async function findTitles(
  database: Database,
  matching: Matching,
  request: SearchRequest,
  parts: WordParts,
): Promise<readonly TitleRow[]> {
  const words = candidatesCondition(matching, titleWords(database.tenant, parts));
  const asked: RawBuilder<boolean> =
    words === null
      ? sql`TRUE`
      : sql`session.session_id IN (SELECT session_id FROM session_title WHERE session_title.tenant = ${database.tenant} AND ${words})`;
  const rows = await database.all(
    pgDynamicQuery(sql<TitleRow>`
        SELECT session.seq, session.session_id AS id, session.title, session.created_at_ms FROM session
        WHERE ${searchedSessions(request, database.tenant)} AND session.title IS NOT NULL AND ${asked}`),
    {},
  );
  return matchTitles(rows, matching, request, (a, b) => b.seq - a.seq || (a.id < b.id ? 1 : -1));
}
