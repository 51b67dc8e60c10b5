import { PayloadDamagedError } from "../../errors/store-errors.js";
import type { EntrySeq, SessionSeq } from "../../ids/ids.js";
import { BlockFault, type EncodedBlock, OpenBlock } from "../file/block.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";

// The one way to the payload of an entry. The newest payloads of a session are rows of the table `payload`, older ones lie
// compressed in `payload_block`. A query joins `payload` (LEFT JOIN); where its row is missing, the text is read from the block.

/** The columns that a query must select, so that `payloadText` finds the payload. */
export interface PayloadRow {
  readonly seq: EntrySeq;
  readonly session_seq: SessionSeq;
  /** `payload.json`; null if the payload is in a block. */
  readonly payload_json: string | null;
}

/** The columns of a `PayloadRow` and its join, for SQL on the table `entry`. */
export const PAYLOAD_COLUMNS = "entry.seq, entry.session_seq, payload.json AS payload_json";
export const PAYLOAD_JOIN = "LEFT JOIN payload ON payload.entry_seq = entry.seq";

/** In bytes. */
const LARGE = 64 * 1024;

/** A row of a page of many. It omits a large payload, which bounds the memory of the page. */
export interface PagedPayloadRow extends PayloadRow {
  readonly payload_bytes: number;
}

/** The columns of a `PagedPayloadRow`. */
export const PAGED_PAYLOAD_COLUMNS = `entry.seq, entry.session_seq, entry.payload_bytes,
  CASE WHEN entry.payload_bytes <= ${LARGE} THEN payload.json END AS payload_json`;

const rowOf = query<{ seq: EntrySeq }, PayloadRow>(({ sql, p }) =>
  rawQuery(sql<PayloadRow>`SELECT ${sql.raw(PAYLOAD_COLUMNS)} FROM entry ${sql.raw(PAYLOAD_JOIN)} WHERE entry.seq = ${p.seq}`),
);

/** Returns the row with its payload, also if that is large. Call it inside the same `read` as the page. */
export function completeRow(connection: Connection, row: PagedPayloadRow): PayloadRow {
  return row.payload_bytes <= LARGE ? row : (connection.get(rowOf, { seq: row.seq }) ?? row);
}

/** The maximum number of blocks that are kept open for each connection, and their maximum size in bytes. */
const MOST_BLOCKS = 64;
const MOST_BYTES = 8 * 1024 * 1024;

/** A row of `payload_block`. */
export interface BlockRow extends EncodedBlock {
  readonly seq: number;
  readonly session_seq: SessionSeq;
}

// In an undamaged store exactly one block includes an entry.
const blockAround = query<{ session: SessionSeq; seq: EntrySeq; skip: number }, BlockRow>(({ db, p }) =>
  db
    .selectFrom("payload_block")
    .selectAll()
    .where("session_seq", "=", p.session)
    .where("last_seq", ">=", p.seq)
    .where("first_seq", "<=", p.seq)
    .orderBy("last_seq")
    .limit(1)
    .offset(p.skip),
);

/**
 * Returns the JSON text of the payload of an entry. Consecutive entries of one session are in the same block, which is opened once.
 *
 * @throws {PayloadDamagedError} the block is damaged, or there is neither a row nor a block.
 */
export function payloadText(connection: Connection, row: PayloadRow): string {
  return row.payload_json ?? textInBlock(connection, row.session_seq, row.seq);
}

function textInBlock(connection: Connection, session: SessionSeq, seq: EntrySeq): string {
  const blocks = blocksOf(connection);
  const known = blocks.find(session, seq);
  if (known !== undefined) return known;
  let fault: PayloadDamagedError | undefined;
  for (let skip = 0; ; skip++) {
    const row = connection.get(blockAround, { session, seq, skip });
    if (row === undefined) throw fault ?? damagedPayload(connection, { session_seq: session, seq }, "it is missing");
    try {
      const text = blocks.open(connection, row, seq).textOf(seq);
      if (text !== undefined) return text;
    } catch (error) {
      // A block with a wrong range may hide the one that holds the entry.
      if (!(error instanceof PayloadDamagedError)) throw error;
      fault ??= error;
    }
  }
}

/** Returns the error for the payload of one entry. */
export function damagedPayload(
  connection: Connection,
  { session_seq, seq }: Omit<PayloadRow, "payload_json">,
  reason: string,
  options?: { cause: unknown },
): PayloadDamagedError {
  return new PayloadDamagedError(connection.path, sessionIdOf(connection, session_seq), [seq, seq], reason, options);
}

/** Decompresses a block, or its start up to an entry. @throws {PayloadDamagedError} */
export function openBlock(connection: Connection, row: BlockRow, upTo?: EntrySeq): OpenBlock {
  try {
    return new OpenBlock(row, upTo);
  } catch (error) {
    if (!(error instanceof BlockFault)) throw error;
    const session = sessionIdOf(connection, row.session_seq);
    throw new PayloadDamagedError(connection.path, session, [row.first_seq, row.last_seq], error.message, { cause: error });
  }
}

const idOf = query<{ session: SessionSeq }, { id: string }>(({ db, p }) =>
  db.selectFrom("session").select("id").where("seq", "=", p.session),
);

function sessionIdOf(connection: Connection, session: SessionSeq): string | null {
  return connection.get(idOf, { session })?.id ?? null;
}

/**
 * The blocks that were opened last. Payloads never change and row numbers are never given twice, so a block that another process
 * has merged with another one, or deleted with its session, needs no removal.
 */
class BlockCache {
  /** Most recently used last. */
  #blocks: { readonly session: SessionSeq; readonly block: OpenBlock }[] = [];
  #bytes = 0;

  find(session: SessionSeq, seq: EntrySeq): string | undefined {
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const cached = this.#blocks[at];
      if (cached === undefined || cached.session !== session || cached.block.firstSeq > seq || cached.block.lastSeq < seq) continue;
      if (at < this.#blocks.length - 1) this.#blocks.push(...this.#blocks.splice(at, 1));
      return cached.block.textOf(seq);
    }
    return undefined;
  }

  /** Decompresses the start of a block up to an entry; all of it if its start was not enough before. */
  open(connection: Connection, row: BlockRow, seq: EntrySeq): OpenBlock {
    const known = this.#blocks.findIndex((cached) => cached.session === row.session_seq && cached.block.lastSeq === row.last_seq);
    for (const { block } of known < 0 ? [] : this.#blocks.splice(known, 1)) this.#bytes -= block.bytes;
    const block = openBlock(connection, row, known < 0 ? seq : undefined);
    this.#blocks.push({ session: row.session_seq, block });
    this.#bytes += block.bytes;
    // The newest block stays, whatever its size: the next entry is probably in it.
    while (this.#blocks.length > 1 && (this.#blocks.length > MOST_BLOCKS || this.#bytes > MOST_BYTES)) {
      this.#bytes -= this.#blocks.shift()?.block.bytes ?? 0;
    }
    return block;
  }
}

const caches = new WeakMap<Connection, BlockCache>();

function blocksOf(connection: Connection): BlockCache {
  const known = caches.get(connection);
  if (known !== undefined) return known;
  const made = new BlockCache();
  caches.set(connection, made);
  return made;
}
