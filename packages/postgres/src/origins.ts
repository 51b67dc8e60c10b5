import type { EntryId, SessionId } from "@bough/session-core";
import {
  type ChangedEntry,
  type ClaimEntry,
  decideOriginals,
  type EntrySeq,
  groupBy,
  type Holder,
  isClaimProven,
  listClaims,
  listUndecided,
  originsAfter,
  originsIn,
  referenceIn,
  type SessionKey,
  type SharedEntry,
} from "@bough/session-core/engine";
import type { Sql } from "kysely";
import type { Database } from "./database.js";
import { entryNamed, joinNamed } from "./entries.js";
import { type Always, pgQuery, pgRaw } from "./query.js";
import { startsAndIs } from "./schema.js";
import { type KeyParameters, ofSession, rowsOf, sessionExists } from "./session-key.js";
import { PAYLOAD_PAGE, parseUndamaged, recountUsage } from "./usage.js";

// Copies of entries in several sessions, by the rules of a store on SQLite (tree/origins.ts). A statement may read and mark entries of other
// sessions than the one that is written to: their totals are added up again under the lock of their rows.

/** The most origins, or entries, of one statement. */
const AT_ONCE = 5_000;

/** The entries that an import has added to a session. */
export interface AddedEntries {
  /** The number of the first new entry. */
  readonly from: number;
  /** The sessions to which new entries refer. */
  readonly references: ReadonlySet<SessionId>;
}

/** Marks what is a copy, and links a session that begins with messages of another one as its fork. The caller holds the session's row. */
export async function connectCopies(transaction: Database, session: SessionId, added: AddedEntries): Promise<void> {
  for (const copy of await markCopies(transaction, session, added)) {
    await linkToSource(transaction, copy);
    // It may have had the originals until now: then its copies are those of another session.
    for (const { fork } of await transaction.all(foundForks, { session: copy })) await linkToSource(transaction, fork);
  }
}

const foundForks = pgQuery<{ session: SessionId }, { fork: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ fork: SessionId }>`
    SELECT session_id AS fork FROM session
    WHERE tenant = ${p.tenant} AND ${startsAndIs(sql`parent_session_id`, p.session)} AND parent_found`),
);

const takeLock = pgQuery<{ tenant: string }>(({ sql, p }) =>
  pgRaw(sql`SELECT pg_advisory_xact_lock(hashtextextended(${p.tenant}::text || ' copies', 0))`),
);

/**
 * Two imports, copies or deletions of a tenant at once would not see each other's entries: of a session and its fork both would count. They wait
 * for each other here, at the end of their transactions.
 */
export async function lockCopies(transaction: Database): Promise<void> {
  await transaction.all(takeLock, { tenant: transaction.tenant });
}

/** Returns the sessions that have more copies than before. */
async function markCopies(
  transaction: Database,
  session: SessionId,
  { from, references }: AddedEntries,
  arrived?: SessionId,
): Promise<ReadonlySet<SessionId>> {
  await lockCopies(transaction);
  for (const id of references) await transaction.run(setReferred, { ...referringTo(id), of: session, first: from });
  await followNew(transaction, session, from);
  await followParents(transaction, session, from);
  const shared = await transaction.all(sharedOrigins, { ...referringTo(session), first: from });
  return settleCopies(
    transaction,
    shared.map(({ origin }) => origin),
    { added: session, arrived },
  );
}

type Referring = { readonly session: SessionId; readonly from: string; readonly until: string; readonly length: number };

function referringTo(session: SessionId): Referring {
  const from = originsIn(session);
  // The server counts characters, not UTF-16 code units.
  return { session, from, until: originsAfter(session), length: [...from].length };
}

const anyReferring = pgQuery<Referring, { origin: string }>(({ sql, p }) =>
  pgRaw(sql<{ origin: string }>`
    SELECT origin FROM entry WHERE tenant = ${p.tenant} AND origin >= ${p.from} AND origin < ${p.until} LIMIT 1`),
);

/** An entry that refers to one with an origin has the same. The entry may be imported after those that refer to it. */
async function followNew(transaction: Database, session: SessionId, first: number): Promise<void> {
  const referring = referringTo(session);
  if ((await transaction.get(anyReferring, referring)) !== undefined) await transaction.run(setReferring, { ...referring, first });
}

/** SQL of the entry to which an entry refers. */
const referredBy = (sql: Sql, p: Always & Referring) =>
  entryNamed(p.tenant, sql`${p.session}`, "id", sql`substr(entry.origin, ${p.length}::integer + 1)`);

const setReferred = pgQuery<Referring & { of: SessionId; first: number }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET origin = (SELECT known.origin FROM ${referredBy(sql, p)} AS known)
    WHERE entry.tenant = ${p.tenant} AND entry.session_id = ${p.of} AND entry.seq >= ${p.first}::integer
      AND entry.origin >= ${p.from} AND entry.origin < ${p.until}
      AND EXISTS (SELECT 1 FROM ${referredBy(sql, p)} AS known WHERE known.origin IS NOT NULL)`),
);
const setReferring = pgQuery<Referring & { first: number }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET origin = (SELECT known.origin FROM ${referredBy(sql, p)} AS known)
    WHERE entry.tenant = ${p.tenant} AND entry.origin >= ${p.from} AND entry.origin < ${p.until}
      AND EXISTS (SELECT 1 FROM ${referredBy(sql, p)} AS known WHERE known.seq >= ${p.first}::integer AND known.origin IS NOT NULL)`),
);

const parentOf = pgQuery<{ session: SessionId }, { parent: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ parent: SessionId }>`
    SELECT parent_session_id AS parent FROM session WHERE ${ofSession(sql, p, "session")} AND parent_session_id IS NOT NULL`),
);
const childrenOf = pgQuery<{ session: SessionId }, { child: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ child: SessionId }>`
    SELECT session_id AS child FROM session
    WHERE tenant = ${p.tenant} AND ${startsAndIs(sql`parent_session_id`, p.session)} AND source_format IS NOT NULL`),
);

// A key of a content has no space; a reference is certain, and stays.
const setOfParent = pgQuery<{ session: SessionId; from: number; parent: SessionId; origins: string }>(({ sql, p }) => {
  const inParent = entryNamed(p.tenant, sql`${p.parent}`, "id", sql`entry.id`);
  const ofParent = sql`SELECT coalesce(known.origin, ${p.origins}::text || known.id) AS origin FROM ${inParent} AS known
      WHERE known.created_at_ms = entry.created_at_ms`;
  return pgRaw(sql`
    UPDATE entry SET origin = (${ofParent})
    WHERE ${ofSession(sql, p, "entry")} AND entry.seq >= ${p.from}::integer AND strpos(entry.origin, ' ') = 0
      AND EXISTS (SELECT 1 FROM (${ofParent}) AS found WHERE found.origin <> entry.origin)`);
});
type KnownEntry = { readonly id: EntryId; readonly at: number; readonly origin: string };

const newEntries = pgQuery<{ session: SessionId; from: number }, KnownEntry>(({ sql, p }) =>
  pgRaw(sql<KnownEntry>`
    SELECT id, created_at_ms AS at, origin FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND seq >= ${p.from}::integer AND origin IS NOT NULL`),
);

interface OfChild {
  readonly child: SessionId;
  readonly ids: readonly EntryId[];
  readonly times: readonly number[];
  readonly origins: readonly string[];
}

const setOfChild = pgQuery<OfChild>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET origin = known.origin
    FROM unnest(${p.ids}::text[], ${p.times}::bigint[], ${p.origins}::text[]) AS known (id, at, origin)
    WHERE entry.tenant = ${p.tenant} AND entry.session_id = ${p.child} AND entry.id = known.id
      AND entry.created_at_ms = known.at AND strpos(entry.origin, ' ') = 0 AND entry.origin <> known.origin`),
);

/** An entry of a fork with the id and the time of an entry of its source is a copy of that entry, also in another form. */
async function followParents(transaction: Database, session: SessionId, from: number): Promise<void> {
  const parent = (await transaction.get(parentOf, { session }))?.parent;
  if (parent !== undefined) await transaction.run(setOfParent, { session, from, parent, origins: originsIn(parent) });
  const children = await transaction.all(childrenOf, { session });
  const added = children.length === 0 ? [] : await transaction.all(newEntries, { session, from });
  for (let at = 0; at < added.length; at += AT_ONCE) {
    const part = added.slice(at, at + AT_ONCE);
    const known = { ids: part.map(({ id }) => id), times: part.map((entry) => entry.at), origins: part.map(({ origin }) => origin) };
    for (const { child } of children) await transaction.run(setOfChild, { child, ...known });
  }
}

const sharedOrigins = pgQuery<Referring & { first: number }, { origin: string }>(({ sql, p }) =>
  pgRaw(sql<{ origin: string }>`
    SELECT entry.origin FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND entry.seq >= ${p.first}::integer AND entry.origin IS NOT NULL
      AND (entry.inherited OR strpos(entry.origin, ' ') > 0 OR EXISTS (
        SELECT 1 FROM entry AS other WHERE other.tenant = ${p.tenant} AND other.origin = entry.origin AND other.session_id <> ${p.session}))
    UNION SELECT ${p.from} || known.id AS origin FROM entry AS known
    WHERE ${ofSession(sql, p, "known")} AND known.seq >= ${p.first}::integer AND known.origin IS NULL
      AND EXISTS (
        SELECT 1 FROM entry AS any_copy WHERE any_copy.tenant = ${p.tenant} AND any_copy.origin >= ${p.from} AND any_copy.origin < ${p.until})
      AND EXISTS (SELECT 1 FROM entry AS copy WHERE copy.tenant = ${p.tenant} AND copy.origin = ${p.from} || known.id)`),
);

const originsLeft = pgQuery<Referring, { origin: string }>(({ sql, p }) =>
  pgRaw(sql<{ origin: string }>`
    SELECT entry.origin FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND NOT entry.inherited AND entry.origin IS NOT NULL AND EXISTS (
      SELECT 1 FROM entry AS other WHERE other.tenant = ${p.tenant} AND other.origin = entry.origin AND other.session_id <> ${p.session})
    UNION SELECT origin FROM entry WHERE tenant = ${p.tenant} AND origin >= ${p.from} AND origin < ${p.until}`),
);

/** The origins whose original is in a session, and of which others have copies: when it is deleted, `settleCopies` finds another original. */
export async function listOriginals(transaction: Database, session: SessionId): Promise<readonly string[]> {
  return (await transaction.all(originsLeft, referringTo(session))).map(({ origin }) => origin);
}

type Shared = SharedEntry<SessionId>;

const entriesOfOrigins = pgQuery<{ origins: readonly string[] }, Shared>(({ sql, p }) =>
  pgRaw(sql<Shared>`
    SELECT origin, session_id AS session, seq, inherited FROM entry WHERE tenant = ${p.tenant} AND origin = ANY(${p.origins}::text[])`),
);
const originalsOf = pgQuery<{ origins: readonly string[]; added: SessionId }, Shared>(({ sql, p }) =>
  pgRaw(sql<Shared>`
    SELECT origin, session_id AS session, seq, inherited FROM entry
    WHERE tenant = ${p.tenant} AND origin = ANY(${p.origins}::text[]) AND NOT inherited
    UNION ALL SELECT origin, session_id AS session, seq, inherited FROM entry
    WHERE tenant = ${p.tenant} AND origin = ANY(${p.origins}::text[]) AND inherited AND session_id = ${p.added}`),
);

const copiesInSource = pgQuery<{ origins: readonly string[]; added: SessionId }, { origin: string }>(({ sql, p }) =>
  pgRaw(sql<{ origin: string }>`
    SELECT entry.origin FROM session JOIN entry ON entry.tenant = session.tenant AND entry.session_id = session.parent_session_id
    WHERE session.tenant = ${p.tenant} AND session.session_id = ${p.added} AND session.parent_session_id <> session.session_id
      AND entry.origin = ANY(${p.origins}::text[]) AND entry.inherited`),
);

interface References {
  readonly origins: readonly string[];
  readonly sessions: readonly SessionId[];
  readonly ids: readonly EntryId[];
}

const entriesReferredTo = pgQuery<References, Shared>(({ sql, p }) =>
  pgRaw(sql<Shared>`
    SELECT asked.origin, entry.session_id AS session, entry.seq, entry.inherited
    FROM unnest(${p.origins}::text[], ${p.sessions}::text[], ${p.ids}::text[]) AS asked (origin, session_id, id)
    CROSS JOIN LATERAL ${entryNamed(p.tenant, sql`asked.session_id`, "id", sql`asked.id`)} AS entry WHERE entry.origin IS NULL`),
);
const holdersOf = pgQuery<{ sessions: readonly SessionId[] }, Holder>(({ sql, p }) =>
  pgRaw(sql<Holder>`
    SELECT session_id AS "sessionId", parent_session_id AS "parentId", created_at_ms AS "createdAtMs", active_at_ms AS "activeAtMs", seq AS arrival
    FROM session WHERE tenant = ${p.tenant} AND session_id = ANY(${p.sessions}::text[])`),
);
// A list of numbers, not a join: where the server does not know how many entries a session has, it would read all of them for each number.
const markEntries = pgQuery<{ session: SessionId; seqs: readonly number[]; inherited: boolean }>(({ sql, p }) =>
  pgRaw(sql`UPDATE entry SET inherited = ${p.inherited} WHERE ${ofSession(sql, p, "entry")} AND entry.seq = ANY(${p.seqs}::integer[])`),
);
const lockSessions = pgQuery<{ sessions: readonly SessionId[] }>(({ sql, p }) =>
  pgRaw(sql`
    SELECT 1 FROM session WHERE tenant = ${p.tenant} AND session_id = ANY(${p.sessions}::text[]) ORDER BY session_id FOR NO KEY UPDATE`),
);

/** The session to which entries of these origins were added, if nothing else has changed. `arrived`: from another store; claims are checked. */
interface Settled {
  readonly added?: SessionId;
  readonly arrived?: SessionId | undefined;
}

/** Decides which entries of these origins are originals, and corrects marks and totals. Returns the sessions that have more copies. */
export async function settleCopies(
  transaction: Database,
  origins: readonly string[],
  { added, arrived }: Settled = {},
): Promise<ReadonlySet<SessionId>> {
  const changed: ChangedEntry<SessionId>[] = [];
  for (let at = 0; at < origins.length; at += AT_ONCE) {
    const { shared, find } = await readDeciding(transaction, origins.slice(at, at + AT_ONCE), added);
    changed.push(...decideOriginals(arrived === undefined ? shared : await dropFalseClaims(transaction, shared, arrived, find), find));
  }
  if (changed.length === 0) return new Set();
  const sessions = [...new Set(changed.map(({ session }) => session))];
  await transaction.all(lockSessions, { sessions });
  for (const inherited of [false, true]) await mark(transaction, changed, inherited);
  for (const session of sessions) await recountUsage(transaction, session);
  return new Set(changed.flatMap((entry) => (entry.inherited ? [entry.session] : [])));
}

interface ClaimRow extends Pick<Shared, "session" | "seq"> {
  readonly id: EntryId;
  readonly createdAtMs: number;
  readonly kind: number;
  readonly payload: string;
}

const claimedEntries = pgQuery<{ sessions: readonly SessionId[]; seqs: readonly number[] }, ClaimRow>(({ sql, p }) =>
  pgRaw(sql<ClaimRow>`
    SELECT entry.session_id AS session, entry.seq, entry.id, entry.created_at_ms AS "createdAtMs", entry.kind, entry.payload
    FROM unnest(${p.sessions}::text[], ${p.seqs}::integer[]) AS asked (session_id, seq) ${joinNamed(p.tenant, "asked")}`),
);
const dropClaims = pgQuery<{ session: SessionId; seqs: readonly number[] }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET origin = NULL, inherited = false WHERE ${ofSession(sql, p, "entry")} AND entry.seq = ANY(${p.seqs}::integer[])`),
);

/**
 * Takes the origin from the entries of a session that another store sent if originals that are here would become copies of them, and they have
 * another content. Returns the entries that are left.
 */
async function dropFalseClaims(
  transaction: Database,
  shared: readonly Shared[],
  arrived: SessionId,
  find: (session: SessionId) => Holder | undefined,
): Promise<readonly Shared[]> {
  const claims = listClaims(shared, arrived, find);
  const parents = [...new Set(claims.flatMap(({ originalParentId }) => originalParentId ?? []))];
  const found = parents.length === 0 ? [] : await transaction.all(holdersOf, { sessions: parents });
  const present = new Set(found.map(({ sessionId }) => sessionId));
  const dropped = new Set<number>();
  // Two payloads of each claim.
  for (let at = 0; at < claims.length; at += PAYLOAD_PAGE / 2) {
    const part = claims.slice(at, at + PAYLOAD_PAGE / 2);
    const entries = await readClaims(
      transaction,
      part.flatMap(({ claimed, original }) => [claimed, original]),
    );
    for (const { origin, claimed, original, originalParentId } of part) {
      const [claim, here] = [entries.get(placeKey(claimed)), entries.get(placeKey(original))];
      const isSourceMissing = originalParentId !== null && !present.has(originalParentId);
      if (claim === undefined || here === undefined || !isClaimProven(origin, claim, here, isSourceMissing)) dropped.add(claimed.seq);
    }
  }
  if (dropped.size === 0) return shared;
  await transaction.run(dropClaims, { session: arrived, seqs: [...dropped] });
  await recountUsage(transaction, arrived);
  return shared.filter(({ session, seq }) => session !== arrived || !dropped.has(seq));
}

async function readClaims(transaction: Database, entries: readonly Shared[]): Promise<ReadonlyMap<string, ClaimEntry>> {
  const asked = { sessions: entries.map(({ session }) => session), seqs: entries.map(({ seq }) => seq) };
  const rows = await transaction.all(claimedEntries, asked);
  return new Map(rows.map((row) => [placeKey(row), { id: row.id, createdAtMs: row.createdAtMs, payload: parseUndamaged(row) }]));
}

function placeKey({ session, seq }: Pick<Shared, "session" | "seq">): string {
  return `${session} ${seq}`;
}

async function mark(transaction: Database, changed: readonly ChangedEntry<SessionId>[], inherited: boolean): Promise<void> {
  const marked = groupBy(
    changed.filter((entry) => entry.inherited === inherited),
    ({ session }) => session,
  );
  for (const [session, entries] of marked)
    for (let at = 0; at < entries.length; at += AT_ONCE)
      await transaction.run(markEntries, { session, seqs: entries.slice(at, at + AT_ONCE).map(({ seq }) => seq), inherited });
}

interface Deciding {
  readonly shared: readonly Shared[];
  readonly find: (session: SessionId) => Holder | undefined;
}

/** The entries that decide which ones are originals: not the copies, where an import has only added another one. */
async function readDeciding(transaction: Database, origins: readonly string[], added: SessionId | undefined): Promise<Deciding> {
  if (added === undefined) return withHolders(transaction, await readShared(transaction, origins));
  const few = await withHolders(transaction, await readShared(transaction, origins, added));
  const copied = (await transaction.all(copiesInSource, { origins, added })).map(({ origin }) => origin);
  const undecided = listUndecided(origins, few.shared, added, few.find, new Set(copied));
  if (undecided.length === 0) return few;
  const isUndecided = new Set(undecided);
  const decided = few.shared.filter(({ origin }) => !isUndecided.has(origin));
  return withHolders(transaction, [...decided, ...(await readShared(transaction, undecided))]);
}

async function withHolders(transaction: Database, shared: readonly Shared[]): Promise<Deciding> {
  const sessions = [...new Set(shared.map(({ session }) => session))];
  const holders = new Map((await transaction.all(holdersOf, { sessions })).map((holder) => [holder.sessionId, holder]));
  return { shared, find: (session) => holders.get(session) };
}

/** `added`: of the copies, only those in this session. */
async function readShared(transaction: Database, origins: readonly string[], added?: SessionId): Promise<readonly Shared[]> {
  const references = origins.flatMap((origin) => {
    const reference = referenceIn(origin);
    return reference === undefined ? [] : [{ origin, ...reference }];
  });
  const rows =
    added === undefined ? await transaction.all(entriesOfOrigins, { origins }) : await transaction.all(originalsOf, { origins, added });
  if (references.length === 0) return rows;
  const asked = {
    origins: references.map(({ origin }) => origin),
    sessions: references.map(({ sessionId }) => sessionId),
    ids: references.map(({ entryId }) => entryId),
  };
  return [...rows, ...(await transaction.all(entriesReferredTo, asked))];
}

interface LastCopy {
  readonly origin: string;
  readonly replies: number;
}

// A user, a reply, a result: programs write settings and notes of their own into a copy.
const lastCopyOf = pgQuery<{ session: SessionId }, LastCopy>(({ sql, p }) =>
  pgRaw(sql<LastCopy>`
    WITH own AS (
        SELECT seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND NOT inherited AND kind BETWEEN 2 AND 4 ORDER BY seq LIMIT 1),
      copied AS MATERIALIZED (
        SELECT seq, kind, origin FROM entry
        WHERE ${ofSession(sql, p, "entry")} AND inherited AND kind BETWEEN 2 AND 4 AND seq < coalesce((SELECT seq FROM own), 2147483647))
    SELECT origin, (SELECT count(*) FROM copied WHERE kind = 3) AS replies FROM copied ORDER BY seq DESC LIMIT 1`),
);

type Found = { readonly sessionId: SessionId; readonly entryId: EntryId };

const originalOf = pgQuery<{ origin: string }, Found>(({ sql, p }) =>
  pgRaw(sql<Found>`
    SELECT session_id AS "sessionId", id AS "entryId" FROM entry WHERE tenant = ${p.tenant} AND origin = ${p.origin} AND NOT inherited LIMIT 1`),
);
const link = pgQuery<{ session: SessionId; parent: SessionId; entry: EntryId }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session SET parent_session_id = ${p.parent}::text, parent_entry_id = ${p.entry}::text,
      parent_found = parent_found OR parent_session_id IS NULL
    WHERE ${ofSession(sql, p, "session")} AND source_format IS NOT NULL AND kind = 'conversation' AND parent_call_id IS NULL
      AND (parent_found OR coalesce(parent_session_id, ${p.parent}::text) = ${p.parent}::text)`),
);

async function linkToSource(transaction: Database, session: SessionId): Promise<void> {
  const last = await transaction.get(lastCopyOf, { session });
  if (last === undefined || last.replies === 0) return;
  const original = (await transaction.get(originalOf, { origin: last.origin })) ?? referenceIn(last.origin);
  if (original !== undefined) await transaction.run(link, { session, parent: original.sessionId, entry: original.entryId });
}

/** Marks the copies of a session that was copied from another store, where other sessions had the originals. Its links are those of that store. */
export async function connectCopied(transaction: Database, session: SessionId, parentId: SessionId | null): Promise<void> {
  // Its usage was copied as it is split there; what is inherited here is found out anew.
  await recountUsage(transaction, session);
  await markCopies(transaction, session, { from: 0, references: new Set(parentId === null ? [] : [parentId]) }, session);
}

const inheritedOf = pgQuery<KeyParameters, { seq: EntrySeq }>(({ sql, p }) =>
  pgRaw(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND inherited AND ${sessionExists(sql, p)} ORDER BY seq`),
);

/** Returns the entries that are copies, by number, from an index that has no others. @throws {SessionNotFoundError} */
export async function listInherited(database: Database, key: SessionKey): Promise<readonly EntrySeq[]> {
  return (await rowsOf(database, key, inheritedOf, {})).map(({ seq }) => seq);
}
