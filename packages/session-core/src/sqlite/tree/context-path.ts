import type { EntryPayload } from "../../entry/entry.js";
import type { EntrySeq } from "../../ids/ids.js";
import type { ContextEnd, ContextEntry, ContextPath, SessionRow } from "../../port/records.js";
import type { Connection } from "../file/connection.js";
import { PAYLOAD_COLUMNS, PAYLOAD_JOIN } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";
import type { EntryTable } from "../schema.js";
import { parsePayload, requireEntrySeq, type TypedPayloadRow } from "./entry-rows.js";
import { requireLeafSeq } from "./leaves.js";
import { isOnPath, readPathState, walkUpTo } from "./paths.js";

type WindowRow = TypedPayloadRow & Pick<EntryTable, "id">;

// Parents have lower row numbers, so the walk ends at `stop` and reads nothing before the first kept entry.
const walk = query<{ from: EntrySeq; stop: number }, WindowRow>(({ sql, p }) =>
  rawQuery(sql<WindowRow>`
    WITH RECURSIVE ${walkUpTo(sql, p.from, p.stop)}
    SELECT ${sql.raw(PAYLOAD_COLUMNS)}, entry.id, entry.type FROM up CROSS JOIN entry ON entry.seq = up.seq ${sql.raw(PAYLOAD_JOIN)}`),
);

const firstKeptOf = query<{ seq: EntrySeq }, { target_seq: EntrySeq | null }>(({ db, p }) =>
  db.selectFrom("entry").select("target_seq").where("seq", "=", p.seq),
);

/**
 * Reads the entries and settings of a context. `knownSeq` is the last entry of a context that the caller holds: if it is on the
 * path, only the entries after it are read. Call it inside `read`.
 *
 * Cost: the entries from the first kept one to the leaf.
 *
 * @throws {EntryNotFoundError | LeafNotFoundError}
 */
export function readContextPath(
  connection: Connection,
  session: SessionRow,
  at: ContextEnd,
  knownSeq: EntrySeq | null,
  cache: SettingsCache,
): ContextPath {
  const leaf = readPathState(connection, resolvePosition(connection, session, at));
  const settings = {
    endSeq: leaf.seq,
    model: cache.get(connection, leaf.modelSeq),
    thinking: cache.get(connection, leaf.thinkingSeq),
    system: cache.get(connection, leaf.systemSeq),
  };
  const { seq, compactionSeq } = leaf;
  if (seq === null) return { ...settings, entries: [], continues: false, compactionSeq: null, firstKeptSeq: null };
  const firstKeptSeq = compactionSeq === null ? null : (connection.get(firstKeptOf, { seq: compactionSeq })?.target_seq ?? null);
  const bounds = { ...settings, compactionSeq, firstKeptSeq };
  const continuation = knownSeq === null ? undefined : readContinuation(connection, seq, knownSeq);
  if (continuation !== undefined) return { ...bounds, entries: continuation, continues: true };
  return { ...bounds, entries: readEntriesUp(connection, seq, firstKeptSeq ?? compactionSeq ?? 0), continues: false };
}

function resolvePosition(connection: Connection, session: SessionRow, at: ContextEnd): EntrySeq | null {
  if ("leafName" in at) return requireLeafSeq(connection, session, at.leafName);
  return at.entryId === null ? null : requireEntrySeq(connection, session, at.entryId);
}

/** Returns the entries after `known`, or undefined if it is not on the path. Checks that before it reads a payload. */
function readContinuation(connection: Connection, leaf: EntrySeq, known: EntrySeq): readonly ContextEntry[] | undefined {
  if (known === leaf) return [];
  if (!isOnPath(connection, known, leaf)) return undefined;
  return readEntriesUp(connection, leaf, known).slice(1);
}

function readEntriesUp(connection: Connection, from: EntrySeq, stop: number): readonly ContextEntry[] {
  const rows = connection.all(walk, { from, stop });
  const entries: ContextEntry[] = new Array(rows.length);
  for (const [index, row] of rows.entries()) {
    entries[rows.length - 1 - index] = { id: row.id, seq: row.seq, payload: parsePayload(connection, row) };
  }
  return entries;
}

const payloadBySeq = query<{ seq: EntrySeq }, TypedPayloadRow>(({ db, p }) =>
  db
    .selectFrom("entry")
    .leftJoin("payload", "payload.entry_seq", "entry.seq")
    .select(["seq", "session_seq", "type", "payload.json as payload_json"])
    .where("seq", "=", p.seq),
);

/** The maximum number of cached payloads: a few settings for each open session of a process. */
const MOST_CACHED = 64;

/**
 * Caches the payloads of entries that set the model, the thinking level and the system message, which every context needs.
 * Entries never change, so the cache needs no invalidation.
 */
export class SettingsCache {
  readonly #payloads = new Map<EntrySeq, EntryPayload>();

  get(connection: Connection, seq: EntrySeq | null): EntryPayload | null {
    if (seq === null) return null;
    const known = this.#payloads.get(seq);
    if (known !== undefined) return known;
    const row = connection.get(payloadBySeq, { seq });
    if (row === undefined) return null;
    if (this.#payloads.size >= MOST_CACHED) this.#payloads.clear();
    const payload = parsePayload(connection, row);
    this.#payloads.set(seq, payload);
    return payload;
  }
}
