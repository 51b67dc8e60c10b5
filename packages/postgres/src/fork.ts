import { Buffer } from "node:buffer";
import { type EntryId, EntryNotFoundError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import * as records from "@bough/session-core/engine";
import { EntryTotals, newFork, previewOf, withoutForeignBranch } from "@bough/session-core/engine";
import type { Database, PgDatabase } from "./database.js";
import { parsePayload } from "./entry-rows.js";
import { type LockedSession, lockSession } from "./facts.js";
import { copyPath, copyTree, copyValues } from "./fork-copy.js";
import { nameFork } from "./fork-names.js";
import { readLeaf } from "./leaf-state.js";
import { pgQuery, pgRaw } from "./query.js";
import { saveLeaves, saveRuns, saveTotals } from "./save-changes.js";
import { ofSession } from "./session-key.js";
import { findSessionRecord, insertNewSession } from "./session-rows.js";
import { listFirst, writeFirst } from "./sessions.js";
import type { PgEntry } from "./tables.js";
import type { FirstWrites } from "./write-rules.js";

/**
 * Copies a path or the whole tree into a new session, in one transaction and of one moment, without holding up the writers of the source.
 * The rules are those of `forkSession` of a store on SQLite. Entries are copied on the server; of a path that is not the whole
 * session, payloads are read in pages for the totals.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | SessionExistsError}
 */
export async function forkSession(
  database: PgDatabase,
  id: SessionId,
  fork: records.Fork,
  first: FirstWrites,
): Promise<records.SessionRecord> {
  await listFirst(database, fork.into.title, first);
  return database.writeOnSnapshot(async (transaction) => {
    const source = await findSessionRecord(transaction, id);
    if (source === undefined) throw new SessionNotFoundError(id);
    const end = await resolveEnd(transaction, id, fork.at);
    const name = fork.into.title === undefined ? await nameFork(transaction, id) : null;
    const made = await insertNewSession(transaction, newFork(source, fork, end?.id ?? null, name));
    const copy = { session: id, to: made.id };
    if (fork.tree) await forkTree(transaction, made, copy, fork.at, end?.seq ?? null);
    else if (end !== null) await forkPath(transaction, made, copy, end.seq);
    if (fork.values) await copyValues(transaction, copy);
    // Its counters are those of the copy by now.
    if (first !== undefined) await writeFirst(transaction, await lockSession(transaction, made.id), first);
    return (await findSessionRecord(transaction, made.id)) ?? source;
  });
}

interface End {
  readonly id: EntryId;
  readonly seq: number;
}

const entryOf = pgQuery<{ session: SessionId; id: EntryId }, End>(({ sql, p }) =>
  pgRaw(sql<End>`SELECT entry.id, entry.seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND entry.id = ${p.id}`),
);

/** Returns the end of the copy; null: before the first entry. */
async function resolveEnd(transaction: Database, session: SessionId, at: EntryId | null | undefined): Promise<End | null> {
  if (at === null) return null;
  if (at === undefined) {
    const { entryId, seq } = await readLeaf(transaction, session, records.MAIN_LEAF);
    return entryId === null || seq === null ? null : { id: entryId, seq };
  }
  const found = await transaction.get(entryOf, { session, id: at });
  if (found === undefined) throw new EntryNotFoundError(session, at);
  return found;
}

/** Copies all branches and leaves. `at`: where the leaf `main` of the copy is; undefined: where that of the source is. */
async function forkTree(
  transaction: Database,
  made: LockedSession,
  copy: { readonly session: SessionId; readonly to: SessionId },
  at: EntryId | null | undefined,
  end: number | null,
): Promise<void> {
  await copyTree(transaction, copy);
  if (at !== undefined) await saveLeaves(transaction, made.id, new Map([[records.MAIN_LEAF, end]]));
}

async function forkPath(
  transaction: Database,
  made: LockedSession,
  copy: { readonly session: SessionId; readonly to: SessionId },
  end: number,
): Promise<void> {
  await copyPath(transaction, copy, end);
  await saveRuns(transaction, made.id, [{ start: 1, parent: null, depth: 0 }]);
  const last = await new CopiedPath(transaction, made).finish();
  await saveLeaves(transaction, made.id, new Map([[records.MAIN_LEAF, last]]));
}

type CopiedRow = Pick<PgEntry, "seq" | "id" | "kind" | "depth" | "created_at_ms" | "preview" | "payload">;

const copiedRows = pgQuery<{ session: SessionId; after: number; limit: number }, CopiedRow>(({ sql, p }) =>
  pgRaw(sql<CopiedRow>`
    SELECT seq, id, kind, depth, created_at_ms, preview, payload FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after} ORDER BY seq LIMIT ${p.limit}`),
);

const putPayload = pgQuery<{ session: SessionId; seq: number; json: string; bytes: number; preview: string }>(({ sql, p }) =>
  pgRaw(sql`
    WITH uncounted AS (DELETE FROM entry_token_count WHERE ${ofSession(sql, p, "entry_token_count")} AND entry_seq = ${p.seq}::integer)
    UPDATE entry SET payload = ${p.json}, payload_bytes = ${p.bytes}, preview = ${p.preview}
    WHERE ${ofSession(sql, p, "entry")} AND seq = ${p.seq}::integer`),
);
const putPreviews = pgQuery<{ session: SessionId; seqs: readonly number[]; previews: readonly string[] }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET preview = given.preview FROM unnest(${p.seqs}::integer[], ${p.previews}::text[]) AS given (seq, preview)
    WHERE ${ofSession(sql, p, "entry")} AND entry.seq = given.seq`),
);

/** The number of entries of a copy that one statement reads. */
const PAGE = 500;

/** The data derived from the entries of a copied path: totals, previews in its directory, and summaries whose branch was not copied. */
class CopiedPath {
  readonly #transaction: Database;
  readonly #session: LockedSession;
  readonly #totals = new EntryTotals();
  readonly #ids = new Set<EntryId>();

  constructor(transaction: Database, session: LockedSession) {
    this.#transaction = transaction;
    this.#session = session;
  }

  /** Returns the number of the last entry. */
  async finish(): Promise<number> {
    const { id: session } = this.#session;
    let last = 0;
    for (;;) {
      const rows = await this.#transaction.all(copiedRows, { session, after: last, limit: PAGE });
      const changed: { readonly seq: number; readonly preview: string }[] = [];
      for (const row of rows) {
        const preview = await this.#add(row);
        if (preview !== row.preview) changed.push({ seq: row.seq, preview });
        last = row.seq;
      }
      if (changed.length > 0) {
        const [seqs, previews] = [changed.map(({ seq }) => seq), changed.map(({ preview }) => preview)];
        await this.#transaction.run(putPreviews, { session, seqs, previews });
      }
      if (rows.length < PAGE) break;
    }
    await saveTotals(this.#transaction, this.#session, this.#totals.take(), true);
    return last;
  }

  /** Adds an entry to the totals; returns its preview. */
  async #add(row: CopiedRow): Promise<string> {
    const { id: session, cwd } = this.#session;
    const given = parsePayload(session, row);
    const copied = withoutForeignBranch(given, row.payload, (id) => this.#ids.has(id));
    this.#ids.add(row.id);
    const preview = previewOf(copied.payload, cwd);
    const bytes = Buffer.byteLength(copied.payloadJson);
    if (copied.payloadJson !== row.payload)
      await this.#transaction.run(putPayload, { session, seq: row.seq, json: copied.payloadJson, bytes, preview });
    this.#totals.add({ ...copied, createdAtMs: row.created_at_ms, inherited: 1, origin: null }, preview, bytes, row.depth);
    return preview;
  }
}
