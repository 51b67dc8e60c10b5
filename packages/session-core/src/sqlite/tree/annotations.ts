import type { CounterSeq, EntryId, EntrySeq, SessionSeq } from "../../ids/ids.js";
import type { Label, SessionRow } from "../../port/records.js";
import { assertTokenCounts, toSingleLine } from "../../rules/session-columns.js";
import type { Connection } from "../file/connection.js";
import { query, rawQuery } from "../query.js";

const putLabel = query<{ session: SessionSeq; entry: EntrySeq; label: string; at: number }>(({ db, p }) =>
  db
    .insertInto("label")
    .values({ session_seq: p.session, entry_seq: p.entry, label: p.label, created_at_ms: p.at })
    .onConflict((conflict) => conflict.columns(["session_seq", "entry_seq"]).doUpdateSet({ label: p.label, created_at_ms: p.at })),
);
const removeLabel = query<{ session: SessionSeq; entry: EntrySeq }>(({ db, p }) =>
  db.deleteFrom("label").where("session_seq", "=", p.session).where("entry_seq", "=", p.entry),
);

/** Sets the label of an entry; null or white space removes it. */
export function setLabel(connection: Connection, session: SessionSeq, entry: EntrySeq, label: string | null, createdAtMs: number): void {
  const line = label === null ? "" : toSingleLine(label);
  if (line === "") connection.run(removeLabel, { session, entry });
  else connection.run(putLabel, { session, entry, label: line, at: createdAtMs });
}

const labelRows = query<{ session: SessionSeq }, Label>(({ db, p }) =>
  db
    .selectFrom("label")
    .innerJoin("entry", "entry.seq", "label.entry_seq")
    .select(["entry.id as entryId", "label.label", "label.created_at_ms as createdAtMs"])
    .where("label.session_seq", "=", p.session)
    .orderBy("label.entry_seq"),
);

/** Lists the labels that contain `text`, ignoring case, oldest entry first. */
export function listLabels(connection: Connection, session: SessionRow, text = ""): readonly Label[] {
  // Compared in JavaScript, because lower() of SQLite converts ASCII letters only.
  const part = text.toLowerCase();
  return connection.all(labelRows, { session: session.seq }).filter(({ label }) => label.toLowerCase().includes(part));
}

const labelRow = query<{ session: SessionSeq; entry: EntrySeq }, { label: string; createdAtMs: number }>(({ db, p }) =>
  db
    .selectFrom("label")
    .select(["label", "created_at_ms as createdAtMs"])
    .where("session_seq", "=", p.session)
    .where("entry_seq", "=", p.entry),
);

/** Returns the label of an entry and its time, or undefined. */
export function findLabel(connection: Connection, session: SessionSeq, entry: EntrySeq): Omit<Label, "entryId"> | undefined {
  return connection.get(labelRow, { session, entry });
}

const counterNamed = query<{ name: string }, { seq: CounterSeq }>(({ db, p }) =>
  db.selectFrom("token_counter").select("seq").where("name", "=", p.name),
);
const addCounter = query<{ name: string }>(({ db, p }) =>
  db
    .insertInto("token_counter")
    .values({ name: p.name })
    .onConflict((conflict) => conflict.doNothing()),
);

const countsOf = query<{ session: SessionSeq; counter: CounterSeq; ids: string }, { id: EntryId; tokens: number }>(({ sql, p }) =>
  rawQuery(sql<{ id: EntryId; tokens: number }>`
    SELECT entry.id, tokens FROM json_each(${p.ids}) AS wanted
      CROSS JOIN entry ON entry.session_seq = ${p.session} AND entry.id = wanted.value
      CROSS JOIN entry_token_count ON entry_seq = entry.seq AND counter_seq = ${p.counter}`),
);

// Without `WHERE TRUE` SQLite parses the ON of the upsert as the ON of a join.
const putCounts = query<{ session: SessionSeq; counter: string; counts: string }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO entry_token_count (entry_seq, counter_seq, tokens)
    SELECT entry.seq, (SELECT seq FROM token_counter WHERE name = ${p.counter}), given.value ->> 1 FROM json_each(${p.counts}) AS given
      CROSS JOIN entry ON entry.session_seq = ${p.session} AND entry.id = given.value ->> 0
    WHERE TRUE
    ON CONFLICT (entry_seq, counter_seq) DO UPDATE SET tokens = excluded.tokens`),
);

/** Reads stored token counts by entry id, in one query. Entries without a count are missing in the map. */
export function readTokenCounts(
  connection: Connection,
  session: SessionRow,
  counter: string,
  ids: readonly EntryId[],
): ReadonlyMap<EntryId, number> {
  const seq = connection.get(counterNamed, { name: counter })?.seq;
  if (seq === undefined || ids.length === 0) return new Map();
  const rows = connection.all(countsOf, { session: session.seq, counter: seq, ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, tokens }) => [id, tokens]));
}

/**
 * Stores token counts, replacing those of the same counter. Ignores ids of unknown entries. Call it inside `write`.
 *
 * @throws {InvalidEntryError} the counter name is empty or longer than 200 characters, or a count is not a non-negative safe integer.
 */
export function saveTokenCounts(connection: Connection, session: SessionRow, counter: string, counts: ReadonlyMap<EntryId, number>): void {
  assertTokenCounts(counter, counts);
  if (counts.size === 0) return;
  connection.run(addCounter, { name: counter });
  connection.run(putCounts, { session: session.seq, counter, counts: JSON.stringify([...counts]) });
}

const copyCounts = query<{ from: EntrySeq; to: EntrySeq }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO entry_token_count (entry_seq, counter_seq, tokens)
    SELECT ${p.to}, counter_seq, tokens FROM entry_token_count WHERE entry_seq = ${p.from}`),
);

/** Copies the token counts of an entry to its copy in a fork. Call it inside `write`. */
export function copyTokenCounts(connection: Connection, from: EntrySeq, to: EntrySeq): void {
  connection.run(copyCounts, { from, to });
}
