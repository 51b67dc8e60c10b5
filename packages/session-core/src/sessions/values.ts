import { assertJson, jsonText } from "../entry/json.js";
import { InvalidEntryError, ValueTooLargeError } from "../errors/session-errors.js";
import type { StoredValue } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { query } from "../storage/query.js";
import type { SessionSeq, ValueTable } from "../storage/schema.js";
import type { SessionRef } from "./session-rows.js";

/** Values are for settings of the host. Larger data belongs in `custom` entries. */
const MAX_VALUE_BYTES = 64 * 1024;

const putValue = query<{ session: SessionSeq; key: string; value: string; at: number }>(({ db, p }) =>
  db
    .insertInto("value")
    .values({ session_seq: p.session, key: p.key, value_json: p.value, updated_at_ms: p.at })
    .onConflict((conflict) => conflict.columns(["session_seq", "key"]).doUpdateSet({ value_json: p.value, updated_at_ms: p.at })),
);
const removeValue = query<{ session: SessionSeq; key: string }>(({ db, p }) =>
  db.deleteFrom("value").where("session_seq", "=", p.session).where("key", "=", p.key),
);

/**
 * Stores a value; `undefined` removes it.
 *
 * @throws {ValueTooLargeError} it is larger than 64 KiB as JSON.
 * @throws {UnserializableValueError} it cannot be represented as JSON.
 */
export function setValue(connection: Connection, session: SessionSeq, key: string, value: unknown): void {
  if (key === "" || key.length > 200) throw new InvalidEntryError("key", "must be 1 to 200 characters");
  if (value === undefined) {
    connection.run(removeValue, { session, key });
    return;
  }
  assertJson(value, key);
  const json = jsonText(value, `The value '${key}'`);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_VALUE_BYTES) throw new ValueTooLargeError(key, bytes, MAX_VALUE_BYTES);
  connection.run(putValue, { session, key, value: json, at: Date.now() });
}

type ValueRow = Pick<ValueTable, "key" | "value_json" | "updated_at_ms">;

const valueRow = query<{ session: SessionSeq; key: string }, ValueRow>(({ db, p }) =>
  db.selectFrom("value").select(["key", "value_json", "updated_at_ms"]).where("session_seq", "=", p.session).where("key", "=", p.key),
);
const valueRows = query<{ session: SessionSeq; prefix: string }, ValueRow>(({ db, sql, p }) =>
  db
    .selectFrom("value")
    .select(["key", "value_json", "updated_at_ms"])
    .where("session_seq", "=", p.session)
    .where(sql<boolean>`substr(key, 1, length(${p.prefix})) = ${p.prefix}`)
    .orderBy("key"),
);

/** Returns the value of a key, or undefined. */
export function findValue(connection: Connection, session: SessionRef, key: string): StoredValue | undefined {
  const row = connection.get(valueRow, { session: session.seq, key });
  return row && storedValue(row);
}

/** Lists the values whose key starts with `prefix`, ordered by key. */
export function listValues(connection: Connection, session: SessionRef, prefix: string): readonly StoredValue[] {
  return connection.all(valueRows, { session: session.seq, prefix }).map(storedValue);
}

function storedValue(row: ValueRow): StoredValue {
  return { key: row.key, value: JSON.parse(row.value_json), updatedAtMs: row.updated_at_ms };
}
