import { originOf } from "../../entry/origins.js";
import type { EntryId, SessionId } from "../../ids/ids.js";
import { type Fork, MAIN_LEAF, type SessionRecord } from "../../port/records.js";
import type { EntrySeq, SessionSeq } from "../../port/rows.js";
import type { WritableEntry } from "../../rules/entry-columns.js";
import { factsOf } from "../../rules/entry-facts.js";
import { newFork, withoutForeignBranch } from "../../rules/forks.js";
import { toSessionRecord } from "../../rules/session-columns.js";
import type { FileTools } from "../../tools/known-tools.js";
import type { Connection } from "../file/connection.js";
import { PAYLOAD_JOIN, type PayloadRow, payloadText } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { EntryTable } from "../schema.js";
import { nameFork } from "../sessions/fork-names.js";
import { setLabel } from "../sessions/labels.js";
import { insertNewSession, requireSessionRow, type SessionRef } from "../sessions/session-rows.js";
import { copyValues } from "../sessions/values.js";
import { findEntryId, findEntrySeq, parsePayload, requireEntrySeq } from "./entry-rows.js";
import { EntryWriter, type WriteTarget } from "./entry-writer.js";
import { copyTree } from "./fork-tree.js";
import { requireLeafSeq, setLeaf } from "./leaves.js";
import { type FirstWrites, writeFirst } from "./new-session.js";
import { readPathSeqs } from "./scan.js";
import { copyTokenCounts } from "./token-counts.js";

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

function resolveEnd(connection: Connection, source: SessionRef, at: EntryId | null | undefined): EntrySeq | null {
  if (at === undefined) return requireLeafSeq(connection, source, MAIN_LEAF);
  return at === null ? null : requireEntrySeq(connection, source, at);
}

/** Copies all branches and leaves. `at`: where the leaf `main` of the copy is; undefined: where that of the source is. */
function forkTree(connection: Connection, source: SessionRef, session: SessionRef, at: EntryId | null | undefined): void {
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
