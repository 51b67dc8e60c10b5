import type { EntryId, SessionId, SessionSeq } from "../../ids/ids.js";
import type { SessionRow } from "../../port/records.js";
import { shortenId } from "../../rules/session-columns.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";

const entryBefore = query<{ session: SessionSeq; id: string }, { id: string }>(({ db, p }) =>
  db.selectFrom("entry").select("id").where("session_seq", "=", p.session).where("id", "<", p.id).orderBy("id", "desc").limit(1),
);
const entryAfter = query<{ session: SessionSeq; id: string }, { id: string }>(({ db, p }) =>
  db.selectFrom("entry").select("id").where("session_seq", "=", p.session).where("id", ">", p.id).orderBy("id").limit(1),
);
const sessionBefore = query<{ id: string }, { id: string }>(({ db, p }) =>
  db.selectFrom("session").select("id").where("id", "<", p.id).orderBy("id", "desc").limit(1),
);
// A prefix of a conversation and of its own subagents means the conversation. `/` is the character after the dot between their ids.
const sessionAfter = query<{ id: string }, { id: string }>(({ db, sql, p }) =>
  db
    .selectFrom("session")
    .select("id")
    .where("id", ">", p.id)
    .where(sql<boolean>`(id < ${p.id} || '.' OR id >= ${p.id} || '/')`)
    .orderBy("id")
    .limit(1),
);

/**
 * For each id its shortest prefix of at least four characters that no other entry of the session has. Cost: two searches of an index
 * for each id, because only the neighbors in the order of ids share the longest prefixes with it.
 */
export function shortEntryIds(connection: Connection, session: SessionRow, ids: readonly EntryId[]): ReadonlyMap<EntryId, string> {
  const short = new Map<EntryId, string>();
  for (const id of ids) {
    const key = { session: session.seq, id };
    short.set(id, shortenId(id, [connection.get(entryBefore, key)?.id, connection.get(entryAfter, key)?.id]));
  }
  return short;
}

/** The same for sessions of the store. A prefix of a conversation is also one of its subagents, and means the conversation. */
export function shortSessionIds(connection: Connection, ids: readonly SessionId[]): ReadonlyMap<SessionId, string> {
  const short = new Map<SessionId, string>();
  for (const id of ids) short.set(id, shortenId(id, [connection.get(sessionBefore, { id })?.id, connection.get(sessionAfter, { id })?.id]));
  return short;
}
