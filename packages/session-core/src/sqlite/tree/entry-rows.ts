import type { Entry, EntryPayload } from "../../entry/entry.js";
import { parseStoredPayload } from "../../entry/stored-payload.js";
import { EntryNotFoundError } from "../../errors/session-errors.js";
import type { EntryId, EntrySeq, SessionSeq } from "../../ids/ids.js";
import type { SessionRow } from "../../port/records.js";
import { entryOf } from "../../rules/derived-columns.js";
import type { Connection } from "../file/connection.js";
import { damagedPayload, PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PayloadRow, payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { EntryTable } from "../schema.js";

const seqOfEntry = query<{ session: SessionSeq; id: EntryId }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("session_seq", "=", p.session).where("id", "=", p.id),
);

/** Returns the row number of an entry, or undefined. */
export function findEntrySeq(connection: Connection, session: SessionSeq, id: EntryId): EntrySeq | undefined {
  return connection.get(seqOfEntry, { session, id })?.seq;
}

/** Returns the row number of an entry. @throws {EntryNotFoundError} */
export function requireEntrySeq(connection: Connection, session: SessionRow, id: EntryId): EntrySeq {
  const seq = findEntrySeq(connection, session.seq, id);
  if (seq === undefined) throw new EntryNotFoundError(session.id, id);
  return seq;
}

const idBySeq = query<{ seq: EntrySeq }, { id: EntryId }>(({ db, p }) => db.selectFrom("entry").select("id").where("seq", "=", p.seq));

/** Returns the id of the entry with this row number, or null. */
export function findEntryId(connection: Connection, seq: EntrySeq): EntryId | null {
  return connection.get(idBySeq, { seq })?.id ?? null;
}

/** The columns of an entry that its payload is read by, and its type. */
export type TypedPayloadRow = PayloadRow & Pick<EntryTable, "type">;

/** Parses the payload of a row, and reads it unless its text is given. @throws {PayloadDamagedError} */
export function parsePayload(connection: Connection, row: TypedPayloadRow, json = payloadText(connection, row)): EntryPayload {
  try {
    return parseStoredPayload(row.type, json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw damagedPayload(connection, row, "it is no JSON of an entry", { cause: error });
  }
}

/** The columns of an entry, and the id of its parent. */
export type EntryRow = TypedPayloadRow & Pick<EntryTable, "id" | "created_at_ms"> & { readonly parent_id: string | null };

/** Converts a row to an entry. @throws {PayloadDamagedError} */
export function toEntry(connection: Connection, row: EntryRow): Entry {
  return entryOf(row, parsePayload(connection, row));
}

/** The columns of an `EntryRow`, and their joins, for SQL on the table `entry`. */
export const ENTRY_COLUMNS = `${PAYLOAD_COLUMNS}, entry.id, entry.type, entry.created_at_ms, parent.id AS parent_id`;
export const ENTRY_JOINS = `${PAYLOAD_JOIN} LEFT JOIN entry AS parent ON parent.seq = entry.parent_seq`;

const rowById = query<{ session: SessionSeq; id: string }, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)} FROM entry ${sql.raw(ENTRY_JOINS)}
    WHERE entry.session_seq = ${p.session} AND entry.id = ${p.id}`),
);

/** Returns the row of an entry, or undefined. */
export function findEntryRow(connection: Connection, session: SessionSeq, id: string): EntryRow | undefined {
  return connection.get(rowById, { session, id });
}

/** Reads one entry. @throws {EntryNotFoundError} */
export function readEntry(connection: Connection, session: SessionRow, id: EntryId): Entry {
  const row = findEntryRow(connection, session.seq, id);
  if (row === undefined) throw new EntryNotFoundError(session.id, id);
  return toEntry(connection, row);
}
