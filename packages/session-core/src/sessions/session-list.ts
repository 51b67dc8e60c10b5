import { type SelectQueryBuilder, sql } from "kysely";
import type { Page, SessionFilter, SessionRecord } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { dynamicQuery, type Query, query, rowLimit } from "../storage/query.js";
import type { SessionSeq, SessionTable, Tables } from "../storage/schema.js";
import { toSessionRecord } from "./session-rows.js";

const DEFAULT_LIMIT = 1000;

type Sessions = SelectQueryBuilder<Tables, "session", SessionTable>;

/** Returns a page of the sessions that match `filter`, newest activity first. Reads no entries. */
export function listSessions(connection: Connection, filter: SessionFilter): Page<SessionRecord> {
  const limit = rowLimit(filter.limit ?? DEFAULT_LIMIT);
  const rows = connection.all(
    dynamicQuery<SessionTable>(({ db }) =>
      applyCursor(applyFilter(db.selectFrom("session").selectAll(), filter), filter.cursor)
        .orderBy("active_at_ms", "desc")
        .orderBy("seq", "desc")
        .limit(limit + 1),
    ),
    {},
  );
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { items: rows.slice(0, limit).map(toSessionRecord), next: last === undefined ? null : `${last.active_at_ms}.${last.seq}` };
}

function applyFilter(sessions: Sessions, filter: SessionFilter): Sessions {
  const { cwd, kind = "conversation", archived = false, empty = false, parentId } = filter;
  let narrow = sessions;
  if (cwd !== undefined) narrow = narrow.where("cwd", "=", cwd);
  if (kind !== "all") narrow = narrow.where("kind", "=", kind);
  if (archived !== "all") narrow = narrow.where("archived_at_ms", archived ? "is not" : "is", null);
  if (!empty) narrow = narrow.where("entry_count", ">", 0);
  if (parentId !== undefined) narrow = narrow.where("parent_session_id", "=", parentId);
  return narrow;
}

function applyCursor(sessions: Sessions, cursor: string | undefined): Sessions {
  const [activeAt, seq] = (cursor ?? "").split(".").map(Number);
  if (activeAt === undefined || seq === undefined) return sessions;
  // The first condition uses the index; the second separates sessions that were active in the same millisecond.
  return sessions
    .where("active_at_ms", "<=", activeAt)
    .where((where) => where.or([where("active_at_ms", "<", activeAt), sql<boolean>`seq < ${seq}`]));
}

type ByName = Query<{ name: string; limit: number }, SessionTable>;

// From exact to vague: the first query that finds sessions decides, so that a vague match never hides an exact one. GLOB and
// LIKE treat some characters as patterns, so prefixes and parts are compared with substr and instr.
const byId: readonly ByName[] = [
  query(({ db, p }) => db.selectFrom("session").selectAll().where("id", "=", p.name).limit(p.limit)),
  query(({ db, sql, p }) =>
    newestFirst(db.selectFrom("session").selectAll().where(sql<boolean>`substr(id, 1, length(${p.name})) = ${p.name}`)).limit(p.limit),
  ),
  // The id of a subagent's session is the id of its conversation, a dot, and a part of its own. It is also found by that part.
  query(({ db, sql, p }) =>
    newestFirst(db.selectFrom("session").selectAll().where(sql<boolean>`kind = 'subagent' AND instr(id, '.' || ${p.name}) > 0`)).limit(
      p.limit,
    ),
  ),
];

function newestFirst<O>(sessions: SelectQueryBuilder<Tables, "session", O>): SelectQueryBuilder<Tables, "session", O> {
  return sessions.orderBy("kind").orderBy("active_at_ms", "desc");
}

const titles = query<Record<never, never>, { seq: SessionSeq; title: string | null }>(({ db, sql }) =>
  newestFirst(db.selectFrom("session").select(["seq", sql<string | null>`coalesce(title, first_text)`.as("title")])),
);
const rowBySeq = query<{ seq: SessionSeq }, SessionTable>(({ db, p }) => db.selectFrom("session").selectAll().where("seq", "=", p.seq));

/** How a title can match a name, both in lower case, from exact to vague. */
const TITLE_MATCHERS: readonly ((title: string, name: string) => boolean)[] = [
  (title, name) => title === name,
  (title, name) => title.startsWith(name),
  (title, name) => title.includes(name),
];

/**
 * Finds sessions by id, id prefix, last part of a subagent's id, title, title prefix or part of a title: the results of the
 * first of these that matches, conversations first. A session without a title matches by the preview of its first message.
 */
export function findSessionsByName(connection: Connection, name: string, limit: number): readonly SessionRecord[] {
  for (const tier of byId) {
    const rows = connection.all(tier, { name, limit });
    if (rows.length > 0) return rows.map(toSessionRecord);
  }
  return findSessionsByTitle(connection, name, limit);
}

function findSessionsByTitle(connection: Connection, name: string, limit: number): readonly SessionRecord[] {
  const foldedName = foldCase(name);
  // Compared in JavaScript, because lower() of SQLite converts ASCII letters only.
  const titled = connection.all(titles, {}).map(({ seq, title }) => ({ seq, title: title === null ? null : foldCase(title) }));
  for (const matches of TITLE_MATCHERS) {
    const found = titled.filter(({ title }) => title !== null && matches(title, foldedName)).slice(0, limit);
    if (found.length > 0) return found.flatMap(({ seq }) => connection.all(rowBySeq, { seq })).map(toSessionRecord);
  }
  return [];
}

/** Normalizes case and composed characters, so that both forms of an accented letter are equal. */
function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
