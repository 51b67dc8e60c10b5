import type { Connection } from "../storage/connection.js";
import { metadataRows } from "../storage/metadata-rows.js";
import { query } from "../storage/query.js";
import type { SessionSeq } from "../storage/schema.js";

const removeRows = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("session_metadata").where("session_seq", "=", p.session));
const insertRow = query<{ session: SessionSeq; key: string; value: string }>(({ db, p }) =>
  db
    .insertInto("session_metadata")
    .values({ key: p.key, value: p.value, session_seq: p.session })
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Replaces the members by which a session is found, so that they are those of `metadata`: every change of `metadata_json` needs it.
 * Call it inside `write`.
 */
export function indexMetadata(connection: Connection, session: SessionSeq, metadata: Readonly<Record<string, unknown>>): void {
  connection.run(removeRows, { session });
  for (const { key, value } of metadataRows(metadata)) connection.run(insertRow, { session, key, value });
}
