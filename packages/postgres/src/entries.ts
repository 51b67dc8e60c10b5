import { type Entry, type EntryId, type EntryListing, EntryNotFoundError } from "@bough/session-core";
import { rowLimit, type SessionKey, sessionIdOf, shortenId } from "@bough/session-core/engine";
import type { Database, PgDatabase } from "./database.js";
import { listOf, possibleSeqs } from "./entry-list.js";
import { ENTRY_COLUMNS, type EntryRow, joinEntries, toEntry } from "./entry-rows.js";
import { pgQuery, pgRaw } from "./query.js";
import { type KeyParameters, ofSession, rowsOf, sessionExists } from "./session-key.js";

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

const seqsById = pgQuery<KeyParameters & { ids: readonly EntryId[] }, { id: EntryId; seq: number }>(({ sql, p }) =>
  pgRaw(sql<{ id: EntryId; seq: number }>`
    SELECT entry.id, entry.seq FROM unnest(${p.ids}::text[]) AS wanted (id) ${joinEntries(sql, p, "id", sql`wanted.id`)}
    WHERE ${sessionExists(sql, p)}`),
);

/** Returns the number of each entry. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function requireSeqs(database: Database, key: SessionKey, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
  const seqs = new Map((await rowsOf(database, key, seqsById, { ids })).map(({ id, seq }) => [id, seq]));
  const missing = ids.find((id) => !seqs.has(id));
  if (missing !== undefined) throw new EntryNotFoundError(sessionIdOf(key), missing);
  return seqs;
}

/** Returns the number of an entry. @throws {SessionNotFoundError | EntryNotFoundError} */
export async function requireSeq(database: Database, key: SessionKey, id: EntryId): Promise<number> {
  return (await requireSeqs(database, key, [id])).get(id) ?? 0;
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
export async function readEntriesAt(database: PgDatabase, key: SessionKey, seqs: readonly number[]): Promise<readonly Entry[]> {
  const rows = await rowsOf(database, key, bySeqs, { seqs: possibleSeqs(seqs) });
  return rows.map((row) => toEntry(sessionIdOf(key), row));
}

const entryPage = listOf<EntryRow>(ENTRY_COLUMNS);

/** Reads a page of the entries of all branches. Cost: the page; with `types`, also the rows between one match and the next. */
export async function listEntries(database: PgDatabase, key: SessionKey, listing: EntryListing): Promise<readonly Entry[]> {
  return (await entryPage(database, key, listing)).map((row) => toEntry(sessionIdOf(key), row));
}
