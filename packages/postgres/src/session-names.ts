import type { SessionId, SessionRecord } from "@bough/session-core";
import { bestTitles, rowLimit, type SessionRecordRow, shortenId, toSessionRecord, WORD } from "@bough/session-core/engine";
import type { PgDatabase } from "./database.js";
import { pgQuery, pgRaw } from "./query.js";
import { RECORD_COLUMNS } from "./session-rows.js";

// From exact to vague: the first part that finds sessions decides, so that a vague match never hides an exact one; the parts after it are
// not run. A prefix is a range, so that the index is used: U+10FFFF sorts after every other character. The id of a subagent's session is the
// id of its conversation, a dot, and a part of its own, by which it is also found.
const byId = pgQuery<{ name: string; limit: number }, SessionRecordRow>(({ sql, p }) => {
  const columns = sql.raw(RECORD_COLUMNS);
  const newest = sql`ORDER BY session.kind, session.active_at_ms DESC, session.seq DESC LIMIT ${p.limit}`;
  return pgRaw(sql<SessionRecordRow>`
    WITH
    exact AS MATERIALIZED (SELECT ${columns} FROM session WHERE session.tenant = ${p.tenant} AND session.session_id = ${p.name} LIMIT ${p.limit}),
    started AS MATERIALIZED (
      SELECT ${columns} FROM session
      WHERE session.tenant = ${p.tenant} AND session.session_id >= ${p.name} AND session.session_id < ${p.name}::text || chr(1114111)
        AND NOT EXISTS (SELECT 1 FROM exact) ${newest}),
    named AS MATERIALIZED (
      SELECT ${columns} FROM session
      WHERE session.tenant = ${p.tenant} AND session.listing IN (1, 3, 5, 7) AND strpos(session.session_id, '.' || ${p.name}::text) > 0
        AND NOT EXISTS (SELECT 1 FROM exact) AND NOT EXISTS (SELECT 1 FROM started) ${newest})
    SELECT * FROM exact UNION ALL SELECT * FROM started UNION ALL SELECT * FROM named`);
});

// The pattern finds more than a name matches, and nothing less: what it finds is compared in JavaScript. Titles with a character that becomes
// an ASCII letter or mark there are always compared: U+0130 (i), U+212A (k), U+037E (;), U+1FEF (`).
const titles = pgQuery<{ pattern: string }, { id: SessionId; title: string | null }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId; title: string | null }>`
    SELECT session.session_id AS id, coalesce(session.title, session.first_text) AS title FROM session
    WHERE session.tenant = ${p.tenant} AND (coalesce(session.title, session.first_text) ILIKE ${p.pattern}
      OR coalesce(session.title, session.first_text) ~ '[\u0130\u212a\u037e\u1fef]')
    ORDER BY session.kind, session.active_at_ms DESC, session.seq DESC`),
);

const byIds = pgQuery<{ ids: readonly SessionId[] }, SessionRecordRow>(({ sql, p }) =>
  pgRaw(sql<SessionRecordRow>`
    SELECT ${sql.raw(RECORD_COLUMNS)} FROM unnest(${p.ids}::text[]) WITH ORDINALITY AS wanted (id, place)
      JOIN session ON session.tenant = ${p.tenant} AND session.session_id = wanted.id
    ORDER BY wanted.place`),
);

/**
 * Finds sessions by id, id prefix, last part of a subagent's id, title, title prefix, part of a title or beginnings of its words: the results
 * of the first of these that matches, conversations first. A session without a title matches by the preview of its first message. Cost: by
 * id, those that are found; by a subagent's part, the subagents of the tenant; by title, its sessions.
 */
export async function findSessionsByName(database: PgDatabase, name: string, limit: number): Promise<readonly SessionRecord[]> {
  const most = rowLimit(limit);
  const found = await database.all(byId, { name, limit: most });
  if (found.length > 0) return found.map(toSessionRecord);
  const best = bestTitles(await database.all(titles, { pattern: titlePattern(name) }), name, most);
  if (best.length === 0) return [];
  return (await database.all(byIds, { ids: best.map(({ id }) => id) })).map(toSessionRecord);
}

/** A pattern of ILIKE that every title matches which has the name, or its words in their order. Only ASCII letters are compared without their case. */
function titlePattern(name: string): string {
  const composed = name.normalize("NFC");
  const words = composed.match(WORD) ?? [];
  const parts = words.length === 0 ? [composed] : words;
  return `%${parts.map((part) => part.replace(/[%_\\]/g, "\\$&").replace(/[^\x20-\x7e]+/g, "%")).join("%")}%`;
}

interface Neighbors {
  readonly id: SessionId;
  readonly before: string | null;
  readonly after: string | null;
}

// A prefix of a conversation and of its own subagents means the conversation. `/` is the character after the dot between their ids.
const neighbors = pgQuery<{ ids: readonly SessionId[] }, Neighbors>(({ sql, p }) => {
  const next = (range: string) =>
    sql`(SELECT session_id FROM session WHERE tenant = ${p.tenant} AND ${sql.raw(range)} ORDER BY session_id LIMIT 1)`;
  return pgRaw(sql<Neighbors>`
    SELECT wanted.id,
      (SELECT session_id FROM session WHERE tenant = ${p.tenant} AND session_id < wanted.id ORDER BY session_id DESC LIMIT 1) AS before,
      coalesce(${next("session_id > wanted.id AND session_id < wanted.id || '.'")}, ${next("session_id >= wanted.id || '/'")}) AS after
    FROM unnest(${p.ids}::text[]) AS wanted (id)`);
});

/** For each id its shortest prefix of at least four characters that names it alone; see `shortEntryIds`. */
export async function shortSessionIds(database: PgDatabase, ids: readonly SessionId[]): Promise<ReadonlyMap<SessionId, string>> {
  const rows = await database.all(neighbors, { ids });
  return new Map(rows.map(({ id, before, after }) => [id, shortenId(id, [before ?? undefined, after ?? undefined])]));
}
