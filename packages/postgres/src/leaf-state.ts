import { type EntryId, LeafNotFoundError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import { EMPTY_PATH, type LeafState, type PathState, type SessionKey } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import { pgQuery, pgRaw } from "./query.js";
import { type KeyParameters, keyParameters, ofSession } from "./session-key.js";

/** The state of a session that an append reads. */
export interface SessionState {
  /** Tells apart sessions with the same id. */
  readonly seq: number;
  /** The number of its newest entry; 0: none. */
  readonly lastSeq: number;
  readonly cwd: string | null;
  readonly firstText: string | null;
}

/** The leaf state that a handle holds: the path state of its entry and the state of its session. An append that receives it reads neither. */
export class PgLeafState implements LeafState {
  readonly path: PathState<number>;
  readonly session: SessionState;

  constructor(path: PathState<number>, session: SessionState) {
    this.path = path;
    this.session = session;
  }

  get entryId(): EntryId | null {
    return this.path.entryId;
  }

  get seq(): number | null {
    return this.path.seq;
  }
}

/** The columns of the path state at an entry; all are null before the first entry. */
export interface StateRow {
  readonly id: EntryId | null;
  readonly seq: number | null;
  readonly depth: number | null;
  readonly compaction_seq: number | null;
  readonly model_seq: number | null;
  readonly thinking_seq: number | null;
  readonly system_seq: number | null;
}

/** SQL of the columns of a `StateRow`, of the table, or its alias, with this name. */
export function stateColumns(sql: Sql, table: string): RawBuilder<unknown> {
  const names = ["id", "seq", "depth", "compaction_seq", "model_seq", "thinking_seq", "system_seq"];
  return sql.join(names.map((name) => sql.ref(`${table}.${name}`)));
}

/** The path state that a row describes. */
export function toPathState({ id, seq, depth, ...row }: StateRow): PathState<number> {
  if (id === null || seq === null || depth === null) return EMPTY_PATH;
  return {
    entryId: id,
    seq,
    depth,
    compactionSeq: row.compaction_seq,
    modelSeq: row.model_seq,
    thinkingSeq: row.thinking_seq,
    systemSeq: row.system_seq,
  };
}

interface FoundLeaf extends StateRow {
  readonly session_seq: number;
  readonly last_seq: number;
  readonly cwd: string | null;
  readonly first_text: string | null;
  readonly has_leaf: boolean;
}

const leafOf = pgQuery<KeyParameters & { name: string }, FoundLeaf>(({ sql, p }) =>
  pgRaw(sql<FoundLeaf>`
    SELECT session.seq AS session_seq, session.last_seq, session.cwd, session.first_text, leaf.name IS NOT NULL AS has_leaf, ${stateColumns(sql, "entry")}
    FROM session
      LEFT JOIN leaf ON ${ofSession(sql, p, "leaf")} AND leaf.name = ${p.name}
      LEFT JOIN entry ON ${ofSession(sql, p, "entry")} AND entry.seq = leaf.entry_seq
    WHERE ${ofSession(sql, p, "session")} AND session.seq = coalesce(${p.sessionSeq}::bigint, session.seq)`),
);

/** The state of a session and of one of its leaves; `leaf: undefined`: it has none of this name; undefined: no session. One statement. */
export async function findLeafState(
  database: Database,
  key: SessionKey,
  name: string,
): Promise<{ readonly session: SessionState; readonly leaf: PgLeafState | undefined } | undefined> {
  const row = await database.get(leafOf, { ...keyParameters(key), name });
  if (row === undefined) return undefined;
  const session = { seq: row.session_seq, lastSeq: row.last_seq, cwd: row.cwd, firstText: row.first_text };
  return { session, leaf: row.has_leaf ? new PgLeafState(toPathState(row), session) : undefined };
}

/** Reads the state of a leaf. @throws {SessionNotFoundError | LeafNotFoundError} */
export async function readLeaf(database: Database, key: SessionKey, name: string): Promise<PgLeafState> {
  const found = await findLeafState(database, key, name);
  const id: SessionId = keyParameters(key).session;
  if (found === undefined) throw new SessionNotFoundError(id);
  if (found.leaf === undefined) throw new LeafNotFoundError(id, name);
  return found.leaf;
}
