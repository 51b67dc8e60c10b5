import { type Entry, type EntryId, type EntryPayload, PayloadDamagedError, type SessionId } from "@bough/session-core";
import { entryOf, parseStoredPayload, toEntryKind } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Always } from "./query.js";
import { type KeyParameters, ofSession } from "./session-key.js";
import type { PgEntry } from "./tables.js";

/** The columns of an entry that its payload is read by. */
export type PayloadRow = Pick<PgEntry, "seq" | "kind" | "payload">;

/** The columns of an entry, and the id of its parent. */
export type EntryRow = PayloadRow & Pick<PgEntry, "created_at_ms"> & { readonly id: EntryId; readonly parent_id: EntryId | null };

/** The columns of an `EntryRow`, for SQL on the table `entry`. The parent is looked up for each row: a join could read the whole session. */
export const ENTRY_COLUMNS = `entry.seq, entry.kind, entry.payload, entry.created_at_ms, entry.id, (SELECT parent.id FROM entry AS parent
  WHERE parent.tenant = entry.tenant AND parent.session_id = entry.session_id AND parent.seq = entry.parent_seq) AS parent_id`;

/**
 * SQL of the entries of a session from one number or id to another, which can be columns of the tables before it. The server expects that a
 * session has as many entries as the average one, or one if it has no statistics yet, and would read a long one whole. `OFFSET 0` keeps it from
 * joining in another way; the range and its order, from choosing another index.
 */
export function entriesFrom(
  sql: Sql,
  p: Always & Pick<KeyParameters, "session">,
  key: "seq" | "id",
  from: RawBuilder<unknown>,
  to = from,
): RawBuilder<unknown> {
  const column = sql.ref(`entry.${key}`);
  return sql`(SELECT * FROM entry WHERE ${ofSession(sql, p, "entry")} AND ${column} >= ${from} AND ${column} <= ${to} ORDER BY ${column} OFFSET 0)`;
}

/** The same, joined to the tables before it. */
export function joinEntries(...given: Parameters<typeof entriesFrom>): RawBuilder<unknown> {
  const [sql] = given;
  return sql`CROSS JOIN LATERAL ${entriesFrom(...given)} AS entry`;
}

/** Parses the payload of a row. @throws {PayloadDamagedError} */
export function parsePayload(session: SessionId, row: PayloadRow): EntryPayload {
  try {
    return parseStoredPayload(toEntryKind(row.kind).type, row.payload);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new PayloadDamagedError("the store", session, [row.seq, row.seq], "it is no JSON of an entry", { cause: error });
  }
}

/** Converts a row to an entry. @throws {PayloadDamagedError} */
export function toEntry(session: SessionId, row: EntryRow): Entry {
  return entryOf(row, parsePayload(session, row));
}
