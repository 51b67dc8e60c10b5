import { parseEncoded } from "../../entry/json.js";
import { StoreDamagedError } from "../../errors/store-errors.js";
import type { SessionId, SessionSeq } from "../../ids/ids.js";
import type { SessionRow, StoredValue, ValueKey, ValueRange } from "../../port/records.js";
import type { CopiedState } from "../../port/session-copy.js";
import { encodeValue, type KeyBounds, keyBounds, requireExpected, rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";

/** The largest value that is stored in the table `value`; larger ones are in `large_value`, so that lists of keys do not read them. */
const MAX_ROW_BYTES = 64 * 1024;

const putValue = query<{ session: SessionSeq; key: string; value: string; large: number | null; at: number }>(({ db, p }) =>
  db
    .insertInto("value")
    .values({ session_seq: p.session, key: p.key, value_json: p.value, large_bytes: p.large, updated_at_ms: p.at })
    .onConflict((conflict) =>
      conflict.columns(["session_seq", "key"]).doUpdateSet({ value_json: p.value, large_bytes: p.large, updated_at_ms: p.at }),
    ),
);
const removeValue = query<{ session: SessionSeq; key: string }>(({ db, p }) =>
  db.deleteFrom("value").where("session_seq", "=", p.session).where("key", "=", p.key),
);
const putLarge = query<{ session: SessionSeq; key: string; json: string }>(({ db, p }) =>
  db
    .insertInto("large_value")
    .values({ session_seq: p.session, key: p.key, json: p.json })
    .onConflict((conflict) => conflict.columns(["session_seq", "key"]).doUpdateSet({ json: p.json })),
);
const removeLarge = query<{ session: SessionSeq; key: string }>(({ db, p }) =>
  db.deleteFrom("large_value").where("session_seq", "=", p.session).where("key", "=", p.key),
);

/**
 * Stores a value; `undefined` removes it. Call it inside `write`.
 *
 * @throws {ValueTooLargeError} it is larger than 16 MiB as JSON.
 * @throws {UnserializableValueError} it cannot be represented as JSON.
 */
export function setValue(connection: Connection, session: SessionSeq, key: string, value: unknown): void {
  const encoded = encodeValue(key, value);
  if (encoded === undefined) {
    connection.run(removeValue, { session, key });
    return;
  }
  putJson(connection, session, { key, json: encoded.json, updatedAtMs: Date.now() });
}

function putJson(connection: Connection, session: SessionSeq, { key, json, updatedAtMs: at }: CopiedState["values"][number]): void {
  const bytes = Buffer.byteLength(json);
  const isLarge = bytes > MAX_ROW_BYTES;
  connection.run(putValue, { session, key, value: isLarge ? "null" : json, large: isLarge ? bytes : null, at });
  if (isLarge) connection.run(putLarge, { session, key, json });
  else connection.run(removeLarge, { session, key });
}

/**
 * Throws unless the present value equals `expected` as JSON; undefined: unless there is none. Call it inside `write`.
 *
 * @throws {ValueChangedError}
 */
export function requireValue(connection: Connection, session: SessionRow, key: string, expected: unknown): void {
  const row = connection.get(valueRow, { session: session.seq, key });
  if (row?.json === null) throw new StoreDamagedError(connection.path);
  requireExpected(session.id, key, row?.json, expected);
}

const removeRange = query<KeyBounds & { session: SessionSeq }>(({ db, sql, p }) =>
  db.deleteFrom("value").where("session_seq", "=", p.session).where("key", ">=", p.from).where(sql<boolean>`value.key < ${p.to}`),
);

/** Removes the values whose key starts with `prefix`. */
export function deleteValues(connection: Connection, session: SessionSeq, prefix: string): void {
  connection.run(removeRange, { session, ...keyBounds({ prefix }) });
}

const removeAll = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("value").where("session_seq", "=", p.session));

/** Makes the values of a session those of its copy in another store. Call it inside `write`. */
export function replaceValues(connection: Connection, session: SessionSeq, values: CopiedState["values"]): void {
  connection.run(removeAll, { session });
  for (const value of values) putJson(connection, session, value);
}

const copyRows = query<{ from: SessionSeq; to: SessionSeq }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO value (session_seq, key, value_json, updated_at_ms, large_bytes)
    SELECT ${p.to}, key, value_json, updated_at_ms, large_bytes FROM value WHERE session_seq = ${p.from}`),
);
const copyLarge = query<{ from: SessionSeq; to: SessionSeq }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO large_value (session_seq, key, json) SELECT ${p.to}, key, json FROM large_value WHERE session_seq = ${p.from}`),
);

/** Copies the values of a session into another one without values. Call it inside `write`. */
export function copyValues(connection: Connection, from: SessionSeq, to: SessionSeq): void {
  connection.run(copyRows, { from, to });
  connection.run(copyLarge, { from, to });
}

interface ValueRow {
  readonly key: string;
  /** null only in a damaged store. */
  readonly json: string | null;
  readonly updated_at_ms: number;
}

/** The value as JSON, for SQL on the table `value`. */
const VALUE_JSON = `CASE WHEN value.large_bytes IS NULL THEN value.value_json ELSE (
  SELECT large.json FROM large_value AS large WHERE large.session_seq = value.session_seq AND large.key = value.key) END`;

const valueRow = query<{ session: SessionSeq; key: string }, ValueRow>(({ db, sql, p }) =>
  db
    .selectFrom("value")
    .select(["key", sql.raw<string>(VALUE_JSON).as("json"), "updated_at_ms"])
    .where("session_seq", "=", p.session)
    .where("key", "=", p.key),
);

/** Returns the value of a key, or undefined. */
export function findValue(connection: Connection, session: SessionRow, key: string): StoredValue | undefined {
  const row = connection.get(valueRow, { session: session.seq, key });
  return row && storedValue(connection, row);
}

const valueRowsOf = query<{ key: string; sessions: string }, ValueRow & { readonly session_id: SessionId }>(({ sql, p }) =>
  rawQuery(sql<ValueRow & { readonly session_id: SessionId }>`
    SELECT value.key, ${sql.raw(VALUE_JSON)} AS json, value.updated_at_ms, session.id AS session_id
    FROM json_each(${p.sessions}) AS wanted CROSS JOIN session ON session.id = wanted.value
      CROSS JOIN value ON value.session_seq = session.seq AND value.key = ${p.key}`),
);

/** The number of sessions whose values one query reads. */
const SESSIONS_AT_ONCE = 500;

/** Returns the value of one key of several sessions, in the order of the ids. Sessions without one are missing. Call it inside `read`. */
export function findValuesOf(connection: Connection, key: string, ids: readonly SessionId[]): ReadonlyMap<SessionId, StoredValue> {
  const found = new Map<SessionId, StoredValue>();
  for (let at = 0; at < ids.length; at += SESSIONS_AT_ONCE) {
    const rows = connection.all(valueRowsOf, { key, sessions: JSON.stringify(ids.slice(at, at + SESSIONS_AT_ONCE)) });
    for (const row of rows) found.set(row.session_id, storedValue(connection, row));
  }
  return found;
}

type RangeParameters = KeyBounds & { readonly session: SessionSeq; readonly limit: number };

/** Declares the query of a range in each order. */
function inRange<R>(columns: string) {
  const ordered = (order: "asc" | "desc") =>
    query<RangeParameters, R>(({ sql, p }) =>
      rawQuery(sql<R>`
        SELECT ${sql.raw(columns)} FROM value
        WHERE session_seq = ${p.session} AND key >= ${p.from} AND key < ${p.to} ORDER BY key ${sql.raw(order)} LIMIT ${p.limit}`),
    );
  return { asc: ordered("asc"), desc: ordered("desc") };
}

const valueRows = inRange<ValueRow>(`key, ${VALUE_JSON} AS json, updated_at_ms`);
// The size of a text is in the header of its row, so that SQLite does not read the text for it.
const keyRows = inRange<ValueKey>("key, coalesce(large_bytes, octet_length(value_json)) AS bytes, updated_at_ms AS updatedAtMs");

/** Lists the values of a range of keys, ordered by key. */
export function listValues(connection: Connection, session: SessionRow, range: ValueRange): readonly StoredValue[] {
  return connection.all(valueRows[range.order ?? "asc"], rangeParameters(session, range)).map((row) => storedValue(connection, row));
}

/** Lists all values as the texts that are stored, by key. */
export function listValueTexts(connection: Connection, session: SessionRow): CopiedState["values"] {
  return connection.all(valueRows.asc, rangeParameters(session, {})).map(({ key, json, updated_at_ms }) => {
    if (json === null) throw new StoreDamagedError(connection.path);
    return { key, json, updatedAtMs: updated_at_ms };
  });
}

/** Lists the keys of a range, ordered by key, without reading the values. */
export function listValueKeys(connection: Connection, session: SessionRow, range: ValueRange): readonly ValueKey[] {
  return connection.all(keyRows[range.order ?? "asc"], rangeParameters(session, range));
}

function rangeParameters(session: SessionRow, range: ValueRange): RangeParameters {
  return { session: session.seq, ...keyBounds(range), limit: rowLimit(range.limit ?? Number.POSITIVE_INFINITY) };
}

function storedValue(connection: Connection, { key, json, updated_at_ms }: ValueRow): StoredValue {
  try {
    if (json !== null) return { key, value: parseEncoded(json), updatedAtMs: updated_at_ms };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  // Another program has changed the table of large values, whose texts SQLite does not check.
  throw new StoreDamagedError(connection.path);
}
