import { encodeBytes } from "../entry/bytes.js";
import { jsonText } from "../entry/json.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import { MAIN_LEAF, type NewSession, type SessionRecord } from "../port/records.js";
import { setLabel } from "../sessions/labels.js";
import { insertNewSession, requireSessionRow, toSessionRecord } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { PAYLOAD_JOIN, type PayloadRow, payloadText } from "../storage/payloads.js";
import { query, rawQuery } from "../storage/query.js";
import type { EntrySeq, EntryTable, SessionSeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { findEntrySeq, parsePayload, requireEntrySeq, type WritableEntry } from "./entry-rows.js";
import { EntryWriter, type WriteTarget } from "./entry-writer.js";
import { setLeaf } from "./leaves.js";
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
 * Copies the path that ends at `at` into a new session, in one transaction; null copies no entry. The copies keep ids, times,
 * labels and references. A branch summary loses a `fromId` outside the path. Title and directory are those of the source
 * unless given. Memory: one entry at a time, and two numbers for each entry.
 *
 * The usage of the copied replies counts as inherited, so that totals over all sessions count it once.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | SessionExistsError}
 */
export function forkSession(
  connection: Connection,
  sourceId: SessionId,
  at: EntryId | null,
  into: NewSession,
  fileTools: FileTools,
): SessionRecord {
  return connection.write(() => {
    const source = requireSessionRow(connection, sourceId);
    const end = at === null ? null : requireEntrySeq(connection, { id: sourceId, seq: source.seq }, at);
    const session = insertNewSession(connection, {
      ...into,
      title: into.title ?? source.title ?? undefined,
      titleSource: into.title === undefined ? (source.title_source ?? undefined) : "user",
      cwd: into.cwd ?? source.cwd ?? undefined,
      parent: { sessionId: sourceId, entryId: at, toolCallId: null },
    });
    if (end !== null) {
      const copier = new PathCopier(connection, { ...session, fileTools });
      for (const seq of readPathSeqs(connection, end, null)) copier.copy(seq);
      copier.flush();
      setLeaf(connection, session.seq, MAIN_LEAF, copier.copyOf(end));
    }
    return toSessionRecord(requireSessionRow(connection, session.id));
  });
}

class PathCopier {
  readonly #connection: Connection;
  readonly #session: SessionSeq;
  readonly #writer: EntryWriter;
  /** Row numbers of the copies, by those of the source. */
  readonly #copies = new Map<EntrySeq, EntrySeq>();

  constructor(connection: Connection, target: WriteTarget) {
    this.#connection = connection;
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
    this.#writer.insert(this.copyOf(row.parent_seq), entry, { state, targetSeq: this.copyOf(row.target_seq) });
    // A summary without its `fromId` may take another number of tokens, so only unchanged entries keep their counts.
    if (entry.payloadJson === json) copyTokenCounts(this.#connection, row.seq, seq);
    if (row.label !== null) setLabel(this.#connection, this.#session, seq, row.label, row.label_at_ms ?? Date.now());
  }

  #writable(row: CopiedRow, payloadJson: string): WritableEntry {
    const payload = parsePayload(this.#connection, row, payloadJson);
    const createdAtMs = row.created_at_ms;
    const fromId = payload.type === "branch_summary" ? payload.fromId : null;
    const isKept = fromId === null || findEntrySeq(this.#connection, this.#session, fromId) !== undefined;
    if (payload.type !== "branch_summary" || isKept) return { createdAtMs, inherited: 1, payload, payloadJson };
    // The branch is not part of the copy. Its id is kept in `originalFromId`.
    const { type: _type, ...rest } = { ...payload, fromId: null, originalFromId: payload.fromId };
    return {
      createdAtMs,
      inherited: 1,
      payload: { ...payload, fromId: null },
      payloadJson: jsonText(encodeBytes(rest, "entry"), "The entry"),
    };
  }
}
