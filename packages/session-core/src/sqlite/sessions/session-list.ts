import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Page, SessionFilter, SessionRecord } from "../../port/records.js";
import type { SessionSeq } from "../../port/rows.js";
import type { MetadataRow } from "../../rules/metadata-rows.js";
import { rowLimit } from "../../rules/row-limit.js";
import { toSessionRecord } from "../../rules/session-columns.js";
import {
  DEFAULT_SESSIONS,
  type DirectoryRange,
  directoryRanges,
  listingsOf,
  MANY_OF_A_MEMBER,
  membersOf,
  OWN_AGENT,
  parseCursor,
  sessionPage,
} from "../../rules/session-filter.js";
import { bestTitles } from "../../rules/title-match.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, type Query, query, rawQuery } from "../query.js";
import type { SessionTable, Tables } from "../schema.js";

/**
 * Returns a page of the sessions that match `filter`, newest activity first. Reads no entries.
 *
 * Cost: the sessions of the page, however many there are; with `cwd` and `parentId` together, those of the parent; with `under`, those
 * below the directories; with `agent`, those between one match and the next. With `metadata`, the
 * sessions with its rarest member, or, if these are more than 1,000, those between one match and the next.
 */
export function listSessions(connection: Connection, filter: SessionFilter): Page<SessionRecord> {
  const limit = rowLimit(filter.limit ?? DEFAULT_SESSIONS);
  const rows = connection.read(() => listRows(connection, filter, limit + 1));
  return sessionPage(rows, limit);
}

function listRows(connection: Connection, filter: SessionFilter, limit: number): readonly SessionTable[] {
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
  const places = filter.under === undefined ? undefined : directoryRanges(filter.under).flatMap(placesOf);
  const list =
    rarest === undefined ? inListings(listings, places, all, limit) : withMember(rarest, listings, [...all, ...anyOf(places)], limit);
  return connection.all(
    dynamicQuery<SessionTable>(() => rawQuery(list)),
    {},
  );
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
  return sessions.orderBy("kind").orderBy("active_at_ms", "desc");
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
