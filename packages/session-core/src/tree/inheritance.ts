import type { CompactionPayload, ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { InvalidReferenceError } from "../errors/session-errors.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import { isOnPath } from "./ancestry.js";
import { findEntrySeq, type Tip } from "./entry-rows.js";

/** Where an entry is written. */
export interface Where {
  readonly connection: Connection;
  readonly session: SessionSeq;
}

/** What an entry adds to what it inherits. */
export interface Inheritance {
  readonly tip: Tip & { readonly seq: EntrySeq };
  /** Of a compaction: the first entry it kept. */
  readonly firstKeptSeq: EntrySeq | null;
}

/**
 * What a new entry under `parent` stands for and passes on. This is why a context costs one bounded walk: each entry
 * knows the compaction, the model, the thinking level and the system message that count at it.
 *
 * @throws {InvalidReferenceError} the entry refers to one that is not on its path or not in its session.
 */
export function inherit(where: Where, parent: Tip, id: string, seq: EntrySeq, payload: EntryPayload): Inheritance {
  const tip = { ...parent, entryId: id, seq, depth: parent.depth + 1 };
  switch (payload.type) {
    case "message":
      return { tip: { ...tip, ...messageSettings(payload.message, seq) }, firstKeptSeq: null };
    case "compaction":
      return { tip: { ...tip, compactionSeq: seq }, firstKeptSeq: firstKept(where, parent, payload) };
    case "context_edit":
      return { tip: { ...tip, ...settingsAfterEdit(where, parent, seq, payload) }, firstKeptSeq: null };
    case "model_change":
      return { tip: { ...tip, modelSeq: seq }, firstKeptSeq: null };
    case "thinking_level_change":
      return { tip: { ...tip, thinkingSeq: seq }, firstKeptSeq: null };
    case "branch_summary":
      if (payload.fromId !== null) referred(where, "fromId", payload.fromId);
      return { tip, firstKeptSeq: null };
    case "custom_message":
    case "custom":
    case "foreign":
      return { tip, firstKeptSeq: null };
  }
}

// A reply that names its model sets it, as a model_change does (pi's rule): a session without one still has a model.
function messageSettings(
  message: Extract<EntryPayload, { type: "message" }>["message"],
  seq: EntrySeq,
): { readonly systemSeq?: EntrySeq; readonly modelSeq?: EntrySeq } {
  if (message.role === "system") return { systemSeq: seq };
  return message.role === "assistant" && message.model !== undefined ? { modelSeq: seq } : {};
}

function referred({ connection, session }: Where, field: string, id: string): EntrySeq {
  const seq = findEntrySeq(connection, session, id);
  if (seq === undefined) throw new InvalidReferenceError(field, id, "is no entry of this session");
  return seq;
}

function referredOnPath(where: Where, parent: Tip, field: string, id: string): EntrySeq {
  const seq = referred(where, field, id);
  if (!isOnPath(where.connection, seq, parent.seq)) throw new InvalidReferenceError(field, id, "is not on the path of this entry");
  return seq;
}

function firstKept(where: Where, parent: Tip, payload: CompactionPayload): EntrySeq | null {
  if (payload.firstKeptEntryId === null) return null;
  return referredOnPath(where, parent, "firstKeptEntryId", payload.firstKeptEntryId);
}

/** What an edit changes for the entries below it, beside how its target appears. */
function settingsAfterEdit(where: Where, parent: Tip, seq: EntrySeq, edit: ContextEditPayload): Pick<Tip, "compactionSeq" | "systemSeq"> {
  const target = referredOnPath(where, parent, "targetId", edit.targetId);
  return {
    compactionSeq: compactionAfterEdit(where.connection, parent, target, edit),
    systemSeq: systemAfterEdit(where.connection, parent, seq, target, edit),
  };
}

const systemRow = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("seq", "=", p.seq).where("role", "=", "system"),
);

// The system messages of the session, newest first: by the index of marks, whose condition has to stand here word for word.
const systemsUpTo = query<{ from: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.from}) AND type = 'message' AND role = 'system' AND seq <= ${p.from}
    ORDER BY seq DESC`),
);

/** The newest system message that is not omitted; where an edit replaces it, the edit stands for it. */
function systemAfterEdit(connection: Connection, parent: Tip, seq: EntrySeq, target: EntrySeq, edit: ContextEditPayload): EntrySeq | null {
  if (parent.seq === null || connection.get(systemRow, { seq: target }) === undefined) return parent.systemSeq;
  for (const system of connection.all(systemsUpTo, { from: parent.seq })) {
    if (!isOnPath(connection, system.seq, parent.seq)) continue;
    const last = system.seq === target ? { seq, omits: edit.replacement === null } : lastEdit(connection, system.seq, parent);
    if (last === undefined) return system.seq;
    if (!last.omits) return last.seq;
  }
  return null;
}

/**
 * Omitting the compaction that counts brings back the one before it that is not omitted itself; giving an omitted one a
 * replacement brings it back. An edit of anything else changes no compaction.
 */
function compactionAfterEdit(connection: Connection, parent: Tip, target: EntrySeq, edit: ContextEditPayload): EntrySeq | null {
  const inForce = parent.compactionSeq;
  if (edit.replacement === null) return target === inForce ? compactionBefore(connection, target, parent) : inForce;
  return connection.get(compactionRow, { seq: target }) !== undefined && target > (inForce ?? 0) ? target : inForce;
}

const compactionRow = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("seq", "=", p.seq).where("type", "=", "compaction"),
);

// Not what was in force above it at the time: one that was omitted then may have been brought back since.
const compactionsAbove = query<{ seq: EntrySeq }, { seq: EntrySeq }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq }>`
    SELECT seq FROM entry INDEXED BY entry_marks
    WHERE session_seq = (SELECT session_seq FROM entry WHERE seq = ${p.seq}) AND type = 'compaction' AND role IS NULL AND seq < ${p.seq} ORDER BY seq DESC`),
);

function compactionBefore(connection: Connection, compaction: EntrySeq, tip: Tip): EntrySeq | null {
  const above = connection.all(compactionsAbove, { seq: compaction });
  return above.find(({ seq }) => isOnPath(connection, seq, compaction) && !isOmitted(connection, seq, tip))?.seq ?? null;
}

// The session's edits after the target, newest first: by the index of marks, whose condition has to stand here word for word.
// A row is read for each, because the id of what it edits stands in its payload.
const editsOf = query<{ target: EntrySeq }, { seq: EntrySeq; omits: number }>(({ sql, p }) =>
  plain(sql<{ seq: EntrySeq; omits: number }>`
    SELECT edit.seq, edit.payload_json ->> 'replacement' IS NULL AS omits
    FROM entry AS target CROSS JOIN entry AS edit INDEXED BY entry_marks ON edit.session_seq = target.session_seq
    WHERE target.seq = ${p.target} AND edit.type = 'context_edit' AND edit.role IS NULL AND edit.seq > ${p.target}
      AND edit.payload_json ->> 'targetId' = target.id
    ORDER BY edit.seq DESC`),
);

function isOmitted(connection: Connection, target: EntrySeq, tip: Tip): boolean {
  return lastEdit(connection, target, tip)?.omits ?? false;
}

/** The last edit of an entry on the path of `tip`. */
function lastEdit(connection: Connection, target: EntrySeq, tip: Tip): { readonly seq: EntrySeq; readonly omits: boolean } | undefined {
  const edit = connection.all(editsOf, { target }).find(({ seq }) => isOnPath(connection, seq, tip.seq));
  return edit && { seq: edit.seq, omits: edit.omits === 1 };
}
