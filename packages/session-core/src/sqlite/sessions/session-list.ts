import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { SessionId, SessionSeq } from "../../ids/ids.js";
import type { ModelUsage, Page, SessionFilter, SessionKey, SessionRecord, SessionTotals, Statistics } from "../../port/records.js";
import { sumTypes } from "../../rules/derived-columns.js";
import { forkTitle } from "../../rules/forks.js";
import { toSessionRecord } from "../../rules/session-columns.js";
import {
  bestTitles,
  DEFAULT_SESSIONS,
  type DirectoryRange,
  directoryParts,
  listingsOf,
  MANY_OF_A_MEMBER,
  type MetadataRow,
  membersOf,
  OWN_AGENT,
  parseCursor,
  sessionPage,
} from "../../rules/session-filter.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, type Query, query, rawQuery } from "../query.js";
import type { SessionTable, Tables } from "../schema.js";
import { requireSessionSeq } from "./session-rows.js";

/**
 * Returns a page of the sessions that match `filter`, newest activity first. Reads no entries.
 *
 * Cost: the sessions of the page, however many there are; with `cwd` and `parentId` together, those of the parent; with `under`, those
 * below the directories; with `agent`, those between one match and the next. With `metadata`, the
 * sessions with its rarest member, or, if these are more than 1,000, those between one match and the next.
 */
export function listSessions(connection: Connection, filter: SessionFilter): Page<SessionRecord> {
  const limit = rowLimit(filter.limit ?? DEFAULT_SESSIONS);
  const lists = connection.read(() => readLists(connection, filter, limit + 1));
  return sessionPage(lists, limit);
}

function readLists(connection: Connection, filter: SessionFilter, limit: number): readonly (readonly SessionTable[])[] {
  const conditions = [
    ...placeConditions(filter),
    ...timeConditions(filter),
    ...agentConditions(filter),
    ...cursorConditions(filter.cursor),
  ];
  const listings = listingsOf(filter);
  const members = membersOf(filter);
  if (members === undefined) return [];
  const rarest = findRarest(connection, members);
  const all = [...conditions, ...members.filter((member) => member !== rarest).map(hasMember)];
  return directoryParts(filter).map((ranges) => {
    const places = ranges?.flatMap(placesOf);
    const list =
      rarest === undefined ? inListings(listings, places, all, limit) : withMember(rarest, listings, [...all, ...anyOf(places)], limit);
    return connection.all(dynamicQuery<SessionTable>(list), {});
  });
}

type Condition = RawBuilder<unknown>;

const NEWEST_FIRST = sql`ORDER BY active_at_ms DESC, seq DESC`;

// Each number has its own range of an index in the order of the list, so each part reads no more rows than the page has.
function inListings(
  listings: readonly number[],
  places: readonly Place[] | undefined,
  conditions: readonly Condition[],
  limit: number,
): RawBuilder<SessionTable> {
  const wheres = listings.flatMap((listing) =>
    places === undefined
      ? [[sql`listing = ${listing}`]]
      : places.map(({ isRange, within }) => [isRange ? sql`+listing = ${listing}` : sql`listing = ${listing}`, within]),
  );
  const parts = wheres.map(
    (where) => sql`SELECT * FROM session WHERE ${sql.join([...where, ...conditions], sql` AND `)} ${NEWEST_FIRST} LIMIT ${limit}`,
  );
  if (parts.length === 0) return sql<SessionTable>`SELECT * FROM session WHERE FALSE`;
  if (parts.length === 1) return sql<SessionTable>`${parts[0]}`;
  const union = sql.join(
    parts.map((part) => sql`SELECT * FROM (${part})`),
    sql` UNION ALL `,
  );
  return sql<SessionTable>`SELECT * FROM (${union}) ${NEWEST_FIRST} LIMIT ${limit}`;
}

function withMember(
  member: MetadataRow,
  listings: readonly number[],
  conditions: readonly Condition[],
  limit: number,
): RawBuilder<SessionTable> {
  return sql<SessionTable>`
    SELECT session.* FROM session_metadata AS member CROSS JOIN session ON session.seq = member.session_seq
    WHERE member.key = ${member.key} AND member.value = ${member.value}
      AND ${sql.join([sql`listing IN (${sql.join(listings)})`, ...conditions], sql` AND `)}
    ${NEWEST_FIRST} LIMIT ${limit}`;
}

function placeConditions({ cwd, parentId }: SessionFilter): readonly Condition[] {
  return [...(cwd === undefined ? [] : [sql`cwd = ${cwd}`]), ...(parentId === undefined ? [] : [sql`parent_session_id = ${parentId}`])];
}

/** Sessions of one directory, or of those below it. */
interface Place {
  /** Read by their directories and then sorted, so that `listing` must not choose the index. */
  readonly isRange: boolean;
  readonly within: Condition;
}

function placesOf({ itself, from, before }: DirectoryRange): readonly Place[] {
  return [
    { isRange: false, within: sql`cwd = ${itself}` },
    { isRange: true, within: sql`cwd >= ${from} AND cwd < ${before} AND cwd <> ${itself}` },
  ];
}

function anyOf(places: readonly Place[] | undefined): readonly Condition[] {
  if (places === undefined) return [];
  return places.length === 0
    ? [sql`FALSE`]
    : [
        sql`(${sql.join(
          places.map(({ within }) => sql`(${within})`),
          sql` OR `,
        )})`,
      ];
}

function timeConditions({ sinceMs, untilMs }: SessionFilter): readonly Condition[] {
  return [
    ...(sinceMs === undefined ? [] : [sql`active_at_ms >= ${sinceMs}`]),
    ...(untilMs === undefined ? [] : [sql`active_at_ms < ${untilMs}`]),
  ];
}

function agentConditions({ agent }: SessionFilter): readonly Condition[] {
  if (agent === undefined) return [];
  return [agent === OWN_AGENT ? sql`(source_format IS NULL OR source_format = ${agent})` : sql`source_format = ${agent}`];
}

function cursorConditions(cursor: string | undefined): readonly Condition[] {
  const after = parseCursor(cursor);
  if (after === undefined) return [];
  const { activeAt, seq } = after;
  // The first condition uses the index; the second separates sessions that were active in the same millisecond.
  return [sql`active_at_ms <= ${activeAt}`, sql`(active_at_ms < ${activeAt} OR session.seq < ${seq})`];
}

function hasMember({ key, value }: MetadataRow): Condition {
  // `+`: SQLite checks it for each session of the list, not the other way round.
  return sql`EXISTS (SELECT 1 FROM session_metadata AS other WHERE other.key = ${key} AND other.value = ${value} AND other.session_seq = +session.seq)`;
}

const countOfMember = query<MetadataRow & { limit: number }, { count: number }>(({ sql, p }) =>
  rawQuery(sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT 1 FROM session_metadata WHERE key = ${p.key} AND value = ${p.value} LIMIT ${p.limit})`),
);

/** The member that the fewest sessions have; undefined if all of them have many, or there is none. */
function findRarest(connection: Connection, members: readonly MetadataRow[]): MetadataRow | undefined {
  const counted = members.map((member) => ({
    member,
    count: connection.get(countOfMember, { ...member, limit: MANY_OF_A_MEMBER })?.count ?? 0,
  }));
  const [rarest] = counted.toSorted((one, other) => one.count - other.count);
  return rarest !== undefined && rarest.count < MANY_OF_A_MEMBER ? rarest.member : undefined;
}

type ByName = Query<{ name: string; limit: number }, SessionTable>;

// From exact to vague: the first query that finds sessions decides, so that a vague match never hides an exact one. GLOB and
// LIKE treat some characters as patterns, so prefixes are ranges, and parts are compared with instr.
const byId: readonly ByName[] = [
  query(({ db, p }) => db.selectFrom("session").selectAll().where("id", "=", p.name).limit(p.limit)),
  query(({ db, sql, p }) =>
    // A range, so that the index is used: U+10FFFF sorts after every other character.
    newestFirst(db.selectFrom("session").selectAll().where("id", ">=", p.name).where(sql<boolean>`id < ${p.name} || char(0x10ffff)`)).limit(
      p.limit,
    ),
  ),
  // The id of a subagent's session is the id of its conversation, a dot, and a part of its own. It is also found by that part.
  query(({ db, sql, p }) =>
    newestFirst(db.selectFrom("session").selectAll().where(sql<boolean>`kind = 'subagent' AND instr(id, '.' || ${p.name}) > 0`)).limit(
      p.limit,
    ),
  ),
];

function newestFirst<O>(sessions: SelectQueryBuilder<Tables, "session", O>): SelectQueryBuilder<Tables, "session", O> {
  return sessions.orderBy("kind").orderBy("active_at_ms", "desc").orderBy("seq", "desc");
}

const titles = query<Record<never, never>, { seq: SessionSeq; title: string | null }>(({ db, sql }) =>
  newestFirst(db.selectFrom("session").select(["seq", sql<string | null>`coalesce(title, first_text)`.as("title")])),
);
const rowBySeq = query<{ seq: SessionSeq }, SessionTable>(({ db, p }) => db.selectFrom("session").selectAll().where("seq", "=", p.seq));

/**
 * Finds sessions by id, id prefix, last part of a subagent's id, title, title prefix, part of a title or beginnings of its words: the results of the
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
  // Compared in JavaScript, because lower() of SQLite converts ASCII letters only.
  const found = bestTitles(connection.all(titles, {}), name, limit);
  return found.flatMap(({ seq }) => connection.all(rowBySeq, { seq })).map(toSessionRecord);
}

const branchCount = query<{ id: SessionId }, { branches: number }>(({ sql, p }) =>
  rawQuery(sql<{ branches: number }>`
    SELECT count(*) AS branches FROM tip WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id})`),
);

const usageOfSession = query<{ id: SessionId; inherited: number }, ModelUsage>(({ sql, p }) =>
  rawQuery(sql<ModelUsage>`
    SELECT provider, model, replies, input_tokens AS inputTokens, output_tokens AS outputTokens, cache_read_tokens AS cacheReadTokens,
      cache_write_tokens AS cacheWriteTokens, cost_usd AS costUsd, recorded_replies AS recordedReplies
    FROM usage_total WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id}) AND inherited = ${p.inherited}
    ORDER BY provider, model`),
);

// An index has the copies only.
const inheritedCount = query<{ id: SessionId }, { entries: number }>(({ sql, p }) =>
  rawQuery(sql<{ entries: number }>`
    SELECT count(*) AS entries FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ${p.id}) AND inherited = 1`),
);

/** Reads the branches and the usage of sessions. Unknown ids have none. Cost: four look-ups for each, and its copied entries in an index. */
export function readTotalsOf(connection: Connection, ids: readonly SessionId[]): ReadonlyMap<SessionId, SessionTotals> {
  return connection.read(
    () =>
      new Map(
        ids.map((id) => [
          id,
          {
            branches: connection.get(branchCount, { id })?.branches ?? 0,
            usage: connection.all(usageOfSession, { id, inherited: 0 }),
            inheritedUsage: connection.all(usageOfSession, { id, inherited: 1 }),
            inheritedEntries: connection.get(inheritedCount, { id })?.entries ?? 0,
          },
        ]),
      ),
  );
}

interface Origin {
  readonly seq: SessionSeq;
  readonly title: string | null;
  readonly firstText: string | null;
}

// A session without a call that started it is a fork of its parent; the first one has no such parent, or it was deleted.
const firstOrigin = query<{ session: SessionSeq }, Origin>(({ sql, p }) =>
  rawQuery(sql<Origin>`
    WITH RECURSIVE origin (seq, parent, depth) AS (
      SELECT seq, iif(parent_call_id IS NULL, parent_session_id, NULL), 0 FROM session WHERE seq = ${p.session}
      UNION ALL
      SELECT above.seq, iif(above.parent_call_id IS NULL, above.parent_session_id, NULL), depth + 1
      FROM origin CROSS JOIN session AS above ON above.id = origin.parent WHERE depth < 1000
    )
    SELECT session.seq, session.title, session.first_text AS firstText
    FROM origin CROSS JOIN session ON session.seq = origin.seq ORDER BY depth DESC LIMIT 1`),
);

const forkTitles = query<{ origin: SessionSeq }, { title: string | null }>(({ sql, p }) =>
  rawQuery(sql<{ title: string | null }>`
    WITH RECURSIVE family (id, title) AS (
      SELECT id, title FROM session WHERE seq = ${p.origin}
      UNION
      SELECT fork.id, fork.title FROM family CROSS JOIN session AS fork
      ON fork.parent_session_id = family.id AND fork.parent_call_id IS NULL
    )
    SELECT title FROM family`),
);

/**
 * The title of a new fork: that of the session from which all were forked, and the next free number among its forks, as in "Tabs in
 * the lexer, fork 2". null: that session has neither a title nor a text. Cost: linear in the forks of that session.
 */
export function nameFork(connection: Connection, source: Pick<SessionTable, "seq">): string | null {
  const origin = connection.get(firstOrigin, { session: source.seq });
  return origin === undefined ? null : forkTitle(origin, connection.all(forkTitles, { origin: origin.seq }));
}

interface CountRow {
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly payloadBytes: number;
}

/** Reads the totals of a session, or of the store. Sums session rows and an index; reads no payload. @throws {SessionNotFoundError} */
export function readStatistics(connection: Connection, key?: SessionKey): Statistics {
  return connection.read(() => {
    const session = key === undefined ? undefined : requireSessionSeq(connection, key);
    const within = (column: string): RawBuilder<boolean> => (session === undefined ? sql`TRUE` : sql`${sql.ref(column)} = ${session}`);
    const [counts] = allRows(
      connection,
      sql<CountRow>`SELECT count(*) AS sessions, coalesce(sum(entry_count), 0) AS entries, coalesce(sum(message_count), 0) AS messages,
        coalesce(sum(payload_bytes), 0) AS payloadBytes FROM session WHERE ${within("seq")}`,
    );
    const kinds = allRows(
      connection,
      sql<{ kind: number; count: number }>`
        SELECT kind, sum(entries) AS count FROM kind_count WHERE ${within("session_seq")} GROUP BY kind`,
    );
    // From an index that has no others.
    const [copies] = allRows(
      connection,
      sql<{ count: number }>`SELECT count(*) AS count FROM entry WHERE inherited = 1 AND ${within("session_seq")}`,
    );
    return {
      sessions: counts?.sessions ?? 0,
      entries: counts?.entries ?? 0,
      inheritedEntries: copies?.count ?? 0,
      messages: counts?.messages ?? 0,
      payloadBytes: counts?.payloadBytes ?? 0,
      byType: sumTypes(kinds),
      usage: readUsage(connection, within("session_seq"), 0),
      inheritedUsage: readUsage(connection, within("session_seq"), 1),
    };
  });
}

function readUsage(connection: Connection, within: RawBuilder<boolean>, inherited: 0 | 1): readonly ModelUsage[] {
  return allRows(
    connection,
    sql<ModelUsage>`SELECT provider, model, sum(replies) AS replies, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
        sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens, sum(cost_usd) AS costUsd,
        sum(recorded_replies) AS recordedReplies
      FROM usage_total WHERE ${within} AND inherited = ${inherited}
      GROUP BY provider, model ORDER BY costUsd DESC, outputTokens DESC, model, provider`,
  );
}

function allRows<R>(connection: Connection, statement: RawBuilder<R>): R[] {
  return connection.all(dynamicQuery<R>(statement), {});
}
