import { LeafMovedError, LeafNotFoundError } from "../errors/session-errors.js";
import type { LeafMove, LeafRecord } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { plain, query, rowLimit } from "../storage/query.js";
import type { EntrySeq, LeafMoveTable, SessionSeq } from "../storage/schema.js";
import { type Tip, tipAt } from "./entry-rows.js";
import type { Target } from "./entry-writer.js";

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

const insertMove = query<{ session: SessionSeq; name: string; from: EntrySeq | null; to: EntrySeq | null; at: number }>(({ sql, p }) =>
  plain(sql`
    INSERT INTO leaf_move (session_seq, leaf_name, from_seq, to_seq, moved_at_ms, state)
    VALUES (${p.session}, ${p.name}, ${p.from}, ${p.to}, ${p.at}, 'done')`),
);
const dropUndone = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db
    .updateTable("leaf_move")
    .set({ state: "dropped" })
    .where("session_seq", "=", p.session)
    .where("leaf_name", "=", p.name)
    .where("state", "=", "undone"),
);

/** Puts the leaf there and remembers from where. A leaf that stands there already is left alone. Call it inside `write`. */
export function moveLeaf(connection: Connection, target: Target, name: string, to: EntrySeq | null): Tip {
  const from = leafSeq(connection, target, name);
  if (from !== to) {
    logMove(connection, target.seq, name, from, to);
    setLeaf(connection, target.seq, name, to);
  }
  return tipAt(connection, to);
}

/** Remembers a move, also one made otherwise, such as by an append beside the leaf. What was undone can no longer be redone. */
export function logMove(connection: Connection, session: SessionSeq, name: string, from: EntrySeq | null, to: EntrySeq | null): void {
  connection.run(dropUndone, { session, name });
  connection.run(insertMove, { session, name, from, to, at: Date.now() });
}

const dropAll = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.updateTable("leaf_move").set({ state: "dropped" }).where("session_seq", "=", p.session).where("leaf_name", "=", p.name),
);

/** A leaf was taken away: one of its name that is made later has nothing of it to undo. */
export function dropMoves(connection: Connection, session: SessionSeq, name: string): void {
  connection.run(dropAll, { session, name });
}

type Stacked = Pick<LeafMoveTable, "seq" | "from_seq" | "resume_seq">;

const lastDone = query<{ session: SessionSeq; name: string }, Stacked>(({ db, p }) =>
  db
    .selectFrom("leaf_move")
    .select(["seq", "from_seq", "resume_seq"])
    .where("session_seq", "=", p.session)
    .where("leaf_name", "=", p.name)
    .where("state", "=", "done")
    .orderBy("seq", "desc")
    .limit(1),
);
const markUndone = query<{ seq: number; resume: EntrySeq | null }>(({ db, p }) =>
  db.updateTable("leaf_move").set({ state: "undone", resume_seq: p.resume }).where("seq", "=", p.seq),
);

/** Takes the last move back: the leaf stands where it stood before it. undefined: no move is left to undo. */
export function undoMove(connection: Connection, target: Target, name: string): Tip | undefined {
  const move = connection.get(lastDone, { session: target.seq, name });
  if (move === undefined) return undefined;
  // What was appended since the move stays on its branch; a redo comes back to its end.
  connection.run(markUndone, { seq: move.seq, resume: leafSeq(connection, target, name) });
  setLeaf(connection, target.seq, name, move.from_seq);
  return tipAt(connection, move.from_seq);
}

const lastUndone = query<{ session: SessionSeq; name: string }, Stacked>(({ db, p }) =>
  db
    .selectFrom("leaf_move")
    .select(["seq", "from_seq", "resume_seq"])
    .where("session_seq", "=", p.session)
    .where("leaf_name", "=", p.name)
    .where("state", "=", "undone")
    .orderBy("seq", "asc")
    .limit(1),
);
const markRedone = query<{ seq: number; from: EntrySeq | null }>(({ db, p }) =>
  db.updateTable("leaf_move").set({ state: "done", from_seq: p.from, resume_seq: null }).where("seq", "=", p.seq),
);

/** Takes the last undo back. undefined: nothing was undone since the last move. */
export function redoMove(connection: Connection, target: Target, name: string): Tip | undefined {
  const move = connection.get(lastUndone, { session: target.seq, name });
  if (move === undefined) return undefined;
  connection.run(markRedone, { seq: move.seq, from: leafSeq(connection, target, name) });
  setLeaf(connection, target.seq, name, move.resume_seq);
  return tipAt(connection, move.resume_seq);
}

const recentMoves = query<
  { session: SessionSeq; name: string; limit: number },
  { from: string | null; to: string | null; movedAtMs: number; state: LeafMove["state"] }
>(({ db, p }) =>
  db
    .selectFrom("leaf_move as move")
    .leftJoin("entry as origin", "origin.seq", "move.from_seq")
    .leftJoin("entry as goal", "goal.seq", "move.to_seq")
    .select(["origin.id as from", "goal.id as to", "move.moved_at_ms as movedAtMs", "move.state"])
    .where("move.session_seq", "=", p.session)
    .where("move.leaf_name", "=", p.name)
    .orderBy("move.seq", "desc")
    .limit(p.limit),
);

/** The moves of a leaf, newest first. */
export function leafMoves(connection: Connection, session: SessionSeq, name: string, limit: number): readonly LeafMove[] {
  return connection.all(recentMoves, { session, name, limit: rowLimit(limit) });
}
