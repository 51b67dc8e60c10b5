import { PayloadDamagedError } from "../errors/store-errors.js";
import type { Violation } from "../port/session-storage.js";
import type { Connection } from "../storage/connection.js";
import { type BlockRow, openBlock } from "../storage/payloads.js";
import { query, rawQuery } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";

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

/**
 * Finds blocks that cannot be read, or do not hold exactly the entries of their range. Reads and decompresses every block, one at
 * a time. Returns the row numbers of the entries whose payloads cannot be read.
 */
export function* findBlockViolations(
  connection: Connection,
  sessionId: string | undefined,
): Generator<Violation, ReadonlySet<EntrySeq>, void> {
  const damaged = new Set<EntrySeq>();
  for (let after = 0; ; ) {
    const block = connection.get(nextBlock, { after, session: sessionId ?? null });
    if (block === undefined) return damaged;
    after = block.seq;
    const entries = connection.all(entriesBetween, { session: block.session_seq, first: block.first_seq, last: block.last_seq });
    const message = findFault(connection, block, entries);
    if (message === undefined) continue;
    for (const { seq } of entries) damaged.add(seq);
    yield { rule: "damaged-block", sessionId: block.session_id, entryId: null, message };
  }
}

function findFault(connection: Connection, block: CheckedBlock, entries: readonly { readonly seq: EntrySeq }[]): string | undefined {
  try {
    const { seqs } = openBlock(connection, block);
    if (seqs.length === entries.length && entries.every(({ seq }, at) => seq === seqs[at])) return undefined;
    return `Block ${block.seq} of session ${block.session_id} does not hold the entries in rows ${block.first_seq} to ${block.last_seq}.`;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return `Block ${block.seq}: ${error.message}`;
    throw error;
  }
}
