import { PayloadDamagedError } from "../../errors/store-errors.js";
import type { EntrySeq, SessionSeq } from "../../port/rows.js";
import type { Violation } from "../../port/session-storage.js";
import type { Connection } from "../file/connection.js";
import { type BlockRow, openBlock } from "../payloads/payloads.js";
import { query, rawQuery } from "../query.js";

type CheckedBlock = BlockRow & { readonly session_id: string };

const nextBlock = query<{ after: number; session: string | null }, CheckedBlock>(({ sql, p }) =>
  rawQuery(sql<CheckedBlock>`
    SELECT payload_block.*, session.id AS session_id FROM payload_block JOIN session ON session.seq = payload_block.session_seq
    WHERE payload_block.seq > ${p.after} AND (${p.session} IS NULL OR session.id = ${p.session}) ORDER BY payload_block.seq LIMIT 1`),
);

const entriesBetween = query<{ session: SessionSeq; first: EntrySeq; last: EntrySeq }, { seq: EntrySeq }>(({ db, p }) =>
  db
    .selectFrom("entry")
    .select("seq")
    .where("session_seq", "=", p.session)
    .where("seq", ">=", p.first)
    .where("seq", "<=", p.last)
    .orderBy("seq"),
);

const blockBefore = query<{ session: SessionSeq; last: EntrySeq }, { seq: number; last_seq: EntrySeq }>(({ db, p }) =>
  db
    .selectFrom("payload_block")
    .select(["seq", "last_seq"])
    .where("session_seq", "=", p.session)
    .where("last_seq", "<", p.last)
    .orderBy("last_seq", "desc")
    .limit(1),
);

/**
 * Finds blocks that cannot be read, do not hold exactly the entries of their range, or hold entries of another block. Reads and
 * decompresses every block, one at a time. Returns the row numbers of the entries whose payloads cannot be read.
 */
export function* findBlockViolations(
  connection: Connection,
  sessionId: string | undefined,
): Generator<Violation, ReadonlySet<EntrySeq>, void> {
  const damaged = new Set<EntrySeq>();
  for (let after = 0; ; ) {
    // One snapshot, because another process may delete the session between the queries.
    const checked = connection.read(() => checkNext(connection, sessionId ?? null, after));
    if (checked === undefined) return damaged;
    const { block, entries, fault } = checked;
    after = block.seq;
    if (fault === undefined) continue;
    for (const { seq } of entries) damaged.add(seq);
    yield { rule: "damaged-block", sessionId: block.session_id, entryId: null, message: fault };
  }
}

function checkNext(connection: Connection, session: string | null, after: number) {
  const block = connection.get(nextBlock, { after, session });
  if (block === undefined) return undefined;
  const entries = entriesOf(connection, block);
  return { block, entries, fault: findFault(connection, block, entries) ?? findOverlap(connection, block) };
}

function entriesOf(connection: Connection, block: BlockRow): readonly { readonly seq: EntrySeq }[] {
  return connection.all(entriesBetween, { session: block.session_seq, first: block.first_seq, last: block.last_seq });
}

function findFault(connection: Connection, block: BlockRow, entries: readonly { readonly seq: EntrySeq }[]): string | undefined {
  try {
    const { seqs } = openBlock(connection, block);
    if (seqs.length === entries.length && entries.every(({ seq }, at) => seq === seqs[at])) return undefined;
    return `Block ${block.seq} does not hold the entries of its session in rows ${block.first_seq} to ${block.last_seq}.`;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return `Block ${block.seq}: ${error.message}`;
    throw error;
  }
}

function findOverlap(connection: Connection, { seq, session_seq, first_seq, last_seq }: BlockRow): string | undefined {
  const before = connection.get(blockBefore, { session: session_seq, last: last_seq });
  if (before === undefined || before.last_seq < first_seq) return undefined;
  const other = connection.get(nextBlock, { after: before.seq - 1, session: null });
  // If the other block has a fault, its range is probably the wrong one.
  if (other === undefined || findFault(connection, other, entriesOf(connection, other)) !== undefined) return undefined;
  return `Block ${seq} holds entries that are also in block ${other.seq}: rows ${first_seq} to ${before.last_seq}.`;
}
