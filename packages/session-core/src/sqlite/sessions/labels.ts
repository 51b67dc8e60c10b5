import type { Label } from "../../port/records.js";
import type { EntrySeq, SessionSeq } from "../../port/rows.js";
import { toSingleLine } from "../../rules/session-columns.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";
import type { SessionRef } from "./session-rows.js";

const putLabel = query<{ session: SessionSeq; entry: EntrySeq; label: string; at: number }>(({ db, p }) =>
  db
    .insertInto("label")
    .values({ session_seq: p.session, entry_seq: p.entry, label: p.label, created_at_ms: p.at })
    .onConflict((conflict) => conflict.columns(["session_seq", "entry_seq"]).doUpdateSet({ label: p.label, created_at_ms: p.at })),
);
const removeLabel = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db.deleteFrom("label").where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);

/** Sets the label of an entry; null or white space removes it. */
export function setLabel(connection: Connection, session: SessionSeq, entry: EntrySeq, label: string | null, createdAtMs: number): void {
  const line = label === null ? "" : toSingleLine(label);
  if (line === "") connection.run(removeLabel, { session, entry });
  else connection.run(putLabel, { session, entry, label: line, at: createdAtMs });
}

const labelRows = query<{ session: SessionSeq }, Label>(({ db, p }) =>
  db
    .selectFrom("label")
    .innerJoin("entry", "entry.seq", "label.entry_seq")
    .select(["entry.id as entryId", "label.label", "label.created_at_ms as createdAtMs"])
    .where("label.session_seq", "=", p.session)
    .orderBy("label.entry_seq"),
);

/** Lists the labels that contain `text`, ignoring case, oldest entry first. */
export function listLabels(connection: Connection, session: SessionRef, text = ""): readonly Label[] {
  // Compared in JavaScript, because lower() of SQLite converts ASCII letters only.
  const part = text.toLowerCase();
  return connection.all(labelRows, { session: session.seq }).filter(({ label }) => label.toLowerCase().includes(part));
}

const labelRow = query<{ session: SessionSeq; entry: EntrySeq }, { label: string; createdAtMs: number }>(({ db, p }) =>
  db
    .selectFrom("label")
    .select(["label", "created_at_ms as createdAtMs"])
    .where("session_seq", "=", p.session)
    .where("entry_seq", "=", p.entry),
);

/** Returns the label of an entry and its time, or undefined. */
export function findLabel(connection: Connection, session: SessionSeq, entry: EntrySeq): Omit<Label, "entryId"> | undefined {
  return connection.get(labelRow, { session, entry });
}
