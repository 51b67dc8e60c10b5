import type { RawBuilder, Sql } from "kysely";
import { originOf, originsIn } from "../../entry/origins.js";
import type { EntryId, EntrySeq, SessionId, SessionSeq } from "../../ids/ids.js";
import { type Fork, MAIN_LEAF, type SessionRecord, type SessionRow } from "../../port/records.js";
import { factsOf, type WritableEntry } from "../../rules/derived-columns.js";
import { newFork, withoutForeignBranch } from "../../rules/forks.js";
import { toSessionRecord } from "../../rules/session-columns.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { PAYLOAD_JOIN, type PayloadRow, payloadText } from "../payloads/payloads.js";
import { type Query, type QueryBuilder, query, rawQuery } from "../query.js";
import type { EntryTable, Tables } from "../schema.js";
import { nameFork } from "../sessions/session-list.js";
import { insertNewSession, requireSessionRow } from "../sessions/session-rows.js";
import { copyValues } from "../sessions/values.js";
import { copyTokenCounts, setLabel } from "./annotations.js";
import { type FirstWrites, writeFirst } from "./commit.js";
import { readPathSeqs } from "./entry-list.js";
import { findEntryId, findEntrySeq, parsePayload, requireEntrySeq } from "./entry-rows.js";
import { EntryWriter, nextEntrySeq, type WriteTarget } from "./entry-writer.js";
import { requireLeafSeq, setLeaf } from "./leaves.js";

type CopiedRow = EntryTable & PayloadRow & { readonly label: string | null; readonly label_at_ms: number | null };

const rowWithLabel = query<{ seq: EntrySeq }, CopiedRow>(({ sql, p }) =>
  rawQuery(sql<CopiedRow>`
    SELECT entry.*, payload.json AS payload_json, label.label, label.created_at_ms AS label_at_ms
    FROM entry ${sql.raw(PAYLOAD_JOIN)} LEFT JOIN label ON label.session_seq = entry.session_seq AND label.entry_seq = entry.seq
    WHERE entry.seq = ${p.seq}`),
);

/**
 * Copies a path or the whole tree into a new session, in one transaction. The copies keep ids, times, labels and references. In the
 * copy of a path, a branch summary loses a `fromId` outside the path. Unless given, the directory is that of the source, and the title
 * that of the first origin with a number: "Tabs in the lexer, fork 2".
 * Memory: of a path one entry at a time, and two numbers for each entry; of a tree none.
 *
 * The usage of the copied replies counts as inherited, so that totals over all sessions count it once.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | SessionExistsError}
 */
export function forkSession(
  connection: Connection,
  sourceId: SessionId,
  fork: Fork,
  fileTools: FileTools,
  first: FirstWrites | undefined,
): SessionRecord {
  return connection.write(() => {
    const row = requireSessionRow(connection, sourceId);
    const source = { id: sourceId, seq: row.seq };
    const end = resolveEnd(connection, source, fork.at);
    const name = fork.into.title === undefined ? nameFork(connection, row) : null;
    const entryId = end === null ? null : findEntryId(connection, end);
    const session = insertNewSession(connection, newFork(toSessionRecord(row), fork, entryId, name));
    if (fork.tree) forkTree(connection, source, session, fork.at);
    else if (end !== null) forkPath(connection, sourceId, end, { ...session, fileTools });
    if (fork.values) copyValues(connection, source.seq, session.seq);
    writeFirst(connection, session, first);
    return toSessionRecord(requireSessionRow(connection, session.id));
  });
}

function resolveEnd(connection: Connection, source: SessionRow, at: EntryId | null | undefined): EntrySeq | null {
  if (at === undefined) return requireLeafSeq(connection, source, MAIN_LEAF);
  return at === null ? null : requireEntrySeq(connection, source, at);
}

/** Copies all branches and leaves. `at`: where the leaf `main` of the copy is; undefined: where that of the source is. */
function forkTree(connection: Connection, source: SessionRow, session: SessionRow, at: EntryId | null | undefined): void {
  copyTree(connection, source, session.seq);
  if (at !== undefined) setLeaf(connection, session.seq, MAIN_LEAF, at === null ? null : requireEntrySeq(connection, session, at));
}

function forkPath(connection: Connection, source: SessionId, end: EntrySeq, target: WriteTarget): void {
  const copier = new PathCopier(connection, source, target);
  for (const seq of readPathSeqs(connection, end, null)) copier.copy(seq);
  copier.flush();
  setLeaf(connection, target.seq, MAIN_LEAF, copier.copyOf(end));
}

class PathCopier {
  readonly #connection: Connection;
  readonly #source: SessionId;
  readonly #session: SessionSeq;
  readonly #writer: EntryWriter;
  /** Row numbers of the copies, by those of the source. */
  readonly #copies = new Map<EntrySeq, EntrySeq>();

  constructor(connection: Connection, source: SessionId, target: WriteTarget) {
    this.#connection = connection;
    this.#source = source;
    this.#session = target.seq;
    this.#writer = new EntryWriter(connection, target, 1);
  }

  flush(): void {
    this.#writer.flushTotals();
  }

  /** The row number of the copy of an entry; null for null and for an entry outside the path. */
  copyOf(seq: EntrySeq | null): EntrySeq | null {
    return seq === null ? null : (this.#copies.get(seq) ?? null);
  }

  copy(from: EntrySeq): void {
    const row = this.#connection.get(rowWithLabel, { seq: from });
    if (row === undefined) return;
    const seq = this.#writer.reserveSeq();
    this.#copies.set(row.seq, seq);
    const json = payloadText(this.#connection, row);
    const entry = this.#writable(row, json);
    const state = {
      entryId: row.id,
      seq,
      depth: row.depth,
      compactionSeq: this.copyOf(row.compaction_seq),
      modelSeq: this.copyOf(row.model_seq),
      thinkingSeq: this.copyOf(row.thinking_seq),
      systemSeq: this.copyOf(row.system_seq),
    };
    const place = { state, targetSeq: this.copyOf(row.target_seq) };
    this.#writer.insert(this.copyOf(row.parent_seq), entry, factsOf(entry, this.#writer), place);
    // A summary without its `fromId` may take another number of tokens, so only unchanged entries keep their counts.
    if (entry.payloadJson === json) copyTokenCounts(this.#connection, row.seq, seq);
    if (row.label !== null) setLabel(this.#connection, this.#session, seq, row.label, row.label_at_ms ?? Date.now());
  }

  #writable(row: CopiedRow, json: string): WritableEntry {
    const isCopied = (id: EntryId) => findEntrySeq(this.#connection, this.#session, id) !== undefined;
    return {
      createdAtMs: row.created_at_ms,
      inherited: 1,
      origin: row.origin ?? originOf({ sessionId: this.#source, entryId: row.id }),
      ...withoutForeignBranch(parsePayload(this.#connection, row, json), json, isCopied),
    };
  }
}

// The row number of each copy is that of its entry plus one distance, the same for all entries. So a reference between entries is
// copied by an addition, and a compressed block, which holds only distances between row numbers, byte for byte.

/** The sessions that are copied from and to, and the distance that is added to row numbers. NULL plus the distance is NULL. */
interface Shift {
  readonly from: SessionSeq;
  readonly to: SessionSeq;
  readonly by: number;
  /** The prefix of the origins of the copies of entries that have no origin. */
  readonly origins: string;
}

/** A column of the copy: as it is, a row number of an entry, a constant, or the origin of the entry. */
type Column = "same" | "shifted" | "session" | "inherited" | "origin";

/** Tables that a fork does not copy row by row, or that are copied elsewhere. */
type LeftOut =
  | "session"
  | "session_metadata"
  | "session_text"
  | "value"
  | "large_value"
  | "usage_total"
  // The moves that a person can undo belong to the source.
  | "leaf_move"
  // The copies are indexed like new entries.
  | "entry_text"
  | "word"
  | "token_counter"
  // The files of the source are not those of its fork.
  | "source_file"
  | "source_session"
  | "store_state";

/** Columns that SQLite fills in. */
interface FilledIn {
  entry: "type" | "role";
  payload_block: "seq";
}

type CopiedColumns = {
  readonly [T in Exclude<keyof Tables, LeftOut>]: Readonly<
    Record<Exclude<keyof Tables[T], T extends keyof FilledIn ? FilledIn[T] : never>, Column>
  >;
};

/** The copied tables and columns, the referenced tables first. A new table or column has to be added here, or it does not compile. */
const COPIED: CopiedColumns = {
  entry: {
    seq: "shifted",
    session_seq: "session",
    id: "same",
    parent_seq: "shifted",
    kind: "same",
    depth: "same",
    created_at_ms: "same",
    compaction_seq: "shifted",
    target_seq: "shifted",
    model_seq: "shifted",
    thinking_seq: "shifted",
    system_seq: "shifted",
    call_id: "same",
    is_error: "same",
    omits: "same",
    inherited: "inherited",
    payload_bytes: "same",
    preview: "same",
    custom_type: "same",
    origin: "origin",
  },
  payload: { entry_seq: "shifted", json: "same" },
  payload_block: {
    session_seq: "session",
    first_seq: "shifted",
    last_seq: "shifted",
    entries: "same",
    payload_bytes: "same",
    codec: "same",
    checksum: "same",
    data: "same",
  },
  private_entry: { entry_seq: "shifted" },
  entry_waypoint: { entry_seq: "shifted", above_seq: "shifted" },
  entry_token_count: { entry_seq: "shifted", counter_seq: "same", tokens: "same" },
  file_operation: { entry_seq: "shifted", ordinal: "same", tool_call_id: "same", kind: "same", path: "same", nested: "same" },
  label: { session_seq: "session", entry_seq: "shifted", label: "same", created_at_ms: "same" },
  leaf: { session_seq: "session", name: "same", entry_seq: "shifted" },
  tip: { session_seq: "session", entry_seq: "shifted" },
  branch_point: { session_seq: "session", entry_seq: "shifted" },
  kind_count: { session_seq: "session", kind: "same", entries: "same" },
};

function copyOf({ sql, p }: QueryBuilder<Shift>, table: string, columns: Readonly<Record<string, Column>>): RawBuilder<never> {
  const names = Object.keys(columns).map((name) => sql.ref(name));
  const values = Object.entries(columns).map(([name, column]) => copiedValue(sql, p, `${table}.${name}`, column));
  const rows =
    "session_seq" in columns
      ? sql`${sql.table(table)} WHERE session_seq = ${p.from}`
      : sql`entry CROSS JOIN ${sql.table(table)} ON ${sql.ref(`${table}.entry_seq`)} = entry.seq WHERE entry.session_seq = ${p.from}`;
  // A new session has the leaf main.
  const verb = sql.raw(table === "leaf" ? "INSERT OR REPLACE" : "INSERT");
  return sql`${verb} INTO ${sql.table(table)} (${sql.join(names)}) SELECT ${sql.join(values)} FROM ${rows}`;
}

function copiedValue(sql: Sql, p: QueryBuilder<Shift>["p"], name: string, column: Column): RawBuilder<unknown> {
  switch (column) {
    case "same":
      return sql`${sql.ref(name)}`;
    case "shifted":
      return sql`${sql.ref(name)} + ${p.by}`;
    case "session":
      return sql`${p.to}`;
    case "inherited":
      return sql`1`;
    case "origin":
      return sql`coalesce(entry.origin, ${p.origins} || entry.id)`;
  }
}

const copies: readonly Query<Shift, never>[] = Object.entries(COPIED).map(([table, columns]) =>
  query<Shift>((builder) => rawQuery(copyOf(builder, table, columns))),
);

// The usage of the copies counts in the source, so that totals over all sessions count it once.
const copyUsage = query<Shift>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO usage_total (session_seq, inherited, provider, model, replies, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cost_usd, recorded_replies)
    SELECT ${p.to}, 1, provider, model, sum(replies), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
      sum(cache_write_tokens), sum(cost_usd), sum(recorded_replies)
    FROM usage_total WHERE session_seq = ${p.from} GROUP BY provider, model`),
);

const copyTotals = query<Shift>(({ sql, p }) =>
  rawQuery(sql`
    UPDATE session SET entry_count = source.entry_count, message_count = source.message_count, payload_bytes = source.payload_bytes,
      row_count = source.row_count, row_bytes = source.row_bytes, first_text = source.first_text,
      active_at_ms = max(session.active_at_ms, source.active_at_ms)
    FROM session AS source WHERE session.seq = ${p.to} AND source.seq = ${p.from}`),
);

const firstSeq = query<{ session: SessionSeq }, { seq: EntrySeq | null }>(({ sql, p }) =>
  rawQuery(sql<{ seq: EntrySeq | null }>`SELECT min(seq) AS seq FROM entry WHERE session_seq = ${p.session}`),
);

/**
 * Copies all entries of a session into an empty one, with leaves, labels, file operations and token counts; ids stay. Payloads are
 * neither parsed nor decompressed. Call it inside `write`.
 */
function copyTree(connection: Connection, source: SessionRow, to: SessionSeq): void {
  const first = connection.get(firstSeq, { session: source.seq })?.seq ?? null;
  const by = first === null ? 0 : nextEntrySeq(connection) - first;
  const shift = { from: source.seq, to, by, origins: originsIn(source.id) };
  for (const copy of copies) connection.run(copy, shift);
  connection.run(copyUsage, shift);
  connection.run(copyTotals, shift);
}
