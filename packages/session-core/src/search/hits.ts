import type { SearchHit } from "../port/search-records.js";
import type { EntryTable } from "../storage/schema.js";
import { textOfRow } from "./index-batch.js";
import type { SearchTerm } from "./query-syntax.js";
import { snippetOf } from "./snippet.js";

/** An entry that fits, with what its hit is made of. */
export interface HitRow extends Pick<EntryTable, "seq" | "id" | "type" | "role" | "created_at_ms" | "payload_json"> {
  readonly session_id: string;
  readonly session_title: string | null;
}

/** The columns of a `HitRow`. */
export const HIT_COLUMNS =
  "entry.seq, entry.id, entry.type, entry.role, entry.created_at_ms, entry.payload_json, session.id AS session_id, session.title AS session_title";

/** The hit of a row. */
export function hitOf(row: HitRow, terms: readonly SearchTerm[]): SearchHit {
  return {
    sessionId: row.session_id,
    sessionTitle: row.session_title,
    entryId: row.id,
    seq: row.seq,
    type: row.type,
    role: row.role,
    createdAtMs: row.created_at_ms,
    ...snippetOf(textOfRow(row), terms),
  };
}
