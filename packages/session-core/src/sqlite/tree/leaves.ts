import { LeafNotFoundError, MainLeafError } from "../../errors/session-errors.js";
import type { EntrySeq, SessionSeq } from "../../ids/ids.js";
import { type LeafMove, type LeafRecord, type LeafState, MAIN_LEAF, type SessionRow } from "../../port/records.js";
import { assertLeafName } from "../../rules/session-columns.js";
import { rowLimit } from "../../rules/values.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import type { LeafMoveTable } from "../schema.js";
import { requireEntrySeq } from "./entry-rows.js";
import { FileLeafState, readPathState } from "./paths.js";

const leafRow = query<{ session: SessionSeq; name: string }, { seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("leaf").select("entry_seq as seq").where("session_seq", "=", p.session).where("name", "=", p.name),
);

/** Returns the position of a leaf, or undefined if the session has no leaf of this name. */
export function findLeaf(connection: Connection, session: SessionSeq, name: string): { readonly seq: EntrySeq | null } | undefined {
  return connection.get(leafRow, { session, name });
}

/** Returns the position of a leaf; null: before the first entry. @throws {LeafNotFoundError} */
export function requireLeafSeq(connection: Connection, session: SessionRow, name: string): EntrySeq | null {
  const leaf = findLeaf(connection, session.seq, name);
  if (leaf === undefined) throw new LeafNotFoundError(session.id, name);
  return leaf.seq;
}

function readLeafState(connection: Connection, session: SessionRow, seq: EntrySeq | null): FileLeafState {
  return new FileLeafState(readPathState(connection, seq), session);
}

/** Returns the state of a leaf. Call it inside `read`. @throws {LeafNotFoundError} */
export function readLeaf(connection: Connection, session: SessionRow, name: string): FileLeafState {
  return readLeafState(connection, session, requireLeafSeq(connection, session, name));
}

/** Returns the state of a leaf; creates a missing one at `start`. Call it inside `write`. @throws {InvalidEntryError} the name is not valid. */
export function openLeaf(connection: Connection, session: SessionRow, name: string, start: LeafState): FileLeafState {
  const found = findLeaf(connection, session.seq, name);
  if (found !== undefined) return readLeafState(connection, session, found.seq);
  const seq = start.entryId === null ? null : requireEntrySeq(connection, session, start.entryId);
  createLeaf(connection, session.seq, name, seq);
  return readLeafState(connection, session, seq);
}

/** Creates a leaf. @throws {InvalidEntryError} the name is not valid. */
export function createLeaf(connection: Connection, session: SessionSeq, name: string, seq: EntrySeq | null): void {
  assertLeafName(name);
  setLeaf(connection, session, name, seq);
}

const putLeaf = query<{ session: SessionSeq; name: string; entry: EntrySeq | null }>(({ db, p }) =>
  db
    .insertInto("leaf")
    .values({ session_seq: p.session, name: p.name, entry_seq: p.entry })
    .onConflict((conflict) => conflict.columns(["session_seq", "name"]).doUpdateSet({ entry_seq: p.entry })),
);

/** Sets the position of a leaf; creates the leaf if it is missing. */
export function setLeaf(connection: Connection, session: SessionSeq, name: string, entry: EntrySeq | null): void {
  connection.run(putLeaf, { session, name, entry });
}

const leafRows = query<{ session: SessionSeq }, LeafRecord>(({ db, p }) =>
  db
    .selectFrom("leaf")
    .leftJoin("entry", "entry.seq", "leaf.entry_seq")
    .select(["leaf.name", "entry.id as entryId"])
    .where("leaf.session_seq", "=", p.session)
    .orderBy("leaf.name"),
);

/** Lists the leaves of a session by name. */
export function listLeaves(connection: Connection, session: SessionRow): readonly LeafRecord[] {
  return connection.all(leafRows, { session: session.seq });
}

const leafSeqs = query<{ session: SessionSeq }, { name: string; seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("leaf").select(["name", "entry_seq as seq"]).where("session_seq", "=", p.session).orderBy("name"),
);

/** The same with row numbers, which may be those of no entry in a damaged store. */
export function listLeafSeqs(
  connection: Connection,
  session: SessionSeq,
): readonly { readonly name: string; readonly seq: EntrySeq | null }[] {
  return connection.all(leafSeqs, { session });
}

const removeLeaf = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.deleteFrom("leaf").where("session_seq", "=", p.session).where("name", "=", p.name),
);

const dropMoves = query<{ session: SessionSeq; name: string }>(({ db, p }) =>
  db.updateTable("leaf_move").set({ state: "dropped" }).where("session_seq", "=", p.session).where("leaf_name", "=", p.name),
);

/** Deletes a leaf and its undo history; keeps its entries. Call it inside `write`. @throws {LeafNotFoundError | MainLeafError} */
export function deleteLeaf(connection: Connection, session: SessionRow, name: string): void {
  if (name === MAIN_LEAF) throw new MainLeafError(session.id);
  if (connection.run(removeLeaf, { session: session.seq, name }) === 0) throw new LeafNotFoundError(session.id, name);
  connection.run(dropMoves, { session: session.seq, name });
}

const insertMove = query<{ session: SessionSeq; name: string; from: EntrySeq | null; to: EntrySeq | null; at: number }>(({ sql, p }) =>
  rawQuery(sql`
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

/** Records a move for undo, without moving the leaf. Undone moves can no longer be redone. */
export function recordMove(connection: Connection, session: SessionSeq, name: string, from: EntrySeq | null, to: EntrySeq | null): void {
  connection.run(dropUndone, { session, name });
  connection.run(insertMove, { session, name, from, to, at: Date.now() });
}

type MoveRow = Pick<LeafMoveTable, "seq" | "from_seq" | "resume_seq">;

const firstOf = (state: LeafMove["state"], order: "asc" | "desc") =>
  query<{ session: SessionSeq; name: string }, MoveRow>(({ db, p }) =>
    db
      .selectFrom("leaf_move")
      .select(["seq", "from_seq", "resume_seq"])
      .where("session_seq", "=", p.session)
      .where("leaf_name", "=", p.name)
      .where("state", "=", state)
      .orderBy("seq", order)
      .limit(1),
  );
const lastDone = firstOf("done", "desc");
const lastUndone = firstOf("undone", "asc");
const markUndone = query<{ seq: number; resume: EntrySeq | null }>(({ db, p }) =>
  db.updateTable("leaf_move").set({ state: "undone", resume_seq: p.resume }).where("seq", "=", p.seq),
);

const anyMove = query<{ session: SessionSeq; name: string }, { seq: number }>(({ db, p }) =>
  db
    .selectFrom("leaf_move")
    .select("seq")
    .where("session_seq", "=", p.session)
    .where("leaf_name", "=", p.name)
    .where("state", "in", ["done", "undone"])
    .limit(1),
);

/** True if a leaf has a move that can be undone or redone: appends and imports record none. */
export function hasLeafMoves(connection: Connection, session: SessionSeq, name: string): boolean {
  return connection.get(anyMove, { session, name }) !== undefined;
}

/** Undoes the last move. Returns undefined if there is none. Call it inside `write`. */
export function undoMove(connection: Connection, session: SessionRow, name: string): LeafState | undefined {
  const move = connection.get(lastDone, { session: session.seq, name });
  if (move === undefined) return undefined;
  // Entries appended since the move stay on their branch; a redo returns to the last of them.
  connection.run(markUndone, { seq: move.seq, resume: requireLeafSeq(connection, session, name) });
  setLeaf(connection, session.seq, name, move.from_seq);
  return readLeafState(connection, session, move.from_seq);
}

const markRedone = query<{ seq: number; from: EntrySeq | null }>(({ db, p }) =>
  db.updateTable("leaf_move").set({ state: "done", from_seq: p.from, resume_seq: null }).where("seq", "=", p.seq),
);

/** Redoes the last undone move. Returns undefined if there is none. Call it inside `write`. */
export function redoMove(connection: Connection, session: SessionRow, name: string): LeafState | undefined {
  const move = connection.get(lastUndone, { session: session.seq, name });
  if (move === undefined) return undefined;
  connection.run(markRedone, { seq: move.seq, from: requireLeafSeq(connection, session, name) });
  setLeaf(connection, session.seq, name, move.resume_seq);
  return readLeafState(connection, session, move.resume_seq);
}

// The newest of each state first, each from the end of its range of the index, so that the moves before them are not read.
const recentMoves = query<{ session: SessionSeq; name: string; limit: number }, LeafMove>(({ sql, p }) => {
  const ofState = (state: LeafMove["state"]) => sql`SELECT * FROM (
    SELECT seq, from_seq, to_seq, moved_at_ms, state FROM leaf_move
    WHERE session_seq = ${p.session} AND leaf_name = ${p.name} AND state = ${sql.lit(state)} ORDER BY seq DESC LIMIT ${p.limit})`;
  return rawQuery(sql<LeafMove>`
    SELECT origin.id AS "from", goal.id AS "to", move.moved_at_ms AS movedAtMs, move.state
    FROM (${ofState("done")} UNION ALL ${ofState("undone")} UNION ALL ${ofState("dropped")}) AS move
      LEFT JOIN entry AS origin ON origin.seq = move.from_seq LEFT JOIN entry AS goal ON goal.seq = move.to_seq
    ORDER BY move.seq DESC LIMIT ${p.limit}`);
});

/** Lists the moves of a leaf, newest first. */
export function listLeafMoves(connection: Connection, session: SessionRow, name: string, limit: number): readonly LeafMove[] {
  return connection.all(recentMoves, { session: session.seq, name, limit: rowLimit(limit) });
}
