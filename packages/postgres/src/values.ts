import type { EntryId, SessionId } from "@bough/session-core";
import type * as records from "@bough/session-core/engine";
import { assertTokenCounts, keyBounds, parseEncoded, rowLimit } from "@bough/session-core/engine";
import type { Sql } from "kysely";
import type { PgDatabase } from "./database.js";
import { joinEntries } from "./entries.js";
import { type Always, pgQuery, pgRaw, pgRepeatable } from "./query.js";
import { isWritable, type KeyParameters, keyParameters, ofSession, requireSession, rowsOf, sessionExists } from "./session-key.js";

const labelRows = pgQuery<KeyParameters, records.Label>(({ sql, p }) =>
  pgRaw(sql<records.Label>`
    SELECT entry.id AS "entryId", label.label, label.created_at_ms AS "createdAtMs"
    FROM label ${joinEntries(sql, p, "seq", sql`label.entry_seq`)}
    WHERE ${ofSession(sql, p, "label")} AND ${sessionExists(sql, p)} ORDER BY label.entry_seq`),
);

/** Lists the labels that contain `text`, ignoring case, oldest entry first. @throws {SessionNotFoundError} */
export async function listLabels(database: PgDatabase, key: records.SessionKey, text = ""): Promise<readonly records.Label[]> {
  const labels = await rowsOf(database, key, labelRows, {});
  // Compared in JavaScript, so that case is ignored in the same way in every store.
  const part = text.toLowerCase();
  return labels.filter(({ label }) => label.toLowerCase().includes(part));
}

interface ValueRow {
  readonly key: string;
  readonly json: string;
  readonly updated_at_ms: number;
}

const valueRow = pgQuery<KeyParameters & { name: string }, ValueRow>(({ sql, p }) =>
  pgRaw(sql<ValueRow>`
    SELECT key, value_json AS json, updated_at_ms FROM value
    WHERE ${ofSession(sql, p, "value")} AND key = ${p.name} AND ${sessionExists(sql, p)}`),
);

/** Returns the value of a key, or undefined. @throws {SessionNotFoundError} */
export async function findValue(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.StoredValue | undefined> {
  const [row] = await rowsOf(database, key, valueRow, { name });
  return row && storedValue(row);
}

interface Range {
  readonly from: string;
  /** null: there is no end. */
  readonly to: string | null;
  readonly limit: number;
}

function toRange(range: records.ValueRange): Range {
  const { from, to } = keyBounds(range);
  return { from, to: typeof to === "string" ? to : null, limit: rowLimit(range.limit ?? Number.POSITIVE_INFINITY) };
}

/** Declares the query of a range in each order. */
function inRange<R>(columns: string) {
  const query = (order: "asc" | "desc") =>
    pgQuery<KeyParameters & Range, R>(({ sql, p }) =>
      pgRaw(sql<R>`
        SELECT ${sql.raw(columns)} FROM value
        WHERE ${ofSession(sql, p, "value")} AND key >= ${p.from} AND (${p.to}::text IS NULL OR key < ${p.to}::text) AND ${sessionExists(sql, p)}
        ORDER BY key ${sql.raw(order)} LIMIT ${p.limit}`),
    );
  return { asc: query("asc"), desc: query("desc") };
}

const valueRows = inRange<ValueRow>("key, value_json AS json, updated_at_ms");
const keyRows = inRange<records.ValueKey>('key, bytes, updated_at_ms AS "updatedAtMs"');

/** Lists the values of a range of keys, ordered by key. @throws {SessionNotFoundError} */
export async function listValues(
  database: PgDatabase,
  key: records.SessionKey,
  range: records.ValueRange,
): Promise<readonly records.StoredValue[]> {
  return (await rowsOf(database, key, valueRows[range.order ?? "asc"], toRange(range))).map(storedValue);
}

/** Lists the keys of a range, ordered by key, without reading the values. @throws {SessionNotFoundError} */
export async function listValueKeys(
  database: PgDatabase,
  key: records.SessionKey,
  range: records.ValueRange,
): Promise<readonly records.ValueKey[]> {
  return rowsOf(database, key, keyRows[range.order ?? "asc"], toRange(range));
}

function storedValue({ key, json, updated_at_ms }: ValueRow): records.StoredValue {
  return { key, value: parseEncoded(json), updatedAtMs: updated_at_ms };
}

const valuesOf = pgQuery<{ name: string; sessions: readonly SessionId[] }, ValueRow & { readonly session_id: SessionId }>(({ sql, p }) =>
  pgRaw(sql<ValueRow & { readonly session_id: SessionId }>`
    SELECT value.session_id, value.key, value.value_json AS json, value.updated_at_ms
    FROM unnest(${p.sessions}::text[]) WITH ORDINALITY AS wanted (id, ordinal)
      JOIN value ON value.tenant = ${p.tenant} AND value.session_id = wanted.id AND value.key = ${p.name}
    ORDER BY wanted.ordinal`),
);

/** Returns the value of one key of several sessions, in the order of the ids. Sessions without one are missing. */
export async function findValuesOf(
  database: PgDatabase,
  name: string,
  ids: readonly SessionId[],
): Promise<ReadonlyMap<SessionId, records.StoredValue>> {
  const rows = await database.all(valuesOf, { name, sessions: ids });
  return new Map(rows.map((row) => [row.session_id, storedValue(row)]));
}

type CountKey = KeyParameters & { readonly counter: string };

// OFFSET 0 keeps the order of the look-ups: from an id to its entry, from the entry to its count. Without it, the server may join the
// entries with all counts of the session.
const entryWith = (sql: Sql, p: Always & KeyParameters) => sql`CROSS JOIN LATERAL (
        SELECT entry.seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND entry.id = given.id OFFSET 0) AS found`;

const countsOf = pgQuery<CountKey & { ids: readonly EntryId[] }, { id: EntryId; tokens: number }>(({ sql, p }) =>
  pgRaw(sql<{ id: EntryId; tokens: number }>`
    SELECT given.id, counted.tokens
    FROM unnest(${p.ids}::text[]) WITH ORDINALITY AS given (id, ordinal) ${entryWith(sql, p)}
      CROSS JOIN LATERAL (
        SELECT tokens FROM entry_token_count AS count
        WHERE ${ofSession(sql, p, "count")} AND count.counter = ${p.counter} AND count.entry_seq = found.seq OFFSET 0) AS counted
    WHERE ${sessionExists(sql, p)} ORDER BY given.ordinal`),
);

/** Reads stored token counts by entry id, in one query. Entries without a count are missing in the map. @throws {SessionNotFoundError} */
export async function readTokenCounts(
  database: PgDatabase,
  key: records.SessionKey,
  counter: string,
  ids: readonly EntryId[],
): Promise<ReadonlyMap<EntryId, number>> {
  const rows = await rowsOf(database, key, countsOf, { counter, ids });
  return new Map(rows.map(({ id, tokens }) => [id, tokens]));
}

// The lock keeps the session from being deleted meanwhile, and does not wait for appends. Rows are written in one order, so that two
// writers of the same counts cannot wait for each other.
const putCounts = pgRepeatable<CountKey & { ids: readonly EntryId[]; tokens: readonly number[] }, { known: boolean }>(({ sql, p }) =>
  pgRaw(sql<{ known: boolean }>`
    WITH kept AS (
      SELECT session.tenant, session.session_id FROM session
      WHERE ${isWritable(sql, p)} AND ${ofSession(sql, p, "session")} AND seq = coalesce(${p.sessionSeq}::bigint, seq) FOR KEY SHARE),
    put AS (
      INSERT INTO entry_token_count (tenant, session_id, counter, entry_seq, tokens)
      SELECT kept.tenant, kept.session_id, ${p.counter}, found.seq, given.tokens
      FROM kept CROSS JOIN unnest(${p.ids}::text[], ${p.tokens}::bigint[]) AS given (id, tokens) ${entryWith(sql, p)}
      ORDER BY found.seq
      ON CONFLICT (tenant, session_id, counter, entry_seq) DO UPDATE SET tokens = excluded.tokens)
    SELECT EXISTS (SELECT 1 FROM kept) AS known`),
);

/**
 * Stores token counts, replacing those of the same counter. Ignores ids of unknown entries.
 *
 * @throws {InvalidEntryError} the counter name is empty or longer than 200 characters, or a count is not a non-negative safe integer.
 * @throws {SessionNotFoundError}
 */
export async function saveTokenCounts(
  database: PgDatabase,
  key: records.SessionKey,
  counter: string,
  counts: ReadonlyMap<EntryId, number>,
): Promise<void> {
  assertTokenCounts(counter, counts);
  if (counts.size === 0) return requireSession(database, key);
  const parameters = { ...keyParameters(key), counter, ids: [...counts.keys()], tokens: [...counts.values()] };
  if ((await database.get(putCounts, parameters))?.known === true) return;
  await database.requireWritable();
  await requireSession(database, key);
}
