import { EntryNotFoundError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { LeafView } from "../port/records.js";
import type { Connection } from "../storage/connection.js";
import { query } from "../storage/query.js";
import type { EntrySeq, SessionSeq } from "../storage/schema.js";

/** What an entry passes on to its children: its place and what it inherits from its path. */
export interface Tip extends LeafView {
  readonly entryId: EntryId | null;
  readonly seq: EntrySeq | null;
  /** Entries above it; -1 before the first entry. */
  readonly depth: number;
  readonly compactionSeq: EntrySeq | null;
  readonly modelSeq: EntrySeq | null;
  readonly thinkingSeq: EntrySeq | null;
  readonly systemSeq: EntrySeq | null;
}

/** Before the first entry of any session. */
export const START: Tip = { entryId: null, seq: null, depth: -1, compactionSeq: null, modelSeq: null, thinkingSeq: null, systemSeq: null };

const tipBySeq = query<{ seq: EntrySeq }, Tip & { seq: EntrySeq }>(({ db, p }) =>
  db
    .selectFrom("entry")
    .select([
      "id as entryId",
      "seq",
      "depth",
      "compaction_seq as compactionSeq",
      "model_seq as modelSeq",
      "thinking_seq as thinkingSeq",
      "system_seq as systemSeq",
    ])
    .where("seq", "=", p.seq),
);

/** The tip at a row that exists; null: before the first entry. */
export function tipAt(connection: Connection, seq: EntrySeq | null): Tip {
  return (seq === null ? undefined : connection.get(tipBySeq, { seq })) ?? START;
}

const seqOfEntry = query<{ session: SessionSeq; id: EntryId }, { seq: EntrySeq }>(({ db, p }) =>
  db.selectFrom("entry").select("seq").where("session_seq", "=", p.session).where("id", "=", p.id),
);

/** The row of an entry by its id, or undefined. */
export function findEntrySeq(connection: Connection, session: SessionSeq, id: EntryId): EntrySeq | undefined {
  return connection.get(seqOfEntry, { session, id })?.seq;
}

/** The row of an entry by its id. @throws {EntryNotFoundError} */
export function entrySeq(connection: Connection, session: SessionSeq, sessionId: SessionId, id: EntryId): EntrySeq {
  const seq = findEntrySeq(connection, session, id);
  if (seq === undefined) throw new EntryNotFoundError(sessionId, id);
  return seq;
}
