import { PayloadDamagedError, StoreReadOnlyError } from "../../errors/store-errors.js";
import { type EntrySeq, type SessionSeq, toEntrySeq } from "../../ids/ids.js";
import type { FileSize, PackScope, RowSize } from "../../port/session-storage.js";
import { BLOCK_BYTES, BLOCK_ENTRIES, type BlockEntry, divideIntoBlocks, type EncodedBlock } from "../file/block.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";
import { type BlockRow, openBlock } from "./payloads.js";

/** The number of the newest payloads of an active session that stay rows, so that its context reads without decompressing. */
const KEPT_ROWS = 128;
const IDLE_AFTER_MS = 60 * 60 * 1000;

/** The next block: the rows and the block that it replaces, and its payloads. */
export interface PackPlan {
  readonly session: SessionSeq;
  /** The rows that the block replaces. */
  readonly rows: readonly EntrySeq[];
  /** The last block of the session if it was not full: the new block replaces it too. */
  readonly merged: number | null;
  /** The payloads of the new block, oldest first. */
  readonly entries: readonly BlockEntry[];
}

interface Candidate {
  readonly seq: SessionSeq;
  readonly row_count: number;
  readonly active_at_ms: number;
}

const candidate = query<{ after: number; least: number; idleBefore: number }, Candidate>(({ sql, p }) =>
  rawQuery(sql<Candidate>`
    SELECT seq, row_count, active_at_ms FROM session
    WHERE seq > ${p.after} AND (row_count >= ${p.least} OR (row_count > 0 AND active_at_ms < ${p.idleBefore})) ORDER BY seq LIMIT 1`),
);

// The unique index of session and row number gives the order.
const oldestRow = query<{ session: SessionSeq; after: EntrySeq }, BlockEntry>(({ sql, p }) =>
  rawQuery(sql<BlockEntry>`
    SELECT entry.seq, payload.json FROM entry CROSS JOIN payload ON payload.entry_seq = entry.seq
    WHERE entry.session_seq = ${p.session} AND entry.seq > ${p.after} ORDER BY entry.seq LIMIT 1`),
);

const lastBlock = query<{ session: SessionSeq }, BlockRow>(({ db, p }) =>
  db.selectFrom("payload_block").selectAll().where("session_seq", "=", p.session).orderBy("last_seq", "desc").limit(1),
);

/**
 * Chooses and reads the next blocks of one session, at most `count`; none if nothing has to be packed. `from`: the session of the last
 * plan, from which the search for the next one continues. Cost: the blocks; without `from`, and at the end, the sessions of the store.
 */
export function planPack(connection: Connection, scope: PackScope, from: SessionSeq | undefined, count: number): readonly PackPlan[] {
  if (connection.readOnly) throw new StoreReadOnlyError(connection.path);
  return connection.read(() => {
    const plans = from === undefined ? [] : planAfter(connection, scope, from - 1, count);
    return plans.length > 0 ? plans : planAfter(connection, scope, 0, count);
  });
}

function planAfter(connection: Connection, scope: PackScope, start: number, count: number): readonly PackPlan[] {
  const idleBefore = Date.now() - IDLE_AFTER_MS;
  const least = scope === "all" ? 1 : KEPT_ROWS + BLOCK_ENTRIES;
  for (let after = start; ; ) {
    const found = connection.get(candidate, { after, least, idleBefore });
    if (found === undefined) return [];
    const whole = scope === "all" || found.active_at_ms < idleBefore;
    const plans = planBlocks(connection, found.seq, whole ? found.row_count : found.row_count - KEPT_ROWS, count);
    if (plans.length > 0) return plans;
    // Its count of rows is wrong, which `verify` reports.
    after = found.seq;
  }
}

function planBlocks(connection: Connection, session: SessionSeq, most: number, count: number): readonly PackPlan[] {
  const last = connection.get(lastBlock, { session });
  const earlier = last === undefined ? [] : mergeable(connection, last);
  const rows = rowsAfter(connection, session, last?.last_seq ?? toEntrySeq(0), most);
  const plans: PackPlan[] = [];
  let merged = earlier.length;
  let length = 0;
  for (const entries of divideIntoBlocks(chain(earlier, rows))) {
    // A large payload is a block of its own; the last block then stays as it is.
    if (entries.length > merged) {
      const newRows = entries.slice(merged).map(({ seq }) => seq);
      plans.push({ session, rows: newRows, merged: merged > 0 ? (last?.seq ?? null) : null, entries });
    }
    merged = 0;
    // Blocks of large payloads are not read eight at a time.
    length += entries.reduce((sum, { json }) => sum + json.length, 0);
    if (plans.length === count || length >= count * BLOCK_BYTES) break;
  }
  return plans;
}

/** The entries of a block with room for more; none of a full or damaged one, which `verify` reports. */
function mergeable(connection: Connection, block: BlockRow): readonly BlockEntry[] {
  if (block.entries >= BLOCK_ENTRIES || block.payload_bytes >= BLOCK_BYTES) return [];
  try {
    return openBlock(connection, block).allEntries();
  } catch (error) {
    if (error instanceof PayloadDamagedError) return [];
    throw error;
  }
}

function* chain(first: Iterable<BlockEntry>, second: Iterable<BlockEntry>): Generator<BlockEntry, void, void> {
  yield* first;
  yield* second;
}

/** Reads the oldest rows of a session one by one, because a payload may be large. */
function* rowsAfter(connection: Connection, session: SessionSeq, from: EntrySeq, most: number): Generator<BlockEntry, void, void> {
  let after = from;
  for (let count = 0; count < most; count++) {
    const row = connection.get(oldestRow, { session, after });
    if (row === undefined) return;
    yield row;
    after = row.seq;
  }
}

const insertBlock = query<Omit<BlockRow, "seq">>(({ db, p }) =>
  db.insertInto("payload_block").values({
    session_seq: p.session_seq,
    first_seq: p.first_seq,
    last_seq: p.last_seq,
    entries: p.entries,
    payload_bytes: p.payload_bytes,
    codec: p.codec,
    checksum: p.checksum,
    data: p.data,
  }),
);
const removeBlock = query<{ seq: number }>(({ db, p }) => db.deleteFrom("payload_block").where("seq", "=", p.seq));
const sizeOfRows = query<{ seqs: string }, { count: number; bytes: number }>(({ sql, p }) =>
  rawQuery(sql<{ count: number; bytes: number }>`
    SELECT count(*) AS count, coalesce(sum(payload_bytes), 0) AS bytes FROM json_each(${p.seqs}) AS wanted
      CROSS JOIN payload ON payload.entry_seq = wanted.value CROSS JOIN entry ON entry.seq = payload.entry_seq`),
);
const removeRows = query<{ seqs: string }>(({ sql, p }) =>
  rawQuery(sql`DELETE FROM payload WHERE entry_seq IN (SELECT value FROM json_each(${p.seqs}))`),
);
const subtractRows = query<{ session: SessionSeq; count: number; bytes: number }>(({ sql, p }) =>
  rawQuery(sql`UPDATE session SET row_count = row_count - ${p.count}, row_bytes = row_bytes - ${p.bytes} WHERE seq = ${p.session}`),
);

/**
 * Replaces the rows of a plan by their block, in one transaction. Returns false and changes nothing if another process has packed
 * them or deleted the session since.
 */
export function commitPack(connection: Connection, plan: PackPlan, block: EncodedBlock): boolean {
  const seqs = JSON.stringify(plan.rows);
  return connection.writeUnsynced(() => {
    const { count, bytes } = connection.get(sizeOfRows, { seqs }) ?? { count: 0, bytes: 0 };
    if (count !== plan.rows.length) return false;
    if (plan.merged !== null && connection.run(removeBlock, { seq: plan.merged }) === 0) return false;
    connection.run(removeRows, { seqs });
    connection.run(insertBlock, { session_seq: plan.session, ...block });
    connection.run(subtractRows, { session: plan.session, count, bytes });
    return true;
  });
}

const sizeOfAllRows = query<Record<never, never>, RowSize>(({ sql }) =>
  rawQuery(sql<RowSize>`SELECT coalesce(sum(row_count), 0) AS entries, coalesce(sum(row_bytes), 0) AS bytes FROM session`),
);

/** Returns how many payloads of the store are rows. Cost: the sessions of the store. */
export function measureRows(connection: Connection): RowSize {
  return connection.get(sizeOfAllRows, {}) ?? { entries: 0, bytes: 0 };
}

/** Returns the size of the file. */
export function measureFile(connection: Connection): FileSize {
  const number = (pragma: string) => Number(Object.values(connection.pragma(pragma)[0] ?? {})[0]);
  const pageBytes = number("page_size");
  return { bytes: number("page_count") * pageBytes, freeBytes: number("freelist_count") * pageBytes };
}
