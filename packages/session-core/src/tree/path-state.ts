import type { CompactionPayload, ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { toKindNumber } from "../entry/kinds.js";
import type { Message } from "../entry/message.js";
import { EntryNotFoundError, InvalidReferenceError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { LeafState } from "../port/records.js";
import type { SessionRef } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { query, rawQuery } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import { isOnPath } from "./ancestry.js";
import { findEntrySeq } from "./entry-rows.js";

/**
 * The state of a path at its last entry: which compaction, model, thinking level and system message apply there. Each entry
 * stores it, so that neither an append nor a context has to walk the path for it.
 */
export interface PathState extends LeafState {
  readonly entryId: EntryId | null;
  readonly seq: EntrySeq | null;
  /** The number of entries above it; -1 before the first entry. */
  readonly depth: number;
  readonly compactionSeq: EntrySeq | null;
  readonly modelSeq: EntrySeq | null;
  readonly thinkingSeq: EntrySeq | null;
  readonly systemSeq: EntrySeq | null;
}

/** The state of a path that ends at an entry. */
export type EntryPathState = PathState & { readonly entryId: EntryId; readonly seq: EntrySeq };

/** The state before the first entry. */
export const EMPTY_PATH: PathState = {
  entryId: null,
  seq: null,
  depth: -1,
  compactionSeq: null,
  modelSeq: null,
  thinkingSeq: null,
  systemSeq: null,
};

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
export function requirePathState(connection: Connection, session: SessionRef, id: EntryId): EntryPathState {
  const state = connection.get(stateById, { session: session.seq, id });
  if (state === undefined) throw new EntryNotFoundError(session.id, id);
  return state;
}

/** The session in which references of an entry are resolved. */
interface EntryScope {
  readonly connection: Connection;
  readonly session: SessionSeq;
}

/** The path state at a new entry, and the row of the entry that it refers to: the first kept one or the edited one. */
export interface DerivedState {
  readonly state: EntryPathState;
  readonly targetSeq: EntrySeq | null;
}

/**
 * Computes the path state at a new entry below `parent`.
 *
 * @throws {InvalidReferenceError} the entry refers to an entry that is not on its path or not in its session.
 */
export function derivePathState(scope: EntryScope, parent: PathState, id: string, seq: EntrySeq, payload: EntryPayload): DerivedState {
  const { compactionSeq, modelSeq, thinkingSeq, systemSeq } = parent;
  const next = { entryId: id, seq, depth: parent.depth + 1, compactionSeq, modelSeq, thinkingSeq, systemSeq };
  switch (payload.type) {
    case "message":
      return { state: afterMessage(next, payload.message), targetSeq: null };
    case "compaction":
      return { state: { ...next, compactionSeq: seq }, targetSeq: resolveFirstKept(scope, parent, payload) };
    case "context_edit":
      return derivedFromEdit(scope, parent, next, payload);
    case "model_change":
      return { state: { ...next, modelSeq: seq }, targetSeq: null };
    case "thinking_level_change":
      return { state: { ...next, thinkingSeq: seq }, targetSeq: null };
    case "branch_summary":
      if (payload.fromId !== null) requireEntry(scope, "fromId", payload.fromId);
      return { state: next, targetSeq: null };
    case "custom_message":
    case "custom":
    case "foreign":
      return { state: next, targetSeq: null };
  }
}

// A reply that names its model sets the model, as a model_change does, so that imported sessions without a model_change have one.
function afterMessage(state: EntryPathState, message: Message): EntryPathState {
  if (message.role === "system") return { ...state, systemSeq: state.seq };
  return message.role === "assistant" && message.model !== undefined ? { ...state, modelSeq: state.seq } : state;
}

function requireEntry({ connection, session }: EntryScope, field: string, id: string): EntrySeq {
  const seq = findEntrySeq(connection, session, id);
  if (seq === undefined) throw new InvalidReferenceError(field, id, "is no entry of this session");
  return seq;
}

function requireEntryOnPath(scope: EntryScope, parent: PathState, field: string, id: string): EntrySeq {
  const seq = requireEntry(scope, field, id);
  if (!isOnPath(scope.connection, seq, parent.seq)) throw new InvalidReferenceError(field, id, "is not on the path of this entry");
  return seq;
}

function resolveFirstKept(scope: EntryScope, parent: PathState, payload: CompactionPayload): EntrySeq | null {
  if (payload.firstKeptEntryId === null) return null;
  return requireEntryOnPath(scope, parent, "firstKeptEntryId", payload.firstKeptEntryId);
}

/** Which compaction and system message apply below an edit. */
function derivedFromEdit(scope: EntryScope, parent: PathState, next: EntryPathState, edit: ContextEditPayload): DerivedState {
  const target = requireEntryOnPath(scope, parent, "targetId", edit.targetId);
  const compactionSeq = compactionAfterEdit(scope.connection, parent, target, edit);
  const systemSeq = systemAfterEdit(scope.connection, parent, next.seq, target, edit);
  return { state: { ...next, compactionSeq, systemSeq }, targetSeq: target };
}

const systemRow = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("seq", "=", p.seq).where("role", "=", "system"),
);

// The partial index `entry_marks` has the entries of these kinds. SQLite uses it only for a number that is part of the statement.
const SYSTEM = toKindNumber("message", "system");
const COMPACTION = toKindNumber("compaction", null);
const EDIT = toKindNumber("context_edit", null);

// Newest first.
const systemsUpTo = query<{ from: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.from}) AND kind = ${sql.lit(SYSTEM)} AND seq <= ${p.from}
    ORDER BY seq DESC`),
);

/** Returns the newest system message that is not omitted, or the edit that replaces it. */
function systemAfterEdit(
  connection: Connection,
  parent: PathState,
  seq: EntrySeq,
  target: EntrySeq,
  edit: ContextEditPayload,
): EntrySeq | null {
  if (parent.seq === null || connection.get(systemRow, { seq: target }) === undefined) return parent.systemSeq;
  for (const system of connection.all(systemsUpTo, { from: parent.seq })) {
    if (!isOnPath(connection, system.seq, parent.seq)) continue;
    const last = system.seq === target ? { seq, omits: edit.replacement === null } : findLastEdit(connection, system.seq, parent);
    if (last === undefined) return system.seq;
    if (!last.omits) return last.seq;
  }
  return null;
}

/**
 * Returns the compaction in force after an edit. Omitting the one in force restores the newest earlier one that is not
 * omitted; replacing an omitted one restores it. Edits of other entries change nothing.
 */
function compactionAfterEdit(connection: Connection, parent: PathState, target: EntrySeq, edit: ContextEditPayload): EntrySeq | null {
  const inForce = parent.compactionSeq;
  if (edit.replacement === null) return target === inForce ? findCompactionBefore(connection, target, parent) : inForce;
  return connection.get(compactionRow, { seq: target }) !== undefined && target > (inForce ?? 0) ? target : inForce;
}

const compactionRow = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("seq", "=", p.seq).where("type", "=", "compaction"),
);

// Not the `compaction_seq` of the parent: a compaction omitted at that time may have been restored since.
const compactionsAbove = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.seq}) AND kind = ${sql.lit(COMPACTION)} AND seq < ${p.seq} ORDER BY seq DESC`),
);

function findCompactionBefore(connection: Connection, compaction: EntrySeq, path: PathState): EntrySeq | null {
  const above = connection.all(compactionsAbove, { seq: compaction });
  return above.find(({ seq }) => isOnPath(connection, seq, compaction) && !isOmitted(connection, seq, path))?.seq ?? null;
}

// Newest first.
const editsOf = query<{ target: EntrySeq }, { seq: EntrySeq; omits: number }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq; omits: number }>`
    SELECT seq, omits FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.target}) AND kind = ${sql.lit(EDIT)}
      AND seq > ${p.target} AND target_seq = ${p.target}
    ORDER BY seq DESC`),
);

function isOmitted(connection: Connection, target: EntrySeq, path: PathState): boolean {
  return findLastEdit(connection, target, path)?.omits ?? false;
}

/** Returns the last edit of an entry on the path of `path`. */
function findLastEdit(
  connection: Connection,
  target: EntrySeq,
  path: PathState,
): { readonly seq: EntrySeq; readonly omits: boolean } | undefined {
  const edit = connection.all(editsOf, { target }).find(({ seq }) => isOnPath(connection, seq, path.seq));
  return edit && { seq: edit.seq, omits: edit.omits === 1 };
}
