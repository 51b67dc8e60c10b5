import type { Entry, EntryPayload } from "../entry/entry.js";
import { toEntryKind } from "../entry/kinds.js";
import { parseStoredPayload } from "../entry/stored-payload.js";
import { PayloadDamagedError } from "../errors/store-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import { entryOf } from "../tree/entry-rows.js";
import type { PgEntry } from "./tables.js";

/** The columns of an entry that its payload is read by. */
export type PayloadRow = Pick<PgEntry, "seq" | "kind" | "payload">;

/** The columns of an entry, and the id of its parent. */
export type EntryRow = PayloadRow & Pick<PgEntry, "created_at_ms"> & { readonly id: EntryId; readonly parent_id: EntryId | null };

/** The columns of an `EntryRow`, and their join, for SQL on the table `entry`. */
export const ENTRY_COLUMNS = "entry.seq, entry.kind, entry.payload, entry.created_at_ms, entry.id, parent.id AS parent_id";
export const ENTRY_JOIN = `LEFT JOIN entry AS parent
  ON parent.tenant = entry.tenant AND parent.session_id = entry.session_id AND parent.seq = entry.parent_seq`;

/** Parses the payload of a row. @throws {PayloadDamagedError} */
export function parsePayload(session: SessionId, row: PayloadRow): EntryPayload {
  try {
    return parseStoredPayload(toEntryKind(row.kind).type, row.payload);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new PayloadDamagedError("the store", session, [row.seq, row.seq], "it is no JSON", { cause: error });
  }
}

/** Converts a row to an entry. @throws {PayloadDamagedError} */
export function toEntry(session: SessionId, row: EntryRow): Entry {
  return entryOf(row, parsePayload(session, row));
}
