import { type EntryId, EntryNotFoundError, LeafNotFoundError, MainLeafError, type SessionId } from "@bough/session-core";
import * as records from "@bough/session-core/engine";
import { assertLeafName, EMPTY_PATH, type EntrySeq, type PathState, rowLimit } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database, PgDatabase } from "./database.js";
import { entriesFrom } from "./entries.js";
import * as state from "./facts.js";
import { type LockedSession, lockSession } from "./facts.js";
import { type Always, pgQuery, pgRaw } from "./query.js";
import { saveLeaves } from "./save-changes.js";
import { type KeyParameters, ofSession, rowsOf, sessionExists } from "./session-key.js";

const stateById = pgQuery<{ session: SessionId; id: EntryId }, state.StateRow>(({ sql, p }) =>
  pgRaw(sql<state.StateRow>`
    SELECT ${state.stateColumns(sql, "entry")} FROM entry WHERE ${ofSession(sql, p, "entry")} AND entry.id = ${p.id}`),
);

/** Returns the state of a leaf; creates it at `start` if the session has none of this name. @throws {InvalidEntryError} the name is not valid. */
export async function openLeaf(
  database: PgDatabase,
  key: records.SessionKey,
  name: string,
  start: records.LeafState,
): Promise<records.LeafState> {
  return database.write(async (transaction) => {
    const session = await lockSession(transaction, key);
    const found = (await state.findLeafState(transaction, session, name))?.leaf;
    if (found !== undefined) return found;
    assertLeafName(name);
    return createLeaf(transaction, session, name, await pathAt(transaction, session, start.entryId));
  });
}

async function pathAt(transaction: Database, session: LockedSession, id: EntryId | null): Promise<PathState> {
  if (id === null) return EMPTY_PATH;
  const row = await transaction.get(stateById, { session: session.id, id });
  if (row === undefined) throw new EntryNotFoundError(session.id, id);
  return state.toPathState(row);
}

async function createLeaf(transaction: Database, session: LockedSession, name: string, path: PathState): Promise<state.PgLeafState> {
  await saveLeaves(transaction, session.id, new Map([[name, path.seq]]));
  return new state.PgLeafState(path, session);
}

/** Returns the state of a leaf of a session whose row is held; creates it at the position of `main` if it is missing. */
export async function openLockedLeaf(transaction: Database, session: LockedSession, name: string): Promise<state.PgLeafState> {
  const found = (await state.findLeafState(transaction, session, name))?.leaf;
  if (found !== undefined) return found;
  assertLeafName(name);
  const main = await state.readLeaf(transaction, session, records.MAIN_LEAF);
  return createLeaf(transaction, session, name, main.path);
}

/** SQL of the id of the entry with a number; NULL for NULL. */
function idAt(sql: Sql, p: Always & KeyParameters, seq: string): RawBuilder<unknown> {
  return sql`(SELECT id FROM ${entriesFrom(sql, p, "seq", sql.ref(seq))} AS entry)`;
}

const leafRows = pgQuery<KeyParameters, records.LeafRecord>(({ sql, p }) =>
  pgRaw(sql<records.LeafRecord>`
    SELECT leaf.name, ${idAt(sql, p, "leaf.entry_seq")} AS "entryId" FROM leaf
    WHERE ${ofSession(sql, p, "leaf")} AND ${sessionExists(sql, p)} ORDER BY leaf.name`),
);

/** Lists the leaves of a session by name. @throws {SessionNotFoundError} */
export async function listLeaves(database: PgDatabase, key: records.SessionKey): Promise<readonly records.LeafRecord[]> {
  return rowsOf(database, key, leafRows, {});
}

const removeLeaf = pgQuery<{ session: SessionId; name: string }>(({ sql, p }) =>
  pgRaw(sql`
    WITH dropped AS (UPDATE leaf_move SET state = 'dropped' WHERE ${ofSession(sql, p, "leaf_move")} AND leaf_name = ${p.name})
    DELETE FROM leaf WHERE ${ofSession(sql, p, "leaf")} AND name = ${p.name}`),
);

/** Deletes a leaf and its undo history; keeps its entries. @throws {SessionNotFoundError | LeafNotFoundError | MainLeafError} */
export async function deleteLeaf(database: PgDatabase, id: SessionId, name: string): Promise<void> {
  await database.write(async (transaction) => {
    await lockSession(transaction, id);
    if (name === records.MAIN_LEAF) throw new MainLeafError(id);
    if ((await transaction.run(removeLeaf, { session: id, name })) === 0) throw new LeafNotFoundError(id, name);
  });
}

interface MoveRow {
  readonly seq: number;
  readonly from_seq: EntrySeq | null;
  readonly resume_seq: EntrySeq | null;
}

const firstOf = (state: records.LeafMove["state"], order: "ASC" | "DESC") =>
  pgQuery<{ session: SessionId; name: string }, MoveRow>(({ sql, p }) =>
    pgRaw(sql<MoveRow>`
      SELECT seq, from_seq, resume_seq FROM leaf_move
      WHERE ${ofSession(sql, p, "leaf_move")} AND leaf_name = ${p.name} AND state = ${sql.lit(state)} ORDER BY seq ${sql.raw(order)} LIMIT 1`),
  );
const lastDone = firstOf("done", "DESC");
const lastUndone = firstOf("undone", "ASC");
const markUndone = pgQuery<{ session: SessionId; seq: number; resume: EntrySeq | null }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE leaf_move SET state = 'undone', resume_seq = ${p.resume}::integer WHERE ${ofSession(sql, p, "leaf_move")} AND seq = ${p.seq}`),
);
const markRedone = pgQuery<{ session: SessionId; seq: number; from: EntrySeq | null }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE leaf_move SET state = 'done', from_seq = ${p.from}::integer, resume_seq = NULL
    WHERE ${ofSession(sql, p, "leaf_move")} AND seq = ${p.seq}`),
);

/** Undoes the last move. Returns undefined if there is none. */
export async function undoMove(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.LeafState | undefined> {
  return database.write(async (transaction) => {
    const session = await lockSession(transaction, key);
    const move = await transaction.get(lastDone, { session: session.id, name });
    if (move === undefined) return undefined;
    // Entries appended since the move stay on their branch; a redo returns to the last of them.
    const { path } = await state.readLeaf(transaction, session, name);
    await transaction.run(markUndone, { session: session.id, seq: move.seq, resume: path.seq });
    return setLeaf(transaction, session, name, move.from_seq);
  });
}

/** Redoes the last undone move. Returns undefined if there is none. */
export async function redoMove(database: PgDatabase, key: records.SessionKey, name: string): Promise<records.LeafState | undefined> {
  return database.write(async (transaction) => {
    const session = await lockSession(transaction, key);
    const move = await transaction.get(lastUndone, { session: session.id, name });
    if (move === undefined) return undefined;
    const { path } = await state.readLeaf(transaction, session, name);
    await transaction.run(markRedone, { session: session.id, seq: move.seq, from: path.seq });
    return setLeaf(transaction, session, name, move.resume_seq);
  });
}

async function setLeaf(transaction: Database, session: LockedSession, name: string, seq: EntrySeq | null): Promise<records.LeafState> {
  await saveLeaves(transaction, session.id, new Map([[name, seq]]));
  return state.readLeaf(transaction, session, name);
}

const recentMoves = pgQuery<KeyParameters & { name: string; limit: number }, records.LeafMove>(({ sql, p }) =>
  pgRaw(sql<records.LeafMove>`
    SELECT ${idAt(sql, p, "move.from_seq")} AS "from", ${idAt(sql, p, "move.to_seq")} AS "to", move.moved_at_ms AS "movedAtMs", move.state
    FROM leaf_move AS move
    WHERE ${ofSession(sql, p, "move")} AND move.leaf_name = ${p.name} AND ${sessionExists(sql, p)}
    ORDER BY move.seq DESC LIMIT ${p.limit}`),
);

/** Lists the moves of a leaf, newest first. @throws {SessionNotFoundError} */
export async function listLeafMoves(
  database: PgDatabase,
  key: records.SessionKey,
  name: string,
  limit: number,
): Promise<readonly records.LeafMove[]> {
  return rowsOf(database, key, recentMoves, { name, limit: rowLimit(limit) });
}
