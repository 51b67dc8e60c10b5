import type { Page, SessionFilter, SessionId, SessionRecord } from "@bough/session-core";
import {
  bestTitles,
  DEFAULT_SESSIONS,
  type DirectoryRange,
  directoryParts,
  type ListedRow,
  listingsOf,
  MANY_OF_A_MEMBER,
  type MetadataRow,
  membersOf,
  OWN_AGENT,
  parseCursor,
  rowLimit,
  type SessionRecordRow,
  sessionPage,
  shortenId,
  titleWords,
  toSessionRecord,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database, PgDatabase } from "./database.js";
import { wholeMs } from "./entries.js";
import { pgDynamicQuery, pgQuery, pgRaw } from "./query.js";
import { INDEXED_CHARACTERS, INDEXED_KEY, INDEXED_VALUE, startsAndIs } from "./schema.js";
import { RECORD_COLUMNS } from "./sessions.js";

type Condition = RawBuilder<unknown>;

const COLUMNS = sql.raw(`${RECORD_COLUMNS}, session.seq`);
const NEWEST_FIRST = sql`ORDER BY active_at_ms DESC, seq DESC`;

/**
 * Returns a page of the sessions that match `filter`, newest activity first. Reads no entries. One query; with `metadata`, two; one for each 30
 * directories of `under`.
 *
 * Cost: the sessions of the page, however many there are; with `under`, those below the directories; with `agent`, those between one match
 * and the next. With `metadata`, the sessions with its rarest member, or, if these are more than 1,000, those between one match and the next.
 */
export async function listSessions(database: PgDatabase, filter: SessionFilter): Promise<Page<SessionRecord>> {
  const members = membersOf(filter);
  if (members === undefined) return { items: [], next: null };
  const limit = rowLimit(filter.limit ?? DEFAULT_SESSIONS);
  const rarest = await findRarest(database, members);
  const lists: (readonly ListedRow[])[] = [];
  for (const directories of directoryParts(filter)) {
    const list = listQuery(database.tenant, filter, members, rarest, directories, limit + 1);
    lists.push(await database.all(pgDynamicQuery<ListedRow>(list), {}));
  }
  return sessionPage(lists, limit);
}

function listQuery(
  tenant: string,
  filter: SessionFilter,
  members: readonly MetadataRow[],
  rarest: MetadataRow | undefined,
  directories: readonly DirectoryRange[] | undefined,
  limit: number,
): RawBuilder<ListedRow> {
  const conditions = [
    sql`session.tenant = ${tenant}`,
    ...placeConditions(filter),
    ...timeConditions(filter),
    ...agentConditions(filter),
    ...cursorConditions(filter.cursor),
    ...members.filter((member) => member !== rarest).map((member) => hasMember(tenant, member)),
  ];
  const places = directories?.flatMap(placesOf);
  const listings = listingsOf(filter);
  return rarest === undefined
    ? inListings(listings, places, conditions, limit)
    : withMember(tenant, rarest, listings, [...conditions, ...anyOf(places)], limit);
}

// Each number has its own range of an index in the order of the list, so each part reads no more rows than the page has.
function inListings(
  listings: readonly number[],
  places: readonly Condition[] | undefined,
  conditions: readonly Condition[],
  limit: number,
): RawBuilder<ListedRow> {
  const parts = listings.flatMap((listing) =>
    (places ?? [sql`TRUE`]).map(
      (place) => sql`SELECT ${COLUMNS} FROM session
        WHERE ${sql.join([...conditions, sql`listing = ${listing}`, place], sql` AND `)} ${NEWEST_FIRST} LIMIT ${limit}`,
    ),
  );
  if (parts.length === 0) return sql<ListedRow>`SELECT ${COLUMNS} FROM session WHERE FALSE`;
  if (parts.length === 1) return sql<ListedRow>`${parts[0]}`;
  const union = sql.join(
    parts.map((part) => sql`(${part})`),
    sql` UNION ALL `,
  );
  return sql<ListedRow>`${union} ${NEWEST_FIRST} LIMIT ${limit}`;
}

function withMember(
  tenant: string,
  { key, value }: MetadataRow,
  listings: readonly number[],
  conditions: readonly Condition[],
  limit: number,
): RawBuilder<ListedRow> {
  return sql<ListedRow>`
    SELECT ${COLUMNS} FROM session_metadata AS member
      JOIN session ON session.tenant = member.tenant AND session.session_id = member.session_id
    WHERE member.tenant = ${tenant} AND ${isMember(sql`member`, key, value)}
      AND ${sql.join([sql`listing IN (${sql.join(listings)})`, ...conditions], sql` AND `)}
    ${NEWEST_FIRST} LIMIT ${limit}`;
}

function placeConditions({ cwd, parentId }: SessionFilter): readonly Condition[] {
  return [
    ...(cwd === undefined ? [] : [startsAndIs(sql`cwd`, cwd)]),
    ...(parentId === undefined ? [] : [startsAndIs(sql`parent_session_id`, parentId)]),
  ];
}

function placesOf({ itself, from, before }: DirectoryRange): readonly Condition[] {
  const start = (text: unknown) => sql`left(${text}, ${sql.lit(INDEXED_CHARACTERS)})`;
  const range = sql`${start(sql`cwd`)} BETWEEN ${start(sql`${from}::text`)} AND ${start(sql`${before}::text`)}`;
  return [startsAndIs(sql`cwd`, itself), sql`${range} AND cwd >= ${from} AND cwd < ${before} AND cwd <> ${itself}`];
}

function anyOf(places: readonly Condition[] | undefined): readonly Condition[] {
  if (places === undefined) return [];
  return places.length === 0 ? [sql`FALSE`] : [sql`(${sql.join(places, sql` OR `)})`];
}

function timeConditions({ sinceMs, untilMs }: SessionFilter): readonly Condition[] {
  return [
    ...(sinceMs === undefined ? [] : [sql`active_at_ms >= ${wholeMs(sinceMs)}`]),
    ...(untilMs === undefined ? [] : [sql`active_at_ms < ${wholeMs(untilMs)}`]),
  ];
}

function agentConditions({ agent }: SessionFilter): readonly Condition[] {
  if (agent === undefined) return [];
  return [agent === OWN_AGENT ? sql`(source_format IS NULL OR source_format = ${agent})` : sql`source_format = ${agent}`];
}

function cursorConditions(cursor: string | undefined): readonly Condition[] {
  const after = parseCursor(cursor);
  return after === undefined ? [] : [sql`(active_at_ms, session.seq) < (${after.activeAt}, ${after.seq})`];
}

function hasMember(tenant: string, { key, value }: MetadataRow): Condition {
  return sql`EXISTS (SELECT 1 FROM session_metadata AS other WHERE other.tenant = ${tenant}
    AND other.session_id = session.session_id AND other.key = ${key} AND other.value = ${value})`;
}

function isMember(rows: RawBuilder<unknown>, key: unknown, value: unknown): Condition {
  return sql`${startsAndIs(sql`${rows}.key`, key, INDEXED_KEY)} AND ${startsAndIs(sql`${rows}.value`, value, INDEXED_VALUE)}`;
}

const countMembers = pgQuery<{ keys: readonly string[]; members: readonly string[]; limit: number }, { count: number }>(({ sql, p }) =>
  pgRaw(sql<{ count: number }>`
    SELECT (SELECT count(*) FROM (SELECT 1 FROM session_metadata AS member
      WHERE member.tenant = ${p.tenant} AND ${isMember(sql`member`, sql`wanted.key`, sql`wanted.value`)} LIMIT ${p.limit}) AS found) AS count
    FROM unnest(${p.keys}::text[], ${p.members}::text[]) WITH ORDINALITY AS wanted (key, value, place) ORDER BY wanted.place`),
);

/** The member that the fewest sessions have; undefined if all of them have many, or there is none. */
async function findRarest(database: Database, members: readonly MetadataRow[]): Promise<MetadataRow | undefined> {
  if (members.length === 0) return undefined;
  const wanted = { keys: members.map(({ key }) => key), members: members.map(({ value }) => value) };
  const counts = await database.all(countMembers, { ...wanted, limit: MANY_OF_A_MEMBER });
  const [rarest] = members
    .map((member, at) => ({ member, count: counts[at]?.count ?? 0 }))
    .toSorted((one, other) => one.count - other.count);
  return rarest !== undefined && rarest.count < MANY_OF_A_MEMBER ? rarest.member : undefined;
}

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

/** A pattern of ILIKE for titles with the name, or its words in their order. Only ASCII letters are compared without their case. */
function titlePattern(name: string): string {
  const composed = name.normalize("NFC");
  const words = titleWords(composed);
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
