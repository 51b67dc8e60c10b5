import type { Page, SessionFilter, SessionRecord } from "@bough/session-core";
import {
  DEFAULT_SESSIONS,
  type DirectoryRange,
  directoryRanges,
  type ListedRow,
  listingsOf,
  MANY_OF_A_MEMBER,
  type MetadataRow,
  membersOf,
  OWN_AGENT,
  parseCursor,
  rowLimit,
  sessionPage,
} from "@bough/session-core/engine";
import { type RawBuilder, sql } from "kysely";
import type { Database, PgDatabase } from "./database.js";
import { wholeMs } from "./entry-list.js";
import { pgDynamicQuery, pgQuery, pgRaw } from "./query.js";
import { INDEXED_CHARACTERS, INDEXED_KEY, INDEXED_VALUE, startsAndIs } from "./schema-steps.js";
import { RECORD_COLUMNS } from "./session-rows.js";

type Condition = RawBuilder<unknown>;

const COLUMNS = sql.raw(`${RECORD_COLUMNS}, session.seq`);
const NEWEST_FIRST = sql`ORDER BY active_at_ms DESC, seq DESC`;

/**
 * Returns a page of the sessions that match `filter`, newest activity first. Reads no entries. One query; with `metadata`, two.
 *
 * Cost: the sessions of the page, however many there are; with `under`, those below the directories; with `agent`, those between one match
 * and the next. With `metadata`, the sessions with its rarest member, or, if these are more than 1,000, those between one match and the next.
 */
export async function listSessions(database: PgDatabase, filter: SessionFilter): Promise<Page<SessionRecord>> {
  const members = membersOf(filter);
  if (members === undefined) return { items: [], next: null };
  const limit = rowLimit(filter.limit ?? DEFAULT_SESSIONS);
  const rarest = await findRarest(database, members);
  const list = listQuery(database.tenant, filter, members, rarest, limit + 1);
  return sessionPage(
    await database.all(
      pgDynamicQuery<ListedRow>(() => pgRaw(list)),
      {},
    ),
    limit,
  );
}

function listQuery(
  tenant: string,
  filter: SessionFilter,
  members: readonly MetadataRow[],
  rarest: MetadataRow | undefined,
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
  const places = filter.under && directoryRanges(filter.under).flatMap(placesOf);
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
