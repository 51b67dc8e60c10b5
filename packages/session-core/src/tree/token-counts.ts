import { InvalidEntryError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { Connection } from "../storage/connection.js";
import { plain, query } from "../storage/query.js";
import type { CounterSeq, EntrySeq, SessionSeq } from "../storage/schema.js";

/** The format version that has the tables of counts. */
const SINCE_VERSION = 2;

const counterNamed = query<{ name: string }, { seq: CounterSeq }>(({ db, p }) =>
  db.selectFrom("token_counter").select("seq").where("name", "=", p.name),
);
const addCounter = query<{ name: string }>(({ db, p }) => db.insertInto("token_counter").values({ name: p.name }));

const countsOf = query<{ session: SessionSeq; counter: CounterSeq; ids: string }, { id: EntryId; tokens: number }>(({ sql, p }) =>
  plain(sql<{ id: EntryId; tokens: number }>`
    SELECT entry.id, tokens FROM json_each(${p.ids}) AS wanted
      CROSS JOIN entry ON entry.session_seq = ${p.session} AND entry.id = wanted.value
      CROSS JOIN entry_token_count ON entry_seq = entry.seq AND counter_seq = ${p.counter}`),
);

// `WHERE TRUE` tells SQLite's parser that the ON behind it starts no join.
const putCounts = query<{ session: SessionSeq; counter: CounterSeq; counts: string }>(({ sql, p }) =>
  plain(sql`
    INSERT INTO entry_token_count (entry_seq, counter_seq, tokens)
    SELECT entry.seq, ${p.counter}, given.value ->> 1 FROM json_each(${p.counts}) AS given
      CROSS JOIN entry ON entry.session_seq = ${p.session} AND entry.id = given.value ->> 0
    WHERE TRUE
    ON CONFLICT (entry_seq, counter_seq) DO UPDATE SET tokens = excluded.tokens`),
);

/** The counts that are kept of some entries of a session, by id. One query, whatever their number. */
export function tokenCounts(
  connection: Connection,
  session: SessionSeq,
  counter: string,
  ids: readonly EntryId[],
): ReadonlyMap<EntryId, number> {
  // A file of an older version that was opened to be read stays as it is, and has none.
  if (connection.readOnly && connection.version < SINCE_VERSION) return new Map();
  const seq = connection.get(counterNamed, { name: counter })?.seq;
  if (seq === undefined || ids.length === 0) return new Map();
  const rows = connection.all(countsOf, { session, counter: seq, ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, tokens }) => [id, tokens]));
}

/**
 * Keeps counts in place of those that are there; ids of no entry are left out. Call it inside `write`.
 *
 * @throws {InvalidEntryError} a count or the name of the counter is none.
 */
export function saveTokenCounts(connection: Connection, session: SessionSeq, counter: string, counts: ReadonlyMap<EntryId, number>): void {
  if (counter === "" || counter.length > 200) throw new InvalidEntryError("counter", "must be 1 to 200 characters");
  for (const tokens of counts.values()) {
    if (!Number.isSafeInteger(tokens) || tokens < 0) throw new InvalidEntryError("tokens", "must be a whole number from 0 up");
  }
  if (counts.size === 0) return;
  const seq = connection.get(counterNamed, { name: counter })?.seq ?? (connection.run(addCounter, { name: counter }).rowid as CounterSeq);
  connection.run(putCounts, { session, counter: seq, counts: JSON.stringify([...counts]) });
}

const copyCounts = query<{ from: EntrySeq; to: EntrySeq }>(({ sql, p }) =>
  plain(sql`
    INSERT INTO entry_token_count (entry_seq, counter_seq, tokens)
    SELECT ${p.to}, counter_seq, tokens FROM entry_token_count WHERE entry_seq = ${p.from}`),
);

/** Gives a copy of an entry the counts of the entry itself. Call it inside `write`. */
export function copyTokenCounts(connection: Connection, from: EntrySeq, to: EntrySeq): void {
  connection.run(copyCounts, { from, to });
}
