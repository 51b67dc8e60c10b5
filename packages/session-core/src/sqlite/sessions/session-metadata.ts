import { jsonText } from "../../entry/json.js";
import type { SessionSeq } from "../../port/rows.js";
import type { MetadataPatch } from "../../port/writes.js";
import { metadataRows } from "../../rules/metadata-rows.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";

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

const metadataOf = query<{ session: SessionSeq }, { metadata_json: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("metadata_json").where("seq", "=", p.session),
);
const putMetadata = query<{ session: SessionSeq; json: string }>(({ db, p }) =>
  db.updateTable("session").set({ metadata_json: p.json }).where("seq", "=", p.session),
);

/** Sets members of the metadata of a session; those that are undefined are removed, others stay. Call it inside `write`. */
export function setMetadata(connection: Connection, { seq }: { readonly seq: SessionSeq }, patch: MetadataPatch): void {
  const present: MetadataPatch = JSON.parse(connection.get(metadataOf, { session: seq })?.metadata_json ?? "{}");
  const metadata = { ...present, ...patch };
  // JSON has no members that are undefined.
  connection.run(putMetadata, { session: seq, json: jsonText(metadata, "The metadata of the session") });
  indexMetadata(connection, seq, metadata);
}
