import type { SessionId } from "../ids/ids.js";
import { MAIN_LEAF, type NewSession } from "../port/records.js";
import { setLabel } from "../sessions/labels.js";
import { insertNewSession, rowAt, sessionRow } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { EntrySeq, EntryTable, SessionSeq } from "../storage/schema.js";
import type { FileTools } from "../tools/known-tools.js";
import { entrySeq, findEntrySeq, payloadOf } from "./entry-rows.js";
import { EntryWriter } from "./entry-writer.js";
import { setLeaf } from "./leaves.js";
import { pathSeqs } from "./scan.js";
import { copyTokenCounts } from "./token-counts.js";

type CopiedRow = EntryTable & { readonly label: string | null; readonly label_at_ms: number | null };

const rowWithLabel = query<{ seq: EntrySeq }, CopiedRow>(({ sql, p }) =>
  plain(sql<CopiedRow>`
    SELECT entry.*, label.label, label.created_at_ms AS label_at_ms
    FROM entry LEFT JOIN label ON label.session_seq = entry.session_seq AND label.entry_seq = entry.seq
    WHERE entry.seq = ${p.seq}`),
);

/**
 * Copies the path down to `at` into a new session: entries keep their ids, times and labels, references to entries on
 * the path stay true, and a summary of a branch that is not copied loses its `fromId`. The title goes along; the new
 * session points back to where it came from. One transaction; memory holds one entry at a time.
 *
 * What the copied replies used counts as inherited, so that totals over all sessions count it once.
 */
export function forkSession(connection: Connection, sourceId: SessionId, at: string, into: NewSession, fileTools: FileTools): SessionId {
  return connection.write(() => {
    const source = sessionRow(connection, sourceId);
    const end = entrySeq(connection, source.seq, sourceId, at);
    const session = insertNewSession(connection, {
      ...into,
      title: into.title ?? source.title ?? undefined,
      titleSource: into.title === undefined ? (source.title_source ?? undefined) : "user",
      cwd: into.cwd ?? source.cwd ?? undefined,
      parent: { sessionId: sourceId, entryId: at, toolCallId: null },
    });
    const copier = new PathCopier(connection, session, fileTools);
    for (const seq of pathSeqs(connection, end, null)) copier.copy(seq);
    copier.flush();
    setLeaf(connection, session, MAIN_LEAF, copier.at(end));
    return rowAt(connection, session).id;
  });
}

class PathCopier {
  /** Rows of the source → rows of the copy. Two numbers an entry: the one thing that grows with the path. */
  readonly #copies = new Map<EntrySeq, EntrySeq>();

  readonly #writer: EntryWriter;

  constructor(
    private readonly connection: Connection,
    private readonly session: SessionSeq,
    fileTools: FileTools,
  ) {
    this.#writer = new EntryWriter(connection, { id: "", seq: session, fileTools }, 1);
  }

  flush(): void {
    this.#writer.flush();
  }

  at(seq: EntrySeq | null): EntrySeq | null {
    return seq === null ? null : (this.#copies.get(seq) ?? null);
  }

  copy(from: EntrySeq): void {
    const row = this.connection.get(rowWithLabel, { seq: from });
    if (row === undefined) return;
    const seq = this.#writer.reserve();
    this.#copies.set(row.seq, seq);
    const entry = this.#writable(row);
    const tip = {
      entryId: row.id,
      seq,
      depth: row.depth,
      compactionSeq: this.at(row.compaction_seq),
      modelSeq: this.at(row.model_seq),
      thinkingSeq: this.at(row.thinking_seq),
      systemSeq: this.at(row.system_seq),
    };
    const place = { tip, firstKeptSeq: this.at(row.first_kept_seq) };
    this.#writer.insert(this.at(row.parent_seq), entry, place);
    // What a summary without its `fromId` is read as may differ, so only equal entries take their counts along.
    if (entry.payloadJson === row.payload_json) copyTokenCounts(this.connection, row.seq, seq);
    if (row.label !== null) setLabel(this.connection, this.session, seq, row.label, row.label_at_ms ?? Date.now());
  }

  #writable(row: CopiedRow) {
    const payload = payloadOf(row);
    const common = { createdAtMs: row.created_at_ms, inherited: 1 } as const;
    const fromId = payload.type === "branch_summary" ? payload.fromId : null;
    const stays = fromId === null || findEntrySeq(this.connection, this.session, fromId) !== undefined;
    if (payload.type !== "branch_summary" || stays) return { ...common, payload, payloadJson: row.payload_json };
    // The branch that was left is not part of the copy; its id is kept beside, for whoever wants to look it up.
    const { type: _type, ...rest } = { ...payload, fromId: null, originalFromId: payload.fromId };
    return { ...common, payload: { ...payload, fromId: null }, payloadJson: JSON.stringify(rest) };
  }
}
