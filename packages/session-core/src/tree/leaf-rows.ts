import { LeafMovedError, LeafNotFoundError } from "../errors/session-errors.js";
import type { LeafRecord } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { query } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import type { Target } from "./entry-writer.js";
import type { Tip } from "./tip.js";

const leafRow = query<{ session: SessionSeq; name: string }, { entry_seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("leaf").select("entry_seq").where("session_seq", "=", p.session).where("name", "=", p.name),
);

/** Where the leaf of this name stands; undefined: there is no such leaf. */
export function findLeaf(connection: Connection, session: SessionSeq, name: string): { readonly seq: EntrySeq | null } | undefined {
  const row = connection.get(leafRow, { session, name });
  return row && { seq: row.entry_seq };
}

/** Where the leaf of this name stands. @throws {LeafNotFoundError} */
export function leafSeq(connection: Connection, target: Pick<Target, "id" | "seq">, name: string): EntrySeq | null {
  const leaf = findLeaf(connection, target.seq, name);
  if (leaf === undefined) throw new LeafNotFoundError(target.id, name);
  return leaf.seq;
}

const putLeaf = query<{ session: SessionSeq; name: string; entry: EntrySeq | null }>(({ db, p }) =>
  db
    .insertInto("leaf")
    .values({ session_seq: p.session, name: p.name, entry_seq: p.entry })
    .onConflict((conflict) => conflict.columns(["session_seq", "name"]).doUpdateSet({ entry_seq: p.entry })),
);

/** Puts the leaf of this name there, making it where it is missing. */
export function setLeaf(connection: Connection, session: SessionSeq, name: string, entry: EntrySeq | null): void {
  connection.run(putLeaf, { session, name, entry });
}

const advanceLeaf = query<{ session: SessionSeq; name: string; expected: EntrySeq | null; entry: EntrySeq | null }>(({ db, p }) =>
  db
    .updateTable("leaf")
    .set({ entry_seq: p.entry })
    .where("session_seq", "=", p.session)
    .where("name", "=", p.name)
    .where("entry_seq", "is", p.expected),
);

/**
 * Puts the leaf from `expected` to `tip`, or nowhere if another writer has moved it meanwhile.
 *
 * @throws {LeafMovedError} it does not stand at `expected`; roll back what was written.
 */
export function compareAndSetLeaf(connection: Connection, target: Target, name: string, expected: Tip, tip: Tip): void {
  const { changes } = connection.run(advanceLeaf, { session: target.seq, name, expected: expected.seq, entry: tip.seq });
  if (changes !== 1) throw leafMoved(connection, target, name, expected, leafSeq(connection, target, name));
}

/** Goes on only where the leaf stands at `expected`. @throws {LeafMovedError} */
export function requireLeaf(connection: Connection, target: Target, name: string, expected: Tip): void {
  const actual = leafSeq(connection, target, name);
  if (actual !== expected.seq) throw leafMoved(connection, target, name, expected, actual);
}

function leafMoved(connection: Connection, target: Target, name: string, expected: Tip, actual: EntrySeq | null): LeafMovedError {
  return new LeafMovedError(target.id, name, expected.entryId, entryIdAt(connection, actual));
}

const idAt = query<{ seq: EntrySeq }, { id: string }>(({ db, p }) => db.selectFrom("entry").select("id").where("seq", "=", p.seq));

/** The id of the entry in a row; null for null. */
export function entryIdAt(connection: Connection, seq: EntrySeq | null): string | null {
  return seq === null ? null : (connection.get(idAt, { seq })?.id ?? null);
}

const leafRows = query<{ session: SessionSeq }, { name: string; entryId: string | null }>(({ db, p }) =>
  db
    .selectFrom("leaf")
    .leftJoin("entry", "entry.seq", "leaf.entry_seq")
    .select(["leaf.name", "entry.id as entryId"])
    .where("leaf.session_seq", "=", p.session)
    .orderBy("leaf.name"),
);

/** Every named leaf of a session. */
export function namedLeaves(connection: Connection, session: SessionSeq): readonly LeafRecord[] {
  return connection.all(leafRows, { session });
}

const removeLeaf = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.deleteFrom("leaf").where("session_seq", "=", p.session).where("name", "=", p.name),
);

/** Takes a named leaf away; its entries stay. @throws {LeafNotFoundError} */
export function deleteLeaf(connection: Connection, target: Pick<Target, "id" | "seq">, name: string): void {
  if (connection.run(removeLeaf, { session: target.seq, name }).changes === 0) throw new LeafNotFoundError(target.id, name);
}
