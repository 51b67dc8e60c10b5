import type { EntryPayload } from "../../entry/entry.js";
import {
  type ChangedEntry,
  type ClaimEntry,
  decideOriginals,
  type Holder,
  isClaimProven,
  listClaims,
  listUndecided,
  originsAfter,
  originsIn,
  referenceIn,
  type SharedEntry,
} from "../../entry/origins.js";
import { UsageSums, usageOf } from "../../entry/usage.js";
import { PayloadDamagedError } from "../../errors/store-errors.js";
import { type EntryId, type EntrySeq, type SessionId, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import type { SessionRow } from "../../port/records.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import { deleteSession as deleteSessionRows, resolveSession } from "../sessions/session-rows.js";
import { parsePayload, type TypedPayloadRow } from "./entry-rows.js";
import { insertUsage } from "./entry-writer.js";

// Copies of entries in several sessions: decides which of them is the original, and updates the totals. The totals of a store count
// originals only, so a sum costs the same with and without copies. An append does not search for copies: only an import adds entries
// that another session may have.

/** The number of origins that one statement looks up. */
const AT_ONCE = 5_000;

/** The entries that an import has added to a session. */
export interface AddedEntries {
  /** The first new entry. */
  readonly from: EntrySeq;
  /** The sessions to which new entries refer. */
  readonly references: ReadonlySet<SessionId>;
}

/**
 * Finds out which of the entries that an import has added are copies, and which entries of other sessions are copies of them; and links a
 * session that begins with another one's messages as its fork. Call it inside `write`, after the totals were stored.
 *
 * Cost: a look-up in an index for each new entry, however many sessions have it; for a session with copies its replies, once.
 */
export function connectCopies(connection: Connection, session: SessionRow, added: AddedEntries): void {
  for (const copy of markCopies(connection, session, added)) {
    linkToSource(connection, copy);
    // It may have had the originals until now: then its copies are those of another session.
    for (const { seq } of connection.all(foundForks, { session: copy })) linkToSource(connection, seq);
  }
}

const foundForks = query<{ session: SessionSeq }, { seq: SessionSeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: SessionSeq }>`
    SELECT fork.seq FROM session JOIN session AS fork ON fork.parent_session_id = session.id
    WHERE session.seq = ${p.session} AND fork.parent_found = 1`),
);

/** Returns the sessions that have more copies than before. */
function markCopies(
  connection: Connection,
  session: SessionRow,
  { from, references }: AddedEntries,
  arrived?: SessionSeq,
): ReadonlySet<SessionSeq> {
  for (const id of references) followReferences(connection, session.seq, from, id);
  connection.run(setReferring, { ...referringTo(session), first: from });
  followParents(connection, session, from);
  const shared = connection.all(sharedOrigins, { ...referringTo(session), first: from }).map(({ origin }) => origin);
  return shared.length > 0 ? settleCopies(connection, shared, { added: session.seq, arrived }) : new Set();
}

type ForkedSession = { readonly seq: SessionSeq; readonly parent: SessionId | null };

const sessionOf = query<{ id: SessionId }, ForkedSession>(({ sql, p }) =>
  rawQuery(sql<ForkedSession>`SELECT seq, parent_session_id AS parent FROM session WHERE id = ${p.id}`),
);

type Followed = { session: SessionSeq; from: string; until: string; length: number };

type NewOf = { of: SessionSeq; first: EntrySeq };

const setReferred = query<Followed & NewOf>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE entry SET origin = (
      SELECT known.origin FROM entry AS known WHERE known.session_seq = ${p.session} AND known.id = substr(entry.origin, ${p.length} + 1))
    WHERE session_seq = ${p.of} AND seq >= ${p.first} AND origin >= ${p.from} AND origin < ${p.until} AND EXISTS (
      SELECT 1 FROM entry AS known
      WHERE known.session_seq = ${p.session} AND known.id = substr(entry.origin, ${p.length} + 1) AND known.origin IS NOT NULL)`),
);

/** A new entry that refers to one with an origin has the same. */
function followReferences(connection: Connection, of: SessionSeq, first: EntrySeq, id: SessionId): void {
  const session = connection.get(sessionOf, { id })?.seq;
  if (session !== undefined) connection.run(setReferred, { ...referringTo({ id, seq: session }), of, first });
}

// The entry may be imported after those that refer to it. Most sessions have none: then the new entries are not looked up.
const setReferring = query<Followed & { first: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE entry SET origin = (
      SELECT known.origin FROM entry AS known WHERE known.session_seq = ${p.session} AND known.id = substr(entry.origin, ${p.length} + 1))
    WHERE seq IN (
      SELECT copy.seq FROM entry AS known CROSS JOIN entry AS copy ON copy.origin = ${p.from} || known.id
      WHERE known.session_seq = ${p.session} AND known.seq >= ${p.first} AND known.origin IS NOT NULL
        AND EXISTS (SELECT 1 FROM entry AS any_copy WHERE any_copy.origin >= ${p.from} AND any_copy.origin < ${p.until}))`),
);

/** The range of the origins that refer to entries of a session; after `length` characters comes the id of the entry. */
function referringTo({ id, seq: session }: SessionRow): Followed {
  const from = originsIn(id);
  // SQLite counts characters, not UTF-16 code units.
  return { session, from, until: originsAfter(id), length: [...from].length };
}

type OfParent = { session: SessionSeq; from: EntrySeq; parent: SessionSeq; origins: string };

// A key of a content has no space; a reference is certain, and stays.
const setOfParent = query<OfParent>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE entry SET origin = coalesce(
      (SELECT known.origin FROM entry AS known WHERE known.session_seq = ${p.parent} AND known.id = entry.id), ${p.origins} || entry.id)
    WHERE session_seq = ${p.session} AND seq >= ${p.from} AND instr(origin, ' ') = 0 AND EXISTS (
      SELECT 1 FROM entry AS known
      WHERE known.session_seq = ${p.parent} AND known.id = entry.id AND known.created_at_ms = entry.created_at_ms)`),
);

type OfChild = { session: SessionSeq; from: EntrySeq; child: SessionSeq };

const setOfChild = query<OfChild>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE entry SET origin = (
      SELECT known.origin FROM entry AS known WHERE known.session_seq = ${p.session} AND known.id = entry.id)
    WHERE seq IN (
      SELECT copy.seq FROM entry AS known CROSS JOIN entry AS copy ON copy.session_seq = ${p.child} AND copy.id = known.id
      WHERE known.session_seq = ${p.session} AND known.seq >= ${p.from} AND known.origin IS NOT NULL
        AND copy.created_at_ms = known.created_at_ms AND instr(copy.origin, ' ') = 0)`),
);

const childrenOf = query<{ id: SessionId }, { seq: SessionSeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: SessionSeq }>`SELECT seq FROM session WHERE parent_session_id = ${p.id} AND source_format IS NOT NULL`),
);

/** An entry of a fork with the id and the time of an entry of its source is a copy of that entry, also in another form. */
function followParents(connection: Connection, { id, seq: session }: SessionRow, from: EntrySeq): void {
  const parentId = connection.get(sessionOf, { id })?.parent ?? null;
  const parent = parentId === null ? undefined : connection.get(sessionOf, { id: parentId })?.seq;
  if (parentId !== null && parent !== undefined) connection.run(setOfParent, { session, from, parent, origins: originsIn(parentId) });
  for (const { seq: child } of connection.all(childrenOf, { id })) connection.run(setOfChild, { session, from, child });
}

const sharedOrigins = query<Followed & { first: EntrySeq }, { origin: string }>(({ sql, p }) =>
  rawQuery(sql<{ origin: string }>`
    SELECT DISTINCT entry.origin FROM entry
    WHERE session_seq = ${p.session} AND seq >= ${p.first} AND origin IS NOT NULL AND (entry.inherited = 1 OR instr(origin, ' ') > 0 OR EXISTS (
      SELECT 1 FROM entry AS other WHERE other.origin = entry.origin AND other.session_seq <> ${p.session}))
    UNION SELECT ${p.from} || known.id AS origin FROM entry AS known
    WHERE known.session_seq = ${p.session} AND known.seq >= ${p.first} AND known.origin IS NULL
      AND EXISTS (SELECT 1 FROM entry AS any_copy WHERE any_copy.origin >= ${p.from} AND any_copy.origin < ${p.until})
      AND EXISTS (SELECT 1 FROM entry AS copy WHERE copy.origin = ${p.from} || known.id)`),
);

const originsLeft = query<{ session: SessionSeq; from: string; until: string }, { origin: string }>(({ sql, p }) =>
  rawQuery(sql<{ origin: string }>`
    SELECT entry.origin FROM entry
    WHERE session_seq = ${p.session} AND inherited = 0 AND origin IS NOT NULL AND EXISTS (
      SELECT 1 FROM entry AS other WHERE other.origin = entry.origin AND other.session_seq <> ${p.session})
    UNION SELECT origin FROM entry WHERE origin >= ${p.from} AND origin < ${p.until}`),
);

/** The origins whose original is in a session, and of which others have copies: if it is deleted, `settleCopies` finds another original. */
function listOriginals(connection: Connection, { id, seq: session }: SessionRow): readonly string[] {
  return connection.all(originsLeft, { session, from: originsIn(id), until: originsAfter(id) }).map(({ origin }) => origin);
}

type SharedRow = Omit<SharedEntry<SessionSeq>, "inherited"> & { readonly inherited: 0 | 1 };

const entriesOfOrigins = query<{ origins: string }, SharedRow>(({ sql, p }) =>
  rawQuery(sql<SharedRow>`
    SELECT entry.origin, entry.session_seq AS session, entry.seq, entry.inherited
    FROM json_each(${p.origins}) AS asked CROSS JOIN entry ON entry.origin = asked.value`),
);
const originalsOf = query<{ origins: string; added: SessionSeq }, SharedRow>(({ sql, p }) =>
  rawQuery(sql<SharedRow>`
    SELECT entry.origin, entry.session_seq AS session, entry.seq, entry.inherited
    FROM json_each(${p.origins}) AS asked CROSS JOIN entry ON entry.origin = asked.value AND entry.inherited = 0
    UNION ALL SELECT entry.origin, entry.session_seq AS session, entry.seq, entry.inherited
    FROM json_each(${p.origins}) AS asked CROSS JOIN entry
      ON entry.origin = asked.value AND entry.inherited = 1 AND entry.session_seq = ${p.added}`),
);
const copiesInSource = query<{ origins: string; added: SessionSeq }, { origin: string }>(({ sql, p }) =>
  rawQuery(sql<{ origin: string }>`
    SELECT asked.value AS origin FROM session CROSS JOIN session AS source ON source.id = session.parent_session_id AND source.seq <> session.seq
    CROSS JOIN json_each(${p.origins}) AS asked CROSS JOIN entry
      ON entry.origin = asked.value AND entry.inherited = 1 AND entry.session_seq = source.seq WHERE session.seq = ${p.added}`),
);
const entriesReferredTo = query<{ references: string }, SharedRow>(({ sql, p }) =>
  rawQuery(sql<SharedRow>`
    SELECT asked.value ->> 0 AS origin, entry.session_seq AS session, entry.seq, entry.inherited
    FROM json_each(${p.references}) AS asked CROSS JOIN session ON session.id = asked.value ->> 1
    CROSS JOIN entry ON entry.session_seq = session.seq AND entry.id = asked.value ->> 2 WHERE entry.origin IS NULL`),
);
const holderOf = query<{ session: SessionSeq }, Holder>(({ sql, p }) =>
  rawQuery(sql<Holder>`
    SELECT id AS "sessionId", parent_session_id AS "parentId", created_at_ms AS "createdAtMs", active_at_ms AS "activeAtMs", seq AS arrival
    FROM session WHERE seq = ${p.session}`),
);
const markEntries = query<{ seqs: string; inherited: 0 | 1 }>(({ sql, p }) =>
  rawQuery(sql`UPDATE entry SET inherited = ${p.inherited} WHERE seq IN (SELECT value FROM json_each(${p.seqs}))`),
);

/** Returns what is known of a session, undefined for one that is gone. */
type FindHolder = (session: SessionSeq) => Holder | undefined;

/** The session to which entries of these origins were added, if nothing else has changed. `arrived`: from another store; claims are checked. */
interface Settled {
  readonly added?: SessionSeq;
  readonly arrived?: SessionSeq | undefined;
}

/**
 * Decides which entries of these origins are originals, and corrects marks and totals. Returns the sessions that have more copies. Call it
 * inside `write`.
 */
function settleCopies(connection: Connection, origins: readonly string[], { added, arrived }: Settled = {}): ReadonlySet<SessionSeq> {
  const holders = new Map<SessionSeq, Holder | undefined>();
  const find: FindHolder = (session) => {
    if (!holders.has(session)) holders.set(session, connection.get(holderOf, { session }));
    return holders.get(session);
  };
  const changed: ChangedEntry<SessionSeq>[] = [];
  for (let at = 0; at < origins.length; at += AT_ONCE) {
    const shared = readDeciding(connection, origins.slice(at, at + AT_ONCE), added, find);
    changed.push(...decideOriginals(arrived === undefined ? shared : dropFalseClaims(connection, shared, arrived, find), find));
  }
  for (const inherited of [false, true]) {
    const seqs = changed.flatMap((entry) => (entry.inherited === inherited ? [entry.seq] : []));
    if (seqs.length > 0) connection.run(markEntries, { seqs: JSON.stringify(seqs), inherited: inherited ? 1 : 0 });
  }
  for (const session of new Set(changed.map((entry) => entry.session))) recountUsage(connection, session);
  return new Set(changed.flatMap((entry) => (entry.inherited ? [entry.session] : [])));
}

type ClaimRow = TypedPayloadRow & { readonly id: EntryId; readonly createdAtMs: number };

const entryOfClaim = query<{ seq: EntrySeq }, ClaimRow>(({ sql, p }) =>
  rawQuery(sql<ClaimRow>`
    SELECT entry.seq, entry.session_seq, entry.type, entry.id, entry.created_at_ms AS "createdAtMs", payload.json AS payload_json
    FROM entry LEFT JOIN payload ON payload.entry_seq = entry.seq WHERE entry.seq = ${p.seq}`),
);
const dropClaims = query<{ seqs: string }>(({ sql, p }) =>
  rawQuery(sql`UPDATE entry SET origin = NULL, inherited = 0 WHERE seq IN (SELECT value FROM json_each(${p.seqs}))`),
);

/**
 * Takes the origin from the entries of a session that another store sent if originals that are here would become copies of them, and they have
 * another content. Returns the entries that are left.
 */
function dropFalseClaims(
  connection: Connection,
  shared: readonly SharedEntry<SessionSeq>[],
  arrived: SessionSeq,
  find: FindHolder,
): readonly SharedEntry<SessionSeq>[] {
  const read = ({ seq }: SharedEntry<SessionSeq>): ClaimEntry | undefined => {
    const row = connection.get(entryOfClaim, { seq: toEntrySeq(seq) });
    return row && { id: row.id, createdAtMs: row.createdAtMs, payload: undamaged(connection, row) };
  };
  const dropped = new Set<number>();
  for (const { origin, claimed, original, originalParentId } of listClaims(shared, arrived, find)) {
    const [claim, here] = [read(claimed), read(original)];
    const isSourceMissing = originalParentId !== null && connection.get(sessionOf, { id: originalParentId }) === undefined;
    if (claim === undefined || here === undefined || !isClaimProven(origin, claim, here, isSourceMissing)) dropped.add(claimed.seq);
  }
  if (dropped.size === 0) return shared;
  connection.run(dropClaims, { seqs: JSON.stringify([...dropped]) });
  recountUsage(connection, arrived);
  return shared.filter(({ seq }) => !dropped.has(seq));
}

/** The entries that decide which ones are originals: not the copies, where an import has only added another one. */
function readDeciding(
  connection: Connection,
  origins: readonly string[],
  added: SessionSeq | undefined,
  find: FindHolder,
): readonly SharedEntry<SessionSeq>[] {
  if (added === undefined) return readShared(connection, origins);
  const few = readShared(connection, origins, added);
  const copied = connection.all(copiesInSource, { origins: JSON.stringify(origins), added }).map(({ origin }) => origin);
  const undecided = listUndecided(origins, few, added, find, new Set(copied));
  if (undecided.length === 0) return few;
  const isUndecided = new Set(undecided);
  return [...few.filter(({ origin }) => !isUndecided.has(origin)), ...readShared(connection, undecided)];
}

/** `added`: of the copies, only those in this session. */
function readShared(connection: Connection, origins: readonly string[], added?: SessionSeq): readonly SharedEntry<SessionSeq>[] {
  const references = origins.flatMap((origin) => {
    const reference = referenceIn(origin);
    return reference === undefined ? [] : [[origin, reference.sessionId, reference.entryId]];
  });
  const asked = JSON.stringify(origins);
  const rows =
    added === undefined ? connection.all(entriesOfOrigins, { origins: asked }) : connection.all(originalsOf, { origins: asked, added });
  const originals = references.length === 0 ? [] : connection.all(entriesReferredTo, { references: JSON.stringify(references) });
  return [...rows, ...originals].map((row) => ({ ...row, inherited: row.inherited === 1 }));
}

type UsageRow = TypedPayloadRow & { readonly inherited: 0 | 1 };

/** The number of payloads that one query reads. */
const PAGE = 500;

// Replies, compactions, summaries of branches.
const repliesOf = query<{ session: SessionSeq; after: EntrySeq; limit: number }, UsageRow>(({ sql, p }) =>
  rawQuery(sql<UsageRow>`
    SELECT entry.seq, entry.session_seq, entry.type, entry.inherited, payload.json AS payload_json
    FROM entry LEFT JOIN payload ON payload.entry_seq = entry.seq
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.kind IN (3, 7, 8) ORDER BY entry.seq LIMIT ${p.limit}`),
);
const dropUsage = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("usage_total").where("session_seq", "=", p.session));

/** undefined: the payload is damaged. It must not stop the import or deletion of another session; `verify` reports it. */
function undamaged(connection: Connection, row: TypedPayloadRow): EntryPayload | undefined {
  try {
    return parsePayload(connection, row);
  } catch (error) {
    if (error instanceof PayloadDamagedError) return undefined;
    throw error;
  }
}

/** Adds up the usage of a session again from its replies and summaries: that of the originals, and that of the copies. */
function recountUsage(connection: Connection, session: SessionSeq): void {
  const sums = [new UsageSums(), new UsageSums()] as const;
  for (let after = toEntrySeq(0), rows = PAGE; rows === PAGE; ) {
    const page = connection.all(repliesOf, { session, after, limit: PAGE });
    for (const row of page) {
      const payload = undamaged(connection, row);
      const used = payload && usageOf(payload);
      if (used !== undefined) sums[row.inherited].add(used);
      after = row.seq;
    }
    rows = page.length;
  }
  connection.run(dropUsage, { session });
  for (const inherited of [0, 1] as const) insertUsage(connection, session, inherited, sums[inherited].list());
}

interface LastCopy {
  readonly origin: string;
  readonly replies: number;
}

// A user, a reply, a result: programs write settings and notes of their own into a copy. The index of a session is read up to its first own message.
const lastCopyOf = query<{ session: SessionSeq }, LastCopy>(({ sql, p }) =>
  rawQuery(sql<LastCopy>`
    WITH leading AS MATERIALIZED (
      SELECT seq, kind, origin FROM entry
      WHERE session_seq = ${p.session} AND inherited = 1 AND kind BETWEEN 2 AND 4 AND seq < coalesce(
        (SELECT seq FROM entry WHERE session_seq = ${p.session} AND inherited = 0 AND kind BETWEEN 2 AND 4 ORDER BY seq LIMIT 1), 9e15))
    SELECT origin, (SELECT count(*) FROM leading WHERE kind = 3) AS replies FROM leading ORDER BY seq DESC LIMIT 1`),
);

type Found = { readonly sessionId: SessionId; readonly entryId: EntryId };

const originalOf = query<{ origin: string }, Found>(({ sql, p }) =>
  rawQuery(sql<Found>`
    SELECT session.id AS "sessionId", entry.id AS "entryId" FROM entry CROSS JOIN session ON session.seq = entry.session_seq
    WHERE entry.origin = ${p.origin} AND entry.inherited = 0 LIMIT 1`),
);
const link = query<{ session: SessionSeq; parent: SessionId; entry: EntryId }>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE session SET parent_session_id = ${p.parent}, parent_entry_id = ${p.entry}, parent_found = parent_found OR parent_session_id IS NULL
    WHERE seq = ${p.session} AND source_format IS NOT NULL AND kind = 'conversation' AND parent_call_id IS NULL
      AND (parent_found = 1 OR coalesce(parent_session_id, ${p.parent}) = ${p.parent})`),
);

/**
 * Links a session that begins with messages of another one, among them a reply, to that session, unless its file states a third one. The last common
 * entry may come later, if it was still being written, and so may the session that has the originals: files are read in any order.
 */
function linkToSource(connection: Connection, session: SessionSeq): void {
  const last = connection.get(lastCopyOf, { session });
  if (last === undefined || last.replies === 0) return;
  const original = connection.get(originalOf, { origin: last.origin }) ?? referenceIn(last.origin);
  if (original !== undefined) connection.run(link, { session, parent: original.sessionId, entry: original.entryId });
}

/** Marks the copies of a session that was copied from another store, where other sessions had the originals. Its links are those of that store. */
export function connectCopied(connection: Connection, session: SessionRow, parentId: SessionId | null): void {
  // The copied usage has the split of the other store; this counts again which of it is inherited here.
  recountUsage(connection, session.seq);
  markCopies(connection, session, { from: toEntrySeq(0), references: new Set(parentId === null ? [] : [parentId]) }, session.seq);
}

/** Deletes a session. Of entries that other sessions have copied, one of the copies becomes the original. */
export function deleteSession(connection: Connection, id: SessionId): void {
  connection.write(() => {
    const originals = listOriginals(connection, resolveSession(connection, id));
    deleteSessionRows(connection, id);
    if (originals.length > 0) settleCopies(connection, originals);
  });
}

const inheritedOf = query<{ session: SessionSeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`SELECT seq FROM entry WHERE session_seq = ${p.session} AND inherited = 1 ORDER BY seq`),
);

/** Returns the entries that are copies, by row number, from an index that has no others. */
export function listInherited(connection: Connection, { seq: session }: SessionRow): readonly EntrySeq[] {
  return connection.all(inheritedOf, { session }).map(({ seq }) => seq);
}
