import type { EntryPayload } from "../entry/entry.js";
import { jsonText } from "../entry/json.js";
import { previewOf } from "../entry/preview.js";
import type { ValidatedEntry } from "../entry/validate.js";
import { EntryConflictError } from "../errors/session-errors.js";
import { newEntryId, type SessionId } from "../ids/ids.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, EntryTable, SessionSeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { addWaypoint } from "./ancestry.js";
import { type Tip, tipAt, type WritableEntry } from "./entry-rows.js";
import { insertFileOperations } from "./file-operations.js";
import { type Inheritance, inherit } from "./inheritance.js";
import { Totals } from "./statistics.js";

/** The session that is written to. */
export interface Target {
  readonly id: SessionId;
  readonly seq: SessionSeq;
  readonly fileTools: FileTools;
}

/** A tip that is an entry. */
export type EntryTip = Tip & { readonly seq: EntrySeq };

/** What an append came to. `known`: an equal entry was there already and nothing was written. */
export interface Appended {
  readonly tip: EntryTip;
  readonly known: boolean;
}

/**
 * Writes entries of one session, each with everything that is derived from it; figures of the session are summed up
 * and written by `flush`. Lives inside one `write`, which holds the lock that makes its count of places true.
 */
export class EntryWriter {
  readonly #totals: Totals;
  #next: EntrySeq | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly target: Target,
    inherited: 0 | 1 = 0,
  ) {
    this.#totals = new Totals(target.seq, inherited);
  }

  /**
   * Appends an entry under `parent`, unless one of its id carries the same already.
   *
   * @throws {EntryConflictError} the id belongs to an entry with other content.
   * @throws {InvalidReferenceError} it refers to an entry that is not where it must be.
   */
  append(parent: Tip, judged: ValidatedEntry): Appended {
    const known = this.find(judged);
    return known === undefined ? this.write(parent, judged) : { tip: known, known: true };
  }

  /** The entry of this id, if it is there and carries the same. @throws {EntryConflictError} it carries something else. */
  find(judged: ValidatedEntry): EntryTip | undefined {
    if (judged.id === undefined) return undefined;
    return this.#known(judged.id, judged.payload);
  }

  /** Writes an entry whose id is not there yet. */
  write(parent: Tip, judged: ValidatedEntry): Appended {
    const { payload, createdAtMs = Date.now() } = judged;
    const where = { connection: this.connection, session: this.target.seq };
    const place = inherit(where, parent, judged.id ?? newEntryId(), this.reserve(), payload);
    this.insert(parent.seq, { payload, payloadJson: payloadJson(payload), createdAtMs, inherited: 0 }, place);
    return { tip: place.tip, known: false };
  }

  /** The place of the next entry. */
  reserve(): EntrySeq {
    this.#next ??= nextSeq(this.connection);
    return this.#next;
  }

  /** Writes an entry at the place that was reserved for it. */
  insert(parentSeq: EntrySeq | null, entry: WritableEntry, place: Inheritance & { readonly tip: EntryTip }): void {
    const preview = insertEntryRow(this.connection, this.target.seq, parentSeq, entry, place);
    this.#next = (place.tip.seq + 1) as EntrySeq;
    addWaypoint(this.connection, place.tip.seq, parentSeq, place.tip.depth);
    insertFileOperations(this.connection, place.tip.seq, entry.payload, this.target.fileTools);
    this.#totals.add(entry, preview);
  }

  /** Writes the figures of what was appended. Without it the session's counts are wrong. */
  flush(): void {
    this.#totals.flush(this.connection);
  }

  #known(id: string, payload: EntryPayload): EntryTip | undefined {
    const row = this.connection.get(contentById, { session: this.target.seq, id });
    if (row === undefined) return undefined;
    if (row.type !== payload.type || !sameJson(row.payload_json, payloadJson(payload))) throw new EntryConflictError(this.target.id, id);
    return { ...tipAt(this.connection, row.seq), seq: row.seq };
  }
}

const contentById = query<{ session: SessionSeq; id: string }, { seq: EntrySeq; type: string; payload_json: string }>(({ db, p }) =>
  db.selectFrom("entry").select(["seq", "type", "payload_json"]).where("session_seq", "=", p.session).where("id", "=", p.id),
);

/** Whether two JSON texts say the same; the order of members does not count. */
export function sameJson(a: string, b: string): boolean {
  return a === b || canonical(JSON.parse(a)) === canonical(JSON.parse(b));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

const insertRow = query<EntryTable>(({ db, p }) =>
  db.insertInto("entry").values({
    seq: p.seq,
    session_seq: p.session_seq,
    id: p.id,
    parent_seq: p.parent_seq,
    type: p.type,
    role: p.role,
    depth: p.depth,
    created_at_ms: p.created_at_ms,
    compaction_seq: p.compaction_seq,
    first_kept_seq: p.first_kept_seq,
    model_seq: p.model_seq,
    thinking_seq: p.thinking_seq,
    system_seq: p.system_seq,
    failed_call_id: p.failed_call_id,
    inherited: p.inherited,
    preview: p.preview,
    payload_json: p.payload_json,
  }),
);

/** Writes the row of an entry; returns its preview. */
function insertEntryRow(
  connection: Connection,
  session: SessionSeq,
  parentSeq: EntrySeq | null,
  entry: WritableEntry,
  place: Inheritance,
): string {
  const { payload } = entry;
  const { tip } = place;
  const preview = previewOf(payload);
  connection.run(insertRow, {
    seq: tip.seq,
    session_seq: session,
    id: tip.entryId ?? "",
    parent_seq: parentSeq,
    type: payload.type,
    role: payload.type === "message" ? payload.message.role : null,
    depth: tip.depth,
    created_at_ms: entry.createdAtMs,
    compaction_seq: tip.compactionSeq,
    first_kept_seq: place.firstKeptSeq,
    model_seq: tip.modelSeq,
    thinking_seq: tip.thinkingSeq,
    system_seq: tip.systemSeq,
    failed_call_id: failedCall(payload),
    inherited: entry.inherited,
    preview,
    payload_json: entry.payloadJson,
  });
  return preview;
}

function failedCall(payload: EntryPayload): string | null {
  if (payload.type !== "message" || payload.message.role !== "toolResult") return null;
  return payload.message.isError ? payload.message.toolCallId : null;
}

const highestSeq = query<Record<never, never>, { seq: number }>(({ sql }) =>
  plain(sql<{ seq: number }>`SELECT max(deleted_seq, coalesce((SELECT max(seq) FROM entry), 0)) AS seq FROM store_state`),
);

/** The place after every entry that ever was in this store. Call it inside `write`. */
function nextSeq(connection: Connection): EntrySeq {
  return ((connection.get(highestSeq, {})?.seq ?? 0) + 1) as EntrySeq;
}

/** The payload as the row keeps it: without `type`, which has a column of its own. */
function payloadJson(payload: EntryPayload): string {
  const json = jsonText(payload, "The entry");
  // The gate puts the type first, and cutting it off is cheaper than copying the payload without it.
  const start = `{"type":"${payload.type}",`;
  if (json.startsWith(start)) return `{${json.slice(start.length)}`;
  const { type: _type, ...rest } = payload;
  return jsonText(rest, "The entry");
}
