import { countBefore } from "../../collections/binary-search.js";
import { groupBy } from "../../collections/group-by.js";
import { customTypeOf, toEntryKind } from "../../entry/kinds.js";
import { parseStoredPayload } from "../../entry/stored-payload.js";
import { isPrivate } from "../../entry/text.js";
import { SessionChangedError } from "../../errors/copy-errors.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import type { SessionKey, SessionRow } from "../../port/records.js";
import {
  type CopiedEntry,
  type CopiedFileOperation,
  type CopiedPart,
  type CopiedState,
  type CopiedUsage,
  entriesInPart,
  PART_ENTRIES,
  partlyCopied,
} from "../../port/session-copy.js";
import { toStoredCustomType } from "../../rules/derived-columns.js";
import { copiedColumns, newCopy, toSessionRecord } from "../../rules/session-columns.js";
import type { Connection } from "../file/connection.js";
import { completeRow, PAGED_PAYLOAD_COLUMNS, PAYLOAD_JOIN, type PagedPayloadRow, payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { FileOperationTable, LeafMoveTable, StoredEntry } from "../schema.js";
import { indexTitle } from "../search/search-index.js";
import { findSessionRow, givenColumns, indexMetadata, insertNewSession, resolveSession } from "../sessions/session-rows.js";
import { listValueTexts, replaceValues } from "../sessions/values.js";
import { saveTokenCounts, setLabel } from "./annotations.js";
import { addToKind, addUsage, insertOperation, insertStored, nextEntrySeq, TreeEnds } from "./entry-writer.js";
import { listLeafSeqs, setLeaf } from "./leaves.js";
import { connectCopied } from "./origins.js";
import { addWaypoint, SHORTEST_STRIDE } from "./paths.js";

type Session = { session: SessionSeq };

const movesOf = query<Session, LeafMoveTable>(({ db, p }) =>
  db.selectFrom("leaf_move").selectAll().where("session_seq", "=", p.session).orderBy("seq"),
);
const labelsOf = query<Session, { seq: EntrySeq; label: string; at: number }>(({ db, p }) =>
  db
    .selectFrom("label")
    .select(["entry_seq as seq", "label", "created_at_ms as at"])
    .where("session_seq", "=", p.session)
    .orderBy("entry_seq"),
);
const usageOf = query<Session, Omit<CopiedUsage, "inherited"> & { inherited: 0 | 1 }>(({ sql, p }) =>
  rawQuery(sql<Omit<CopiedUsage, "inherited"> & { inherited: 0 | 1 }>`
    SELECT provider, model, replies, input_tokens AS inputTokens, output_tokens AS outputTokens, cache_read_tokens AS cacheReadTokens,
      cache_write_tokens AS cacheWriteTokens, cost_usd AS costUsd, recorded_replies AS recordedReplies, inherited
    FROM usage_total WHERE session_seq = ${p.session} ORDER BY inherited, provider, model`),
);

/** Reads a session without its entries. Call it inside `read`. */
export function readCopiedState(connection: Connection, key: SessionKey): CopiedState | undefined {
  const row = findSessionRow(connection, key);
  if (row === undefined) return undefined;
  const session = row.seq;
  const places = placesOf(connection, session);
  const { metadata: _parsed, ...record } = toSessionRecord(row);
  return {
    row: { id: row.id, seq: session },
    session: { ...record, metadataJson: row.metadata_json },
    leaves: listLeafSeqs(connection, session).map(({ name, seq }) => ({ name, at: places.placeOf(seq) })),
    moves: connection.all(movesOf, { session }).map((move) => ({
      leafName: move.leaf_name,
      from: places.placeOf(move.from_seq),
      to: places.placeOf(move.to_seq),
      resume: places.placeOf(move.resume_seq),
      movedAtMs: move.moved_at_ms,
      state: move.state,
    })),
    labels: connection.all(labelsOf, { session }).map(({ seq, label, at }) => ({ at: places.placeOf(seq) ?? 0, label, createdAtMs: at })),
    values: listValueTexts(connection, { id: row.id, seq: session }),
    usage: connection.all(usageOf, { session }).map((usage) => ({ ...usage, inherited: usage.inherited === 1 })),
  };
}

type EntryRow = Omit<StoredEntry, "custom_type"> & PagedPayloadRow;

const COLUMNS = `entry.id, entry.parent_seq, entry.kind, entry.depth, entry.created_at_ms, entry.compaction_seq, entry.target_seq,
  entry.model_seq, entry.thinking_seq, entry.system_seq, entry.call_id, entry.is_error, entry.omits, entry.inherited, entry.origin, entry.preview`;

interface Range extends Session {
  readonly after: EntrySeq;
  readonly upTo: EntrySeq;
}

const rowsOf = query<Range & { limit: number }, EntryRow>(({ sql, p }) =>
  rawQuery(sql<EntryRow>`
    SELECT ${sql.raw(COLUMNS)}, ${sql.raw(PAGED_PAYLOAD_COLUMNS)} FROM entry ${sql.raw(PAYLOAD_JOIN)}
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ORDER BY entry.seq LIMIT ${p.limit}`),
);
const operationsOf = query<Range, FileOperationTable>(({ sql, p }) =>
  rawQuery(sql<FileOperationTable>`
    SELECT file_operation.* FROM entry CROSS JOIN file_operation ON file_operation.entry_seq = entry.seq
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ORDER BY file_operation.entry_seq, ordinal`),
);
type CountRow = { readonly seq: EntrySeq; readonly counter: string; readonly tokens: number };
const countsOf = query<Range, CountRow>(({ sql, p }) =>
  rawQuery(sql<CountRow>`
    SELECT entry.seq, token_counter.name AS counter, tokens
    FROM entry CROSS JOIN entry_token_count AS known ON known.entry_seq = entry.seq CROSS JOIN token_counter ON token_counter.seq = known.counter_seq
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} AND entry.seq <= ${p.upTo} ORDER BY entry.seq, token_counter.name`),
);

/** Reads the entries of a part, in order of arrival. Call it inside `read`. @throws {SessionNotFoundError | PayloadDamagedError} */
export function readCopiedEntries(connection: Connection, key: SessionKey, after: number, upTo: number): readonly CopiedEntry[] {
  const session = resolveSession(connection, key).seq;
  const places = placesOf(connection, session);
  const from = places.seqAt(after) ?? toEntrySeq(0);
  const to = places.seqAt(Math.min(upTo, places.count)) ?? from;
  const rows = connection.all(rowsOf, { session, after: from, upTo: to, limit: PART_ENTRIES });
  const part = rows.slice(0, entriesInPart(rows.map((row) => row.payload_bytes)));
  const range = { session, after: from, upTo: part.at(-1)?.seq ?? from };
  const operations = groupBy(connection.all(operationsOf, range), (operation) => operation.entry_seq);
  const counts = groupBy(connection.all(countsOf, range), (count) => count.seq);
  return part.map((row) => ({
    ...columnsOf(row, places),
    payload: payloadText(connection, completeRow(connection, row)),
    fileOperations: (operations.get(row.seq) ?? []).map(toOperation),
    tokens: (counts.get(row.seq) ?? []).map(({ counter, tokens }) => [counter, tokens] as const),
  }));
}

function columnsOf(row: EntryRow, places: Places): Omit<CopiedEntry, "payload" | "fileOperations" | "tokens"> {
  return {
    place: places.placeOf(row.seq) ?? 0,
    id: row.id,
    parent: places.placeOf(row.parent_seq),
    kind: row.kind,
    depth: row.depth,
    createdAtMs: row.created_at_ms,
    compaction: places.placeOf(row.compaction_seq),
    target: places.placeOf(row.target_seq),
    model: places.placeOf(row.model_seq),
    thinking: places.placeOf(row.thinking_seq),
    system: places.placeOf(row.system_seq),
    callId: row.call_id,
    isError: row.is_error === 1,
    omits: row.omits === 1,
    inherited: row.inherited === 1,
    origin: row.origin,
    preview: row.preview,
  };
}

function toOperation({ tool_call_id, kind, path, nested }: FileOperationTable): CopiedFileOperation {
  return { toolCallId: tool_call_id, kind, path, nested: nested === 1 };
}

/** Writes a part of a copied session. @throws {SessionExistsError | SessionChangedError} */
export function writeCopiedPart(connection: Connection, { state, into, entries, isLast }: CopiedPart): SessionRow {
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

function requireUnchanged(connection: Connection, { row, entries }: NonNullable<CopiedPart["into"]>): SessionRow {
  const found = findSessionRow(connection, row);
  if (found?.entry_count !== entries) throw new SessionChangedError(row.id);
  return { id: row.id, seq: found.seq };
}

/** Inserts copied entries with everything that is derived from their order and parents. */
class CopyWriter {
  readonly #connection: Connection;
  readonly #session: SessionRow;
  readonly #places: Places;
  readonly #ends: TreeEnds;
  /** The row number of the first entry that is inserted. */
  readonly #first: EntrySeq;
  /** The entries written last, each the parent of the next; at most 16. */
  #line: EntrySeq[] = [];

  constructor(connection: Connection, session: SessionRow) {
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

type Properties = ReturnType<typeof copiedColumns>;

const putProperties = query<Session & Properties>(({ db, p }) =>
  db
    .updateTable("session")
    .set({ ...givenColumns(p), archived_at_ms: p.archived_at_ms, first_text: p.first_text })
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
function finish(connection: Connection, target: SessionRow, state: CopiedState, places: Pick<CopyWriter, "seqAt">): void {
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

const addCopied = query<{ session: SessionSeq; entries: number; messages: number; bytes: number }>(({ db, sql, p }) =>
  db
    .updateTable("session")
    .set({
      entry_count: sql`entry_count + ${p.entries}`,
      message_count: sql`message_count + ${p.messages}`,
      payload_bytes: sql`payload_bytes + ${p.bytes}`,
      row_count: sql`row_count + ${p.entries}`,
      row_bytes: sql`row_bytes + ${p.bytes}`,
    })
    .where("seq", "=", p.session),
);

/** Adds entries of another store to the counts of a session; usage and times are copied apart. Call it inside `write`. */
function addCopiedCounts(connection: Connection, session: SessionSeq, rows: readonly Pick<StoredEntry, "kind" | "payload_bytes">[]): void {
  const kinds = new Map<number, number>();
  for (const { kind } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const messages = rows.filter(({ kind }) => ["user", "assistant"].includes(toEntryKind(kind).role ?? "")).length;
  const bytes = rows.reduce((sum, row) => sum + row.payload_bytes, 0);
  connection.run(addCopied, { session, entries: rows.length, messages, bytes });
  for (const [kind, entries] of kinds) connection.run(addToKind, { session, kind, entries });
}

const dropUsage = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("usage_total").where("session_seq", "=", p.session));

/** Makes the usage of a session that of its copy in another store. Call it inside `write`. */
function replaceUsage(connection: Connection, session: SessionSeq, usage: readonly CopiedUsage[]): void {
  connection.run(dropUsage, { session });
  for (const { provider, model, replies, inherited, ...used } of usage)
    connection.run(addUsage, {
      session_seq: session,
      inherited: inherited ? 1 : 0,
      provider,
      model,
      replies,
      input_tokens: used.inputTokens,
      output_tokens: used.outputTokens,
      cache_read_tokens: used.cacheReadTokens,
      cache_write_tokens: used.cacheWriteTokens,
      cost_usd: used.costUsd,
      recorded_replies: used.recordedReplies,
    });
}

const seqsAfter = query<{ session: SessionSeq; after: EntrySeq | 0 }, readonly [EntrySeq]>(({ db, sql, p }) =>
  db
    .selectFrom("entry")
    .select("seq")
    .where("session_seq", "=", p.session)
    .where(sql<boolean>`seq > ${p.after}`)
    .orderBy("seq")
    .$castTo<readonly [EntrySeq]>(),
);

/** The order of arrival of the entries of one session, as places: 1, 2, 3, without gaps. Row numbers are those of the whole file. */
class Places {
  /** Row numbers by place. */
  readonly #seqs: EntrySeq[] = [];
  readonly session: SessionSeq;

  constructor(session: SessionSeq) {
    this.session = session;
  }

  /** Reads the entries that arrived since. */
  refresh(connection: Connection): void {
    for (const [seq] of connection.allAsArrays(seqsAfter, { session: this.session, after: this.#seqs.at(-1) ?? 0 })) this.#seqs.push(seq);
  }

  get count(): number {
    return this.#seqs.length;
  }

  seqAt(place: number): EntrySeq | undefined {
    return this.#seqs[place - 1];
  }

  /** The place of a row number; null for null, and for one that is not in the session. Cost: a binary search. */
  placeOf(seq: EntrySeq | null): number | null {
    if (seq === null) return null;
    const before = countBefore(this.#seqs.length, (at) => (this.#seqs[at] ?? seq) < seq);
    return this.#seqs[before] === seq ? before + 1 : null;
  }
}

/** Of how many sessions the places are kept. */
const MOST_KEPT = 8;

const kept = new WeakMap<Connection, Places[]>();

/** The places of a session. Known ones stay, because no entry is ever removed. Call it inside `read`, or before the first write of a `write`. */
function placesOf(connection: Connection, session: SessionSeq): Places {
  const all = kept.get(connection) ?? [];
  const places = all.find((one) => one.session === session) ?? new Places(session);
  kept.set(connection, [places, ...all.filter((one) => one !== places)].slice(0, MOST_KEPT));
  places.refresh(connection);
  return places;
}
