import type { EntryId, SessionId } from "../ids/ids.js";
import { indexTitle } from "../search/title-index.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { SessionSeq } from "../storage/schema.js";
import { sessionRow, sessionSeq } from "./session-rows.js";
import { singleLine } from "./single-line.js";

const setTitle = query<{ session: SessionSeq; title: string | null; source: "user" | "auto" | null }>(({ db, p }) =>
  db.updateTable("session").set({ title: p.title, title_source: p.source }).where("seq", "=", p.session),
);

/**
 * Gives a session a title; null or white space takes it away. An automatic title never replaces one that a person
 * gave (regression R171). The leaf and the order of the list stay as they are.
 */
export function renameSession(connection: Connection, id: SessionId, title: string | null, source: "user" | "auto"): void {
  connection.write(() => {
    const row = sessionRow(connection, id);
    if (source === "auto" && row.title_source === "user") return;
    const line = title === null ? "" : singleLine(title);
    const given = line === "" ? null : line;
    if (given === row.title && source === row.title_source) return;
    connection.run(setTitle, { session: row.seq, title: given, source: given === null ? null : source });
    indexTitle(connection, row.seq, given);
  });
}

const setParent = query<{ session: SessionSeq; parent: SessionId; entry: EntryId | null; call: string }>(({ db, p }) =>
  db
    .updateTable("session")
    .set({ parent_session_id: p.parent, parent_entry_id: p.entry, parent_call_id: p.call })
    .where("seq", "=", p.session),
);

/** Links the session of an agent to the call that started it. Call it inside `write`. */
export function linkToCall(
  connection: Connection,
  session: SessionSeq,
  { sessionId, entryId, toolCallId }: { readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly toolCallId: string },
): void {
  connection.run(setParent, { session, parent: sessionId, entry: entryId, call: toolCallId });
}

const setArchived = query<{ session: SessionSeq; at: number | null }>(({ db, p }) =>
  db.updateTable("session").set({ archived_at_ms: p.at }).where("seq", "=", p.session),
);

/** Puts a session away from lists, or back; nothing of it changes. */
export function archiveSession(connection: Connection, id: SessionId, archived: boolean): void {
  connection.write(() => connection.run(setArchived, { session: sessionSeq(connection, id), at: archived ? Date.now() : null }));
}

const rememberDeleted = query<{ session: SessionSeq }>(({ db, sql, p }) =>
  db.updateTable("store_state").set({
    deleted_seq: sql`max(deleted_seq, coalesce((SELECT max(seq) FROM entry WHERE session_seq = ${p.session}), 0))`,
  }),
);
const removeTexts = query<{ session: SessionSeq }>(({ db, p }) =>
  db.deleteFrom("entry_text").where("rowid", "in", db.selectFrom("entry").select("seq").where("session_seq", "=", p.session)),
);
const detachLeaves = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("leaf").where("session_seq", "=", p.session));
const removeSession = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("session").where("seq", "=", p.session));
const mergeTexts = query<Record<never, never>>(({ sql }) => plain(sql`INSERT INTO entry_text (entry_text) VALUES ('optimize')`));
const mergeTitles = query<Record<never, never>>(({ sql }) => plain(sql`INSERT INTO session_text (session_text) VALUES ('optimize')`));

/**
 * Takes a session away for good: its entries, labels, values, usage and search index, and what of them is left in free
 * pages (regression R21); the journal has to be emptied after it. Sessions forked from it or started by it stay.
 *
 * Cost: grows with the session, and with the whole search index, which is merged so that no deleted word stays in it.
 */
export function deleteSession(connection: Connection, id: SessionId): void {
  connection.write(() => {
    const session = sessionSeq(connection, id);
    connection.run(rememberDeleted, { session });
    connection.run(removeTexts, { session });
    indexTitle(connection, session, null);
    connection.run(detachLeaves, { session });
    connection.run(removeSession, { session });
    connection.run(mergeTexts, {});
    connection.run(mergeTitles, {});
  });
}
