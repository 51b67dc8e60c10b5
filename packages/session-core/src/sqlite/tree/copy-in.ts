import { customTypeOf, toEntryKind } from "../../entry/kinds.js";
import { parseStoredPayload } from "../../entry/stored-payload.js";
import { isPrivate } from "../../entry/text.js";
import { SessionChangedError } from "../../errors/copy-errors.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../port/rows.js";
import { type CopiedEntry, type CopiedPart, type CopiedState, partlyCopied } from "../../port/session-copy.js";
import { toStoredCustomType } from "../../rules/custom-types.js";
import { copiedColumns, newCopy } from "../../rules/session-columns.js";
import type { Connection } from "../file/connection.js";
import { query } from "../query.js";
import type { StoredEntry } from "../schema.js";
import { indexTitle } from "../search/search-index.js";
import { setLabel } from "../sessions/labels.js";
import { indexMetadata } from "../sessions/session-metadata.js";
import { findSessionRow, insertNewSession, type SessionRef } from "../sessions/session-rows.js";
import { replaceValues } from "../sessions/values.js";
import { addWaypoint, SHORTEST_STRIDE } from "./ancestry.js";
import { connectCopied } from "./copies.js";
import { insertStored, nextEntrySeq } from "./entry-writer.js";
import { insertOperation } from "./file-operations.js";
import { setLeaf } from "./leaves.js";
import { type Places, placesOf } from "./places.js";
import { addCopiedCounts, replaceUsage } from "./statistics.js";
import { saveTokenCounts } from "./token-counts.js";
import { TreeEnds } from "./tree-ends.js";

/** Writes a part of a copied session. @throws {SessionExistsError | SessionChangedError} */
export function writeCopiedPart(connection: Connection, { state, into, entries, isLast }: CopiedPart): SessionRef {
  return connection.write(() => {
    const session =
      into === undefined
        ? insertNewSession(connection, newCopy(state.session), state.session.source ?? undefined)
        : requireUnchanged(connection, into);
    const writer = new CopyWriter(connection, session);
    writer.insert(entries);
    if (isLast) finish(connection, session, state, writer);
    else putMetadata(connection, session.seq, partlyCopied(state.session.metadataJson));
    return session;
  });
}

function requireUnchanged(connection: Connection, { row, entries }: NonNullable<CopiedPart["into"]>): SessionRef {
  const found = findSessionRow(connection, row);
  if (found?.entry_count !== entries) throw new SessionChangedError(row.id);
  return { id: row.id, seq: found.seq };
}

/** Inserts copied entries with everything that is derived from their order and parents. */
class CopyWriter {
  readonly #connection: Connection;
  readonly #session: SessionRef;
  readonly #places: Places;
  readonly #ends: TreeEnds;
  /** The row number of the first entry that is inserted. */
  readonly #first: EntrySeq;
  /** The entries written last, each the parent of the next; at most 16. */
  #line: EntrySeq[] = [];

  constructor(connection: Connection, session: SessionRef) {
    this.#connection = connection;
    this.#session = session;
    this.#places = placesOf(connection, session.seq);
    this.#first = nextEntrySeq(connection);
    this.#ends = new TreeEnds(session.seq);
  }

  /** Returns the row number of the entry at a place: of an older entry, or of one that this part inserts. */
  seqAt(place: number | null): EntrySeq | null {
    if (place === null) return null;
    return this.#places.seqAt(place) ?? toEntrySeq(this.#first + place - this.#places.count - 1);
  }

  insert(entries: readonly CopiedEntry[]): void {
    const rows = entries.map((entry) => this.#insert(entry));
    this.#ends.flush(this.#connection);
    addCopiedCounts(this.#connection, this.#session.seq, rows);
    const counters = new Set(entries.flatMap(({ tokens }) => tokens.map(([counter]) => counter)));
    for (const counter of counters) saveTokenCounts(this.#connection, this.#session, counter, countsBy(counter, entries));
  }

  #insert(entry: CopiedEntry): StoredEntry {
    const row = this.#toRow(entry);
    const { seq, parent_seq: parent } = row;
    const { type, role } = toEntryKind(entry.kind);
    insertStored(this.#connection, row, entry.payload, role === "bashExecution" && isPrivate(parseStoredPayload(type, entry.payload)));
    if (this.#line.at(-1) !== parent) this.#line = [];
    addWaypoint(this.#connection, seq, parent, row.depth, this.#line.at(-SHORTEST_STRIDE));
    this.#line = [...this.#line, seq].slice(-SHORTEST_STRIDE);
    for (const [ordinal, { toolCallId, kind, path, nested }] of entry.fileOperations.entries())
      insertOperation(this.#connection, { entry_seq: seq, ordinal, tool_call_id: toolCallId, kind, path, nested: nested ? 1 : 0 });
    this.#ends.add(seq, parent);
    return row;
  }

  #toRow(entry: CopiedEntry): StoredEntry {
    return {
      seq: toEntrySeq(this.#first + entry.place - this.#places.count - 1),
      session_seq: this.#session.seq,
      id: entry.id,
      parent_seq: this.seqAt(entry.parent),
      kind: entry.kind,
      depth: entry.depth,
      created_at_ms: entry.createdAtMs,
      compaction_seq: this.seqAt(entry.compaction),
      target_seq: this.seqAt(entry.target),
      model_seq: this.seqAt(entry.model),
      thinking_seq: this.seqAt(entry.thinking),
      system_seq: this.seqAt(entry.system),
      call_id: entry.callId,
      is_error: entry.isError ? 1 : 0,
      omits: entry.omits ? 1 : 0,
      inherited: entry.inherited ? 1 : 0,
      origin: entry.origin,
      payload_bytes: Buffer.byteLength(entry.payload),
      preview: entry.preview,
      custom_type: customTypeIn(entry),
    };
  }
}

/** The custom type of a copied entry, as it is stored. A store of an older version that was opened read-only does not know all of them. */
function customTypeIn({ kind, payload }: CopiedEntry): string | null {
  const { type, role } = toEntryKind(kind);
  const mayHaveOne = type === "custom" || type === "custom_message" || role === "custom";
  return mayHaveOne ? toStoredCustomType(customTypeOf(parseStoredPayload(type, payload))) : null;
}

function countsBy(counter: string, entries: readonly CopiedEntry[]): ReadonlyMap<string, number> {
  return new Map(entries.flatMap(({ id, tokens }) => tokens.flatMap(([name, count]) => (name === counter ? [[id, count] as const] : []))));
}

type Session = { session: SessionSeq };
type Properties = ReturnType<typeof copiedColumns>;

const putProperties = query<Session & Properties>(({ db, p }) =>
  db
    .updateTable("session")
    .set({
      kind: p.kind,
      title: p.title,
      title_source: p.title_source,
      cwd: p.cwd,
      created_at_ms: p.created_at_ms,
      active_at_ms: p.active_at_ms,
      archived_at_ms: p.archived_at_ms,
      parent_session_id: p.parent_session_id,
      parent_entry_id: p.parent_entry_id,
      parent_call_id: p.parent_call_id,
      first_text: p.first_text,
      source_format: p.source_format,
      source_path: p.source_path,
      source_id: p.source_id,
      metadata_json: p.metadata_json,
    })
    .where("seq", "=", p.session),
);
const putMetadataText = query<Session & { json: string | null }>(({ db, p }) =>
  db.updateTable("session").set({ metadata_json: p.json }).where("seq", "=", p.session),
);
const dropLeaves = query<Session>(({ db, p }) => db.deleteFrom("leaf").where("session_seq", "=", p.session));
const dropLabels = query<Session>(({ db, p }) => db.deleteFrom("label").where("session_seq", "=", p.session));
const dropMoves = query<Session>(({ db, p }) => db.deleteFrom("leaf_move").where("session_seq", "=", p.session));
type Move = Session & {
  name: string;
  from: EntrySeq | null;
  to: EntrySeq | null;
  resume: EntrySeq | null;
  at: number;
  state: "done" | "undone" | "dropped";
};
const insertMove = query<Move>(({ db, sql, p }) =>
  db.insertInto("leaf_move").values({
    // A row number that SQLite chooses.
    seq: sql`NULL`,
    session_seq: p.session,
    leaf_name: p.name,
    from_seq: p.from,
    to_seq: p.to,
    resume_seq: p.resume,
    moved_at_ms: p.at,
    state: p.state,
  }),
);

/** Makes all but the entries as it is in the other store. */
function finish(connection: Connection, target: SessionRef, state: CopiedState, places: Pick<CopyWriter, "seqAt">): void {
  const session = target.seq;
  connection.run(putProperties, { session, ...copiedColumns(state.session) });
  putMetadata(connection, session, state.session.metadataJson);
  indexTitle(connection, session, state.session.title);
  for (const drop of [dropLeaves, dropLabels, dropMoves]) connection.run(drop, { session });
  for (const { name, at } of state.leaves) setLeaf(connection, session, name, places.seqAt(at));
  for (const { leafName: name, movedAtMs: at, ...move } of state.moves) {
    const [from, to, resume] = [places.seqAt(move.from), places.seqAt(move.to), places.seqAt(move.resume)];
    connection.run(insertMove, { session, name, from, to, resume, at, state: move.state });
  }
  for (const { at, label, createdAtMs } of state.labels) {
    const entry = places.seqAt(at);
    if (entry !== null) setLabel(connection, session, entry, label, createdAtMs);
  }
  replaceValues(connection, session, state.values);
  replaceUsage(connection, session, state.usage);
  connectCopied(connection, target, state.session.parent?.sessionId ?? null);
}

function putMetadata(connection: Connection, session: SessionSeq, json: string | null): void {
  connection.run(putMetadataText, { session, json });
  indexMetadata(connection, session, JSON.parse(json ?? "{}"));
}
