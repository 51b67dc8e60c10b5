import type { EntryPayload } from "../entry/entry.js";
import type { JudgedEntry } from "../entry/validate.js";
import { EntryConflictError } from "../errors/session-errors.js";
import { newEntryId, type SessionId } from "../ids/ids.js";
import type { Connection } from "../storage/connection.js";
import { query } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { addWaypoint } from "./ancestry.js";
import { insertEntryRow, nextSeq, payloadJson, type WritableEntry } from "./entry-rows.js";
import { insertFileOperations } from "./file-operation-rows.js";
import { type Inheritance, inherit } from "./inheritance.js";
import { sameJson } from "./same-json.js";
import { type Tip, tipAt } from "./tip.js";
import { Totals } from "./totals.js";

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
  append(parent: Tip, judged: JudgedEntry): Appended {
    const known = this.find(judged);
    return known === undefined ? this.write(parent, judged) : { tip: known, known: true };
  }

  /** The entry of this id, if it is there and carries the same. @throws {EntryConflictError} it carries something else. */
  find(judged: JudgedEntry): EntryTip | undefined {
    if (judged.id === undefined) return undefined;
    return this.#known(judged.id, judged.payload);
  }

  /** Writes an entry whose id is not there yet. */
  write(parent: Tip, judged: JudgedEntry): Appended {
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
