import {
  type EntryId,
  type EntryPayload,
  type EntryType,
  LeafNotFoundError,
  type SessionId,
  SessionNotFoundError,
} from "@bough/session-core";
import {
  COMPACTION,
  EDIT,
  EMPTY_PATH,
  type EntrySeq,
  LeafState,
  type PathState,
  type SessionKey,
  type SessionSeq,
  SYSTEM,
  toEntryKind,
  type ValidatedWrite,
} from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import { entriesFrom, joinEntries } from "./entries.js";
import { pgQuery, pgRaw } from "./query.js";
import { type KeyParameters, keyParameters, ofSession } from "./session-key.js";

/** The state of a session that an append reads. */
export interface SessionState {
  /** Tells apart sessions with the same id. */
  readonly seq: SessionSeq;
  /** The number of its newest entry; 0: none. */
  readonly lastSeq: number;
  readonly cwd: string | null;
  readonly firstText: string | null;
}

/** The path state of a leaf's entry, and the state of its session. An append that receives it reads neither. */
export class PgLeafState extends LeafState {
  readonly path: PathState;
  readonly session: SessionState;

  constructor(path: PathState, session: SessionState) {
    super();
    this.path = path;
    this.session = session;
  }

  get entryId(): EntryId | null {
    return this.path.entryId;
  }
}

/** The columns of the path state at an entry; all are null before the first entry. */
export interface StateRow {
  readonly id: EntryId | null;
  readonly seq: EntrySeq | null;
  readonly depth: number | null;
  readonly compaction_seq: EntrySeq | null;
  readonly model_seq: EntrySeq | null;
  readonly thinking_seq: EntrySeq | null;
  readonly system_seq: EntrySeq | null;
}

/** SQL of the columns of a `StateRow`, of the table, or its alias, with this name. */
export function stateColumns(sql: Sql, table: string): RawBuilder<unknown> {
  const names = ["id", "seq", "depth", "compaction_seq", "model_seq", "thinking_seq", "system_seq"];
  return sql.join(names.map((name) => sql.ref(`${table}.${name}`)));
}

/** The path state that a row describes. */
export function toPathState({ id, seq, depth, ...row }: StateRow): PathState {
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
  readonly session_seq: SessionSeq;
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
      LEFT JOIN LATERAL ${entriesFrom(sql, p, "seq", sql`leaf.entry_seq`)} AS entry ON TRUE
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

/** A session whose row this transaction holds, so that no other writer changes it or its entries, leaves and values. */
export interface LockedSession extends SessionState {
  readonly id: SessionId;
}

const lock = pgQuery<KeyParameters, LockedSession>(({ sql, p }) =>
  pgRaw(sql<LockedSession>`
    SELECT session_id AS id, seq, last_seq AS "lastSeq", cwd, first_text AS "firstText" FROM session
    WHERE ${ofSession(sql, p, "session")} AND seq = coalesce(${p.sessionSeq}::bigint, seq) FOR NO KEY UPDATE`),
);

/** Locks the row of a session until the end of the transaction. @throws {SessionNotFoundError} */
export async function lockSession(transaction: Database, key: SessionKey): Promise<LockedSession> {
  const parameters = keyParameters(key);
  const row = await transaction.get(lock, parameters);
  if (row === undefined) throw new SessionNotFoundError(parameters.session);
  return row;
}

/** An entry that a batch refers to. */
export interface EntryFact extends StateRow {
  readonly seq: EntrySeq;
  readonly id: EntryId;
  readonly parentSeq: EntrySeq | null;
  readonly kind: number;
  /** The payload without its type; read only of an entry that the batch writes again. */
  readonly payload: string | null;
}

/** A system message, a compaction or a context_edit of the session. */
export interface MarkFact {
  readonly seq: EntrySeq;
  readonly kind: number;
  /** The entry that an edit edits. */
  readonly targetSeq: EntrySeq | null;
  readonly omits: boolean;
}

/** A run of the session: see schema.ts. */
export interface RunFact {
  readonly start: EntrySeq;
  readonly parent: EntrySeq | null;
}

/** The facts of a session that a batch needs. */
export interface Facts {
  readonly leaves: ReadonlyMap<string, EntrySeq | null>;
  readonly entries: readonly EntryFact[];
  /** By their first entries, ascending; only if the batch needs paths. */
  readonly runs: readonly RunFact[];
  /** Ascending; only if the batch edits entries. */
  readonly marks: readonly MarkFact[];
  /** JSON texts by key. */
  readonly values: ReadonlyMap<string, string>;
}

/** The facts to read. */
export interface Wanted {
  readonly leaves: readonly string[];
  readonly ids: readonly string[];
  /** Ids of entries that the batch writes: if one exists, its payload is compared. */
  readonly written: readonly string[];
  readonly values: readonly string[];
  readonly needsRuns: boolean;
  readonly needsMarks: boolean;
}

/** The facts that writes refer to. */
export function factsWanted(leafName: string, writes: readonly ValidatedWrite[]): Wanted {
  const moves = writes.filter((write) => write.kind === "moveLeaf");
  const entries = writes.filter((write) => write.kind === "entry");
  const edits = entries.some(({ entry }) => entry.payload.type === "context_edit");
  const leaves = [leafName, ...moves.flatMap(({ leaf }) => leaf ?? [])];
  const ids = [
    ...moves.map(({ to }) => to),
    ...entries.flatMap(({ parentId, entry }) => [parentId, ...referencesOf(entry.payload)]),
    ...writes.map((write) => (write.kind === "label" ? write.entryId : null)),
  ];
  return {
    leaves: [...new Set(leaves)],
    ids: [...new Set(ids.filter((id) => typeof id === "string"))],
    written: [...new Set(entries.flatMap(({ entry }) => entry.id ?? []))],
    values: [...new Set(writes.flatMap((write) => (write.kind === "value" && "ifEquals" in write ? [write.key.toWellFormed()] : [])))],
    needsRuns: edits || entries.some(({ entry: { payload } }) => payload.type === "compaction" && payload.firstKeptEntryId !== null),
    needsMarks: edits,
  };
}

/** The ids of the entries that an entry refers to. */
export function referencesOf(payload: EntryPayload): readonly EntryId[] {
  if (payload.type === "compaction") return payload.firstKeptEntryId === null ? [] : [payload.firstKeptEntryId];
  if (payload.type === "context_edit") return [payload.targetId];
  if (payload.type === "branch_summary") return payload.fromId === null ? [] : [payload.fromId];
  return [];
}

interface FactRow extends StateRow {
  readonly what: "leaf" | "entry" | "run" | "mark" | "value";
  /** Of a leaf its name, of a value its key. */
  readonly name: string | null;
  /** Of an entry its payload, of a value its JSON. */
  readonly text: string | null;
  readonly parent_seq: EntrySeq | null;
  readonly kind: number | null;
  readonly target_seq: EntrySeq | null;
  readonly omits: boolean | null;
}

type FactParameters = Omit<Wanted, "ids"> & { readonly ids: readonly string[]; readonly session: SessionId };

// One statement for all facts. Every part reads by a key of the session; a part that the batch does not need reads nothing.
const factRows = pgQuery<FactParameters, FactRow>(({ sql, p }) => {
  const entry = sql`${stateColumns(sql, "entry")}, entry.parent_seq, entry.kind::integer, entry.target_seq, entry.omits`;
  const noState = sql`NULL::integer, NULL::integer, NULL::integer, NULL::integer, NULL::integer`;
  return pgRaw(sql<FactRow>`
    SELECT 'leaf' AS what, leaf.name, NULL::text AS text, ${entry} FROM leaf
      LEFT JOIN LATERAL ${entriesFrom(sql, p, "seq", sql`leaf.entry_seq`)} AS entry ON TRUE
      WHERE ${ofSession(sql, p, "leaf")} AND leaf.name = ANY(${p.leaves}::text[])
    UNION ALL
    SELECT 'entry', NULL, CASE WHEN entry.id = ANY(${p.written}::text[]) THEN entry.payload END, ${entry}
      FROM (SELECT DISTINCT unnest(${p.ids}::text[] || ${p.written}::text[]) AS id) AS wanted ${joinEntries(sql, p, "id", sql`wanted.id`)}
    UNION ALL
    SELECT 'run', NULL, NULL, NULL, run.start_seq, ${noState}, run.parent_seq, NULL::integer, NULL::integer, NULL::boolean FROM run
      WHERE ${ofSession(sql, p, "run")} AND (${p.needsRuns}::boolean OR EXISTS (
        SELECT 1 FROM unnest(${p.written}::text[]) AS wanted (id) ${joinEntries(sql, p, "id", sql`wanted.id`)}))
    UNION ALL
    SELECT 'mark', NULL, NULL, ${entry} FROM entry
      WHERE ${p.needsMarks}::boolean AND ${ofSession(sql, p, "entry")}
        AND (entry.kind = ${sql.lit(SYSTEM)} OR entry.kind = ${sql.lit(COMPACTION)} OR entry.kind = ${sql.lit(EDIT)})
    UNION ALL
    SELECT 'value', value.key, value.value_json, NULL, NULL::integer, ${noState}, NULL::integer, NULL::integer, NULL::integer, NULL::boolean
      FROM value WHERE ${ofSession(sql, p, "value")} AND value.key = ANY(${p.values}::text[])`);
});

/** Reads the facts that a batch refers to. Call it after `lockSession`, so that they stay as they are. One statement. */
export async function readFacts(transaction: Database, session: SessionId, wanted: Wanted): Promise<Facts> {
  const leaves = new Map<string, EntrySeq | null>();
  const entries: EntryFact[] = [];
  const runs: RunFact[] = [];
  const marks: MarkFact[] = [];
  const values = new Map<string, string>();
  for (const row of await transaction.all(factRows, { ...wanted, session })) {
    const { name, seq } = row;
    if (row.what === "leaf" && name !== null) leaves.set(name, seq);
    if (row.what === "value" && name !== null) values.set(name, row.text ?? "");
    if (seq === null) continue;
    if (row.what === "run") runs.push({ start: seq, parent: row.parent_seq });
    if (row.what === "mark") marks.push({ seq, kind: row.kind ?? 0, targetSeq: row.target_seq, omits: row.omits === true });
    if (row.what === "leaf" || row.what === "entry") entries.push(toEntryFact(row, seq));
  }
  return { leaves, entries, runs: runs.sort((a, b) => a.start - b.start), marks: marks.sort((a, b) => a.seq - b.seq), values };
}

function toEntryFact(row: FactRow, seq: EntrySeq): EntryFact {
  return { ...row, seq, id: row.id ?? "", parentSeq: row.parent_seq, kind: row.kind ?? 0, payload: row.text };
}

/** The type of an entry by the number of its kind. */
export function typeOf(kind: number): EntryType {
  return toEntryKind(kind).type;
}
