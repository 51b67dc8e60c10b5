import type { LeafMove } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import { rowLimit } from "../storage/row-limit.js";
import type { EntrySeq, LeafMoveTable, SessionSeq } from "../storage/schema.js";
import type { Target } from "./entry-writer.js";
import { leafSeq, setLeaf } from "./leaf-rows.js";
import { type Tip, tipAt } from "./tip.js";

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
