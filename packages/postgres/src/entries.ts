import {
  type Entry,
  type EntryId,
  type EntryListing,
  EntryNotFoundError,
  type EntryPayload,
  PayloadDamagedError,
  type SessionId,
} from "@bough/session-core";
import {
  type EntrySeq,
  entryOf,
  kindsWith,
  parseStoredPayload,
  rowLimit,
  type SessionKey,
  sessionIdOf,
  shortenId,
  toEntryKind,
  toEntrySeq,
} from "@bough/session-core/engine";
import { type RawBuilder, type Sql, sql } from "kysely";
import type { Database, PgDatabase } from "./database.js";
import { type Always, type PgEntry, pgQuery, pgRaw } from "./query.js";
import { MAX_SEQ } from "./runs.js";
import { MARK_KINDS } from "./schema.js";
import { type KeyParameters, ofSession, rowsOf, sessionExists } from "./session-key.js";

/** The columns of an entry that its payload is read by. */
type PayloadRow = Pick<PgEntry, "seq" | "kind" | "payload">;

/** The columns of an entry, and the id of its parent. */
export type EntryRow = PayloadRow & Pick<PgEntry, "created_at_ms"> & { readonly id: EntryId; readonly parent_id: EntryId | null };

/** The columns of an `EntryRow`, for SQL on the table `entry`. The parent is looked up for each row, as in `entriesFrom`. */
export const ENTRY_COLUMNS = `entry.seq, entry.kind, entry.payload, entry.created_at_ms, entry.id, (SELECT parent.id FROM entry AS parent
  WHERE parent.tenant = entry.tenant AND parent.session_id = entry.session_id AND parent.seq >= entry.parent_seq AND parent.seq <= entry.parent_seq
  ORDER BY parent.seq LIMIT 1) AS parent_id`;

/**
 * SQL of the entries of a session from one number or id to another, which can be columns of the tables before it. The server expects that a
 * session has as many entries as the average one of all tenants, divided by their number, or one if it has no statistics yet, and would read a
 * long one whole. `OFFSET 0` keeps it from joining in another way; the range and its order, from choosing another index.
 */
export function entriesFrom(
  sql: Sql,
  p: Always & Pick<KeyParameters, "session">,
  key: "seq" | "id",
  from: RawBuilder<unknown>,
  to = from,
): RawBuilder<unknown> {
  const column = sql.ref(`entry.${key}`);
  return sql`(SELECT * FROM entry WHERE ${ofSession(sql, p, "entry")} AND ${column} >= ${from} AND ${column} <= ${to} ORDER BY ${column} OFFSET 0)`;
}

/** SQL of the entry of any session with a number or an id, which can be columns of the tables before it; as in `entriesFrom`. */
export function entryNamed(
  tenant: unknown,
  session: RawBuilder<unknown>,
  key: "seq" | "id",
  name: RawBuilder<unknown>,
): RawBuilder<unknown> {
  // The columns may be those of another row of the same table.
  const column = sql.ref(`named.${key}`);
  return sql`(SELECT * FROM entry AS named WHERE named.tenant = ${tenant} AND named.session_id = ${session} AND ${column} >= ${name} AND ${column} <= ${name}
      ORDER BY ${column} OFFSET 0)`;
}

/** SQL that joins the entry that each row of a table before it names by its columns `session_id` and `seq`. */
export function joinNamed(tenant: unknown, rows: string): RawBuilder<unknown> {
  return sql`CROSS JOIN LATERAL ${entryNamed(tenant, sql.ref(`${rows}.session_id`), "seq", sql.ref(`${rows}.seq`))} AS entry`;
}

/** The same, joined to the tables before it. */
export function joinEntries(...given: Parameters<typeof entriesFrom>): RawBuilder<unknown> {
  const [sql] = given;
  return sql`CROSS JOIN LATERAL ${entriesFrom(...given)} AS entry`;
}

/** Parses the payload of a row. @throws {PayloadDamagedError} */
export function parsePayload(session: SessionId, row: PayloadRow): EntryPayload {
  try {
    return parseStoredPayload(toEntryKind(row.kind).type, row.payload);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new PayloadDamagedError("the store", session, [row.seq, row.seq], "it is no JSON of an entry", { cause: error });
  }
}

/** Converts a row to an entry. @throws {PayloadDamagedError} */
export function toEntry(session: SessionId, row: EntryRow): Entry {
  return entryOf(row, parsePayload(session, row));
}

/**
 * The conditions of a list or a path of entries. Each combination is a query of its own: with a condition that was not asked for, the
 * server could not use the index.
 */
interface FilterShape {
  /** `marks`: only kinds that the index `entry_marks` has. */
  readonly kinds: "any" | "marks" | "some";
  readonly hasCustomType: boolean;
}

const SHAPES: readonly FilterShape[] = (["any", "marks", "some"] as const).flatMap((kinds) =>
  [false, true].map((hasCustomType) => ({ kinds, hasCustomType })),
);

/** The parameters of a filter. */
export interface FilterParameters {
  /** Numbers of kinds; null: any. */
  readonly kinds: readonly number[] | null;
  readonly customType: string | null;
}

const marks: ReadonlySet<number> = new Set(MARK_KINDS.split(", ").map(Number));

const nameOf = ({ kinds, hasCustomType }: FilterShape) => `${kinds} ${hasCustomType}`;

/** Declares one query for each combination of conditions. Returns the one for a filter. */
export function eachFilter<Q>(declare: (shape: FilterShape) => Q): (filter: FilterParameters) => Q {
  const [first, ...others] = SHAPES;
  if (first === undefined) throw new Error("no shapes");
  const plain = declare(first);
  const queries = new Map([[nameOf(first), plain], ...others.map((shape): [string, Q] => [nameOf(shape), declare(shape)])]);
  return (filter) => queries.get(nameOf(shapeOf(filter))) ?? plain;
}

function shapeOf({ kinds, customType }: FilterParameters): FilterShape {
  const areMarks = kinds?.every((kind) => marks.has(kind)) === true;
  return { kinds: kinds === null ? "any" : areMarks ? "marks" : "some", hasCustomType: customType !== null };
}

/** SQL of the conditions on the table `entry`. */
export function matching(sql: Sql, p: FilterParameters, { kinds, hasCustomType }: FilterShape): RawBuilder<unknown> {
  // The number of each kind is a part of the statement: the server uses a partial index only for numbers that it knows when it plans.
  const isMark = kinds === "marks" ? sql`AND entry.kind IN (${sql.raw(MARK_KINDS)})` : sql``;
  const isOfKind = kinds === "any" ? sql`` : sql`AND entry.kind = ANY(${p.kinds}::smallint[])`;
  return sql`${hasCustomType ? sql`AND entry.custom_type = ${p.customType}` : sql``} ${isMark} ${isOfKind}`;
}

// Lists of the entries of a session in order of arrival, whatever their branch: as entries in entries.ts, as rows in outline.ts.

const DEFAULT_LIMIT = 1000;

interface ListParameters extends KeyParameters, FilterParameters {
  after: number;
  before: number;
  limit: number;
}

/** Before the number of every entry. */
export const NO_ENTRY = toEntrySeq(0);

/** A number that a caller gave as one of an entry, within the range of the column; `ofNaN` for NaN. */
export function clampSeq(seq: number, ofNaN = 0): number {
  return Number.isNaN(seq) ? ofNaN : Math.max(0, Math.min(MAX_SEQ, Math.floor(seq)));
}

/** Of numbers that a caller gave, those that an entry can have. */
export function possibleSeqs(seqs: readonly number[]): readonly number[] {
  return seqs.filter((seq) => Number.isInteger(seq) && seq > 0 && seq <= MAX_SEQ);
}

/** A bound of times that a caller gave, as a whole number: times are whole milliseconds. null for NaN: no time is before or after it. */
export function wholeMs(ms: number): number | null {
  return Number.isNaN(ms) ? null : Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(ms)));
}

/** Declares the queries of a list with these columns. Returns the function that reads a page of it. */
export function listOf<R>(columns: string): (database: Database, key: SessionKey, listing: EntryListing) => Promise<readonly R[]> {
  const inOrder = (order: "ASC" | "DESC") =>
    eachFilter((shape) =>
      pgQuery<ListParameters, R>(({ sql, p }) =>
        pgRaw(sql<R>`
          SELECT ${sql.raw(columns)} FROM entry
          WHERE ${ofSession(sql, p, "entry")} AND entry.seq > ${p.after} AND entry.seq < ${p.before} ${matching(sql, p, shape)}
            AND ${sessionExists(sql, p)}
          ORDER BY entry.seq ${sql.raw(order)} LIMIT ${p.limit}`),
      ),
    );
  const [oldest, newest] = [inOrder("ASC"), inOrder("DESC")];
  return async (database, key, listing) => {
    const filter = { kinds: listing.types === undefined ? null : kindsWith(listing.types), customType: listing.customType ?? null };
    const query = (listing.order === "newest" ? newest : oldest)(filter);
    return rowsOf(database, key, query, {
      ...filter,
      after: clampSeq(listing.afterSeq ?? 0, MAX_SEQ),
      before: clampSeq(Math.ceil(listing.beforeSeq ?? MAX_SEQ)),
      limit: rowLimit(listing.limit ?? DEFAULT_LIMIT),
    });
  };
}

const byIds = pgQuery<KeyParameters & { ids: readonly EntryId[] }, EntryRow>(({ sql, p }) =>
  pgRaw(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM unnest(${p.ids}::text[]) AS wanted (id) ${joinEntries(sql, p, "id", sql`wanted.id`)}
    WHERE ${sessionExists(sql, p)}`),
);

/** Reads one entry. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function readEntry(database: PgDatabase, key: SessionKey, id: EntryId): Promise<Entry> {
  const [row] = await rowsOf(database, key, byIds, { ids: [id] });
  if (row === undefined) throw new EntryNotFoundError(sessionIdOf(key), id);
  return toEntry(sessionIdOf(key), row);
}

const seqsById = pgQuery<KeyParameters & { ids: readonly EntryId[] }, { id: EntryId; seq: EntrySeq }>(({ sql, p }) =>
  pgRaw(sql<{ id: EntryId; seq: EntrySeq }>`
    SELECT entry.id, entry.seq FROM unnest(${p.ids}::text[]) AS wanted (id) ${joinEntries(sql, p, "id", sql`wanted.id`)}
    WHERE ${sessionExists(sql, p)}`),
);

/** Returns the number of each entry. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function requireSeqs(database: Database, key: SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, EntrySeq>> {
  const seqs = new Map((await rowsOf(database, key, seqsById, { ids })).map(({ id, seq }) => [id, seq]));
  const missing = ids.find((id) => !seqs.has(id));
  if (missing !== undefined) throw new EntryNotFoundError(sessionIdOf(key), missing);
  return seqs;
}

/** Returns the number of an entry. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function requireSeq(database: Database, key: SessionKey, id: EntryId): Promise<EntrySeq> {
  return (await requireSeqs(database, key, [id])).get(id) ?? NO_ENTRY;
}

/** Reads entries by id, in the order of the ids. Unknown ids are missing. */
export async function readEntriesById(
  database: PgDatabase,
  key: SessionKey,
  ids: readonly EntryId[],
): Promise<ReadonlyMap<EntryId, Entry>> {
  const rows = new Map((await rowsOf(database, key, byIds, { ids })).map((row) => [row.id, row]));
  const found = new Map<EntryId, Entry>();
  for (const id of ids) {
    const row = rows.get(id);
    if (row !== undefined) found.set(id, toEntry(sessionIdOf(key), row));
  }
  return found;
}

// A range instead of a pattern, so that the index is used: U+10FFFF sorts after every other character.
const startingWith = pgQuery<KeyParameters & { prefix: string; limit: number }, { id: EntryId }>(({ sql, p }) =>
  pgRaw(sql<{ id: EntryId }>`
    SELECT id FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND id >= ${p.prefix}::text AND id < ${p.prefix}::text || chr(1114111) AND ${sessionExists(sql, p)}
    ORDER BY id LIMIT ${p.limit}`),
);

/** Returns the ids of a session that start with `prefix`, in order. */
export async function findEntryIds(database: PgDatabase, key: SessionKey, prefix: string, limit: number): Promise<readonly EntryId[]> {
  return (await rowsOf(database, key, startingWith, { prefix, limit: rowLimit(limit) })).map(({ id }) => id);
}

interface Neighbors {
  readonly id: EntryId;
  readonly before: string | null;
  readonly after: string | null;
}

const neighbors = pgQuery<KeyParameters & { ids: readonly EntryId[] }, Neighbors>(({ sql, p }) =>
  pgRaw(sql<Neighbors>`
    SELECT wanted.id,
      (SELECT id FROM entry WHERE ${ofSession(sql, p, "entry")} AND id < wanted.id ORDER BY id DESC LIMIT 1) AS before,
      (SELECT id FROM entry WHERE ${ofSession(sql, p, "entry")} AND id > wanted.id ORDER BY id LIMIT 1) AS after
    FROM unnest(${p.ids}::text[]) AS wanted (id) WHERE ${sessionExists(sql, p)}`),
);

/**
 * For each id its shortest prefix of at least four characters that no other entry of the session has. Cost: two searches of an index
 * for each id, because only the neighbors in the order of ids share the longest prefixes with it.
 */
export async function shortEntryIds(database: PgDatabase, key: SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, string>> {
  const rows = await rowsOf(database, key, neighbors, { ids });
  return new Map(rows.map(({ id, before, after }) => [id, shortenId(id, [before ?? undefined, after ?? undefined])]));
}

const bySeqs = pgQuery<KeyParameters & { seqs: readonly number[] }, EntryRow>(({ sql, p }) =>
  pgRaw(sql<EntryRow>`
    SELECT ${sql.raw(ENTRY_COLUMNS)}
    FROM unnest(${p.seqs}::integer[]) AS wanted (seq) ${joinEntries(sql, p, "seq", sql`wanted.seq`)}
    WHERE ${sessionExists(sql, p)} ORDER BY entry.seq`),
);

/** Reads entries by their order of arrival, oldest first. Ignores numbers that the session does not have. */
export async function readEntriesAt(database: PgDatabase, key: SessionKey, seqs: readonly EntrySeq[]): Promise<readonly Entry[]> {
  const rows = await rowsOf(database, key, bySeqs, { seqs: possibleSeqs(seqs) });
  return rows.map((row) => toEntry(sessionIdOf(key), row));
}

const entryPage = listOf<EntryRow>(ENTRY_COLUMNS);

/** Reads a page of the entries of all branches. Cost: the page; with `types`, also the rows between one match and the next. */
export async function listEntries(database: PgDatabase, key: SessionKey, listing: EntryListing): Promise<readonly Entry[]> {
  return (await entryPage(database, key, listing)).map((row) => toEntry(sessionIdOf(key), row));
}
