// Each entry whose depth is a multiple of 16 has a waypoint: a link to the entry 16, 256, 4,096 or 65,536 levels above it. A
// climb follows the waypoint unless it leads above the goal, and otherwise the parent. That takes about 30 steps for each
// power of 16 in the distance; a walk by parents takes one step for each entry.
import type { RawBuilder, Sql } from "kysely";
import { EntryNotFoundError, InvalidReferenceError } from "../../errors/session-errors.js";
import { type EntryId, type EntrySeq, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import { LeafState, type SessionRow } from "../../port/records.js";
import type { PathRange } from "../../port/session-storage.js";
import {
  COMPACTION,
  EDIT,
  type EditOf,
  EMPTY_PATH,
  type EntryPathState,
  type PathFacts,
  type PathState,
  SYSTEM,
} from "../../rules/derived-columns.js";
import { type FileOperation, type OperationRow, type ResultRow, type StoredFileTouch, withOutcomes } from "../../tools/file-operations.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import { findEntryId, findEntrySeq, requireEntrySeq } from "./entry-rows.js";

/** The numbers of levels that waypoints lead up, largest first. */
const STRIDES = [65_536, 4_096, 256, 16];

// Parents have lower row numbers, so the climb stops at the first row number that is not above the goal.
const climb = query<{ from: EntrySeq; to: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE up (seq, parent_seq) AS (
      SELECT seq, parent_seq FROM entry WHERE seq = ${p.from}
      UNION ALL
      SELECT above.seq, above.parent_seq
      FROM up LEFT JOIN entry_waypoint AS waypoint ON waypoint.entry_seq = up.seq AND waypoint.above_seq >= ${p.to}
        CROSS JOIN entry AS above ON above.seq = coalesce(waypoint.above_seq, up.parent_seq)
      WHERE up.seq > ${p.to} AND above.seq < up.seq)
    SELECT min(seq) AS seq FROM up`),
);

/** True if `ancestor` is `seq` or above it. Cost: logarithmic in the entries between them. */
export function isOnPath(connection: Connection, ancestor: EntrySeq, seq: EntrySeq | null): boolean {
  if (seq === null || ancestor > seq) return false;
  if (ancestor === seq) return true;
  return connection.get(climb, { from: seq, to: ancestor })?.seq === ancestor;
}

interface Step {
  readonly seq: EntrySeq;
  readonly parent: EntrySeq | null;
  readonly depth: number;
}

const stepAt = query<{ seq: EntrySeq }, Step>(({ db, p }) =>
  db.selectFrom("entry").select(["seq", "parent_seq as parent", "depth"]).where("seq", "=", p.seq),
);
const waypointOf = query<{ seq: EntrySeq }, { above: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry_waypoint").select("above_seq as above").where("entry_seq", "=", p.seq),
);

const climbToDepth = query<{ from: EntrySeq; depth: number }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    WITH RECURSIVE up (seq, parent_seq, depth) AS (
      SELECT seq, parent_seq, depth FROM entry WHERE seq = ${p.from}
      UNION ALL
      SELECT above.seq, above.parent_seq, above.depth
      FROM up CROSS JOIN entry AS above ON above.seq = coalesce(
        (SELECT goal.seq FROM entry_waypoint CROSS JOIN entry AS goal ON goal.seq = above_seq WHERE entry_seq = up.seq AND goal.depth >= ${p.depth}),
        up.parent_seq)
      WHERE up.depth > ${p.depth} AND above.seq < up.seq)
    SELECT seq FROM up WHERE depth = ${p.depth}`),
);

const insertWaypoint = query<{ entry: EntrySeq; above: EntrySeq }>(({ db, p }) =>
  db.insertInto("entry_waypoint").values({ entry_seq: p.entry, above_seq: p.above }),
);

/** The number of levels that the nearest waypoint leads up. */
export const SHORTEST_STRIDE = 16;

/**
 * Inserts the waypoint of a new entry if its depth has one. Call it inside `write`.
 *
 * @param nearest the entry 16 levels above, if it is known.
 */
export function addWaypoint(connection: Connection, seq: EntrySeq, parent: EntrySeq | null, depth: number, nearest?: EntrySeq): void {
  if (parent === null || depth % SHORTEST_STRIDE !== 0) return;
  const stride = STRIDES.find((one) => depth % one === 0) ?? SHORTEST_STRIDE;
  const known = stride === SHORTEST_STRIDE ? nearest : undefined;
  const above = known ?? connection.get(climbToDepth, { from: parent, depth: depth - stride })?.seq;
  // Undefined only if the path is damaged; climbs then follow parents.
  if (above !== undefined) connection.run(insertWaypoint, { entry: seq, above });
}

/** Returns the id of the deepest entry on the paths of both, or null. Call it inside `read`. @throws {EntryNotFoundError} */
export function findCommonAncestorId(connection: Connection, session: SessionRow, a: EntryId, b: EntryId): EntryId | null {
  const seq = findCommonAncestor(connection, requireEntrySeq(connection, session, a), requireEntrySeq(connection, session, b));
  return seq === null ? null : findEntryId(connection, seq);
}

/** Returns the deepest entry on both paths, or null. Cost: logarithmic in the entries between them. */
function findCommonAncestor(connection: Connection, one: EntrySeq, other: EntrySeq): EntrySeq | null {
  let [a, b] = [connection.get(stepAt, { seq: one }), connection.get(stepAt, { seq: other })];
  while (a !== undefined && b !== undefined && a.seq !== b.seq) {
    if (a.depth !== b.depth) {
      const [deeper, higher]: [Step, Step] = a.depth > b.depth ? [a, b] : [b, a];
      [a, b] = [stepUp(connection, deeper, higher.depth), higher];
      continue;
    }
    // Both are at the same depth, so their waypoints lead equally far up. If they lead to the same entry, a deeper common entry may exist.
    const [overA, overB]: [Step | undefined, Step | undefined] = [stepUp(connection, a, 0), stepUp(connection, b, 0)];
    const areDistinct = overA !== undefined && overB !== undefined && overA.seq !== overB.seq && overA.depth === overB.depth;
    [a, b] = areDistinct ? [overA, overB] : [parentOf(connection, a), parentOf(connection, b)];
  }
  return a !== undefined && a.seq === b?.seq ? a.seq : null;
}

/** Returns the waypoint unless it is above `depth`; else the parent. */
function stepUp(connection: Connection, from: Step, depth: number): Step | undefined {
  const above = from.depth % 16 === 0 ? connection.get(waypointOf, { seq: from.seq })?.above : undefined;
  const waypoint = above === undefined ? undefined : connection.get(stepAt, { seq: above });
  return waypoint !== undefined && waypoint.depth >= depth ? waypoint : parentOf(connection, from);
}

function parentOf(connection: Connection, { seq, parent }: Step): Step | undefined {
  // Only to a lower row number, so that the walk ends even if a damaged file has a cycle.
  return parent === null || parent >= seq ? undefined : connection.get(stepAt, { seq: parent });
}

// SQL of the walk from an entry to its parents, as the recursive table `up (seq, parent_seq)`. Each step goes to a lower row
// number, so that the walk ends even if a damaged file has a cycle. Arguments are row numbers or placeholders for them.

function walkUp(sql: Sql, from: unknown, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`up (seq, parent_seq) AS (
      SELECT seq, parent_seq FROM entry WHERE seq = ${from}
      UNION ALL
      SELECT entry.seq, entry.parent_seq FROM up JOIN entry ON entry.seq = up.parent_seq AND entry.seq < up.seq ${condition}
    )`;
}

/** Walks from `from` up to `last`, or to the next older entry if `last` is not on the path. */
export function walkUpTo(sql: Sql, from: unknown, last: unknown): RawBuilder<unknown> {
  return walkUp(sql, from, sql`WHERE up.seq > ${last}`);
}

/** Walks from `from` up while row numbers are above `limit`. */
export function walkUpAbove(sql: Sql, from: unknown, limit: unknown): RawBuilder<unknown> {
  return walkUp(sql, from, sql`WHERE entry.seq > ${limit}`);
}

const STATE_COLUMNS = [
  "id as entryId",
  "seq",
  "depth",
  "compaction_seq as compactionSeq",
  "model_seq as modelSeq",
  "thinking_seq as thinkingSeq",
  "system_seq as systemSeq",
] as const;

const stateBySeq = query<{ seq: EntrySeq }, EntryPathState>(({ db, p }) =>
  db.selectFrom("entry").select(STATE_COLUMNS).where("seq", "=", p.seq),
);
const stateById = query<{ session: SessionSeq; id: EntryId }, EntryPathState>(({ db, p }) =>
  db.selectFrom("entry").select(STATE_COLUMNS).where("session_seq", "=", p.session).where("id", "=", p.id),
);

/** Returns the path state at an entry; `EMPTY_PATH` for null. */
export function readPathState(connection: Connection, seq: EntrySeq | null): PathState {
  return (seq === null ? undefined : connection.get(stateBySeq, { seq })) ?? EMPTY_PATH;
}

/** Returns the path state at the entry of this id. @throws {EntryNotFoundError} */
export function requirePathState(connection: Connection, session: SessionRow, id: EntryId): EntryPathState {
  const state = connection.get(stateById, { session: session.seq, id });
  if (state === undefined) throw new EntryNotFoundError(session.id, id);
  return state;
}

const kindRow = query<{ seq: EntrySeq; kind: number }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("seq", "=", p.seq).where("kind", "=", p.kind),
);

// The partial index `entry_marks` has the entries of these kinds. SQLite uses it only for a number that is part of the statement.

// Newest first.
const systemsUpTo = query<{ from: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.from}) AND kind = ${sql.lit(SYSTEM)} AND seq <= ${p.from}
    ORDER BY seq DESC`),
);

const compactionsAbove = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.seq}) AND kind = ${sql.lit(COMPACTION)} AND seq < ${p.seq} ORDER BY seq DESC`),
);

// Newest first.
const editsOf = query<{ target: EntrySeq }, { seq: EntrySeq; omits: number }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq; omits: number }>`
    SELECT seq, omits FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.target}) AND kind = ${sql.lit(EDIT)}
      AND seq > ${p.target} AND target_seq = ${p.target}
    ORDER BY seq DESC`),
);

/** The entries of a session, as the rules of a path ask about them. Each answer is a query. */
export class StoredPathFacts implements PathFacts {
  readonly #connection: Connection;
  readonly #session: SessionSeq;

  constructor(connection: Connection, session: SessionSeq) {
    this.#connection = connection;
    this.#session = session;
  }

  find(id: EntryId): EntrySeq | undefined {
    return findEntrySeq(this.#connection, this.#session, id);
  }

  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean {
    return isOnPath(this.#connection, ancestor, seq);
  }

  isKind(seq: EntrySeq, kind: number): boolean {
    return this.#connection.get(kindRow, { seq, kind }) !== undefined;
  }

  systemsUpTo(seq: EntrySeq): readonly EntrySeq[] {
    return this.#connection.all(systemsUpTo, { from: seq }).map((row) => row.seq);
  }

  compactionsBefore(seq: EntrySeq): readonly EntrySeq[] {
    return this.#connection.all(compactionsAbove, { seq }).map((row) => row.seq);
  }

  editsOf(target: EntrySeq): readonly EditOf[] {
    return this.#connection.all(editsOf, { target }).map(({ seq, omits }) => ({ seq, omits: omits === 1 }));
  }
}

/** The path state of a leaf's entry, and its session. An append that receives it needs no query for either. */
export class FileLeafState extends LeafState {
  readonly path: PathState;
  readonly session: SessionRow;

  constructor(path: PathState, session: SessionRow) {
    super();
    this.path = path;
    this.session = session;
  }

  get entryId(): EntryId | null {
    return this.path.entryId;
  }
}

const operationsOnPath = query<{ from: EntrySeq; to: EntrySeq }, OperationRow>(({ sql, p }) =>
  rawQuery(sql<OperationRow>`
    WITH RECURSIVE ${walkUpTo(sql, p.to, p.from)}
    SELECT entry_seq, tool_call_id, file_operation.kind, path, nested, entry.id AS entry_id
    FROM up CROSS JOIN file_operation ON entry_seq = up.seq CROSS JOIN entry ON entry.seq = up.seq
    ORDER BY entry_seq, ordinal`),
);

const resultsOnPath = query<{ from: EntrySeq; to: EntrySeq }, ResultRow>(({ sql, p }) =>
  rawQuery(sql<ResultRow>`
    WITH RECURSIVE ${walkUpTo(sql, p.to, p.from)}
    SELECT entry.seq, call_id, is_error AS failed
    FROM up CROSS JOIN entry ON entry.seq = up.seq WHERE role = 'toolResult' ORDER BY entry.seq DESC`),
);

/**
 * Reads the file operations between two entries of one path, both included, oldest first. Call it inside `read`. Cost: the entries between them.
 *
 * @throws {EntryNotFoundError | InvalidReferenceError} an id is unknown; `fromId` is not on the path of `toId`.
 */
export function readFileOperations(connection: Connection, session: SessionRow, { fromId, toId }: PathRange): readonly FileOperation[] {
  const to = requireEntrySeq(connection, session, toId);
  const from = fromId === undefined ? toEntrySeq(0) : requireEntrySeq(connection, session, fromId);
  if (fromId !== undefined && !isOnPath(connection, from, to))
    throw new InvalidReferenceError("fromId", fromId, `is not on the path of ${toId}`);
  return withOutcomes(connection.all(operationsOnPath, { from, to }), connection.all(resultsOnPath, { from, to }));
}

interface TouchRow extends Omit<StoredFileTouch, "isCopy"> {
  readonly copied: 0 | 1;
}

const touchesOfPaths = query<{ paths: string }, TouchRow>(({ sql, p }) =>
  rawQuery(sql<TouchRow>`
    SELECT session.id AS sessionId, session.cwd, entry.id AS entryId, tool_call_id AS toolCallId, file_operation.kind, file_operation.path,
      entry.created_at_ms AS createdAtMs, entry.inherited AS copied
    FROM json_each(${p.paths}) AS given CROSS JOIN file_operation ON file_operation.path = given.value
      CROSS JOIN entry ON entry.seq = entry_seq CROSS JOIN session ON session.seq = entry.session_seq
    ORDER BY entry.created_at_ms, entry.inherited, session.id, entry.seq, ordinal`),
);

/** Reads the calls of all sessions that name one of these paths, oldest first. Cost: a pass over the table of operations. */
export function readFileTouches(connection: Connection, paths: readonly string[]): readonly StoredFileTouch[] {
  const rows = connection.all(touchesOfPaths, { paths: JSON.stringify([...new Set(paths)]) });
  return rows.map(({ copied, ...touch }) => ({ ...touch, isCopy: copied === 1 }));
}
