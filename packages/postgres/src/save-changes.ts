import type { SessionId } from "@bough/session-core";
import { type AddedTotals, chooseFirstText, type EntrySeq, keyBounds } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import type { LockedSession } from "./facts.js";
import type { Changes, NewEntryRow, NewRun, PlannedMove } from "./planned-session.js";
import { pgQuery, pgRaw } from "./query.js";
import { ofSession } from "./session-key.js";
import { addToUsage } from "./usage.js";

/** The columns of `NewEntryRow` with the types of their parameters. */
const ENTRY_COLUMNS = [
  ["seq", "integer"],
  ["id", "text"],
  ["parent_seq", "integer"],
  ["kind", "smallint"],
  ["depth", "integer"],
  ["created_at_ms", "bigint"],
  ["compaction_seq", "integer"],
  ["target_seq", "integer"],
  ["model_seq", "integer"],
  ["thinking_seq", "integer"],
  ["system_seq", "integer"],
  ["call_id", "text"],
  ["is_error", "boolean"],
  ["omits", "boolean"],
  ["inherited", "boolean"],
  ["is_private", "boolean"],
  ["payload_bytes", "integer"],
  ["preview", "text"],
  ["custom_type", "text"],
  ["file_operations", "text"],
  ["words", "text"],
  ["payload", "text"],
  ["origin", "text"],
] as const;

/** The columns that have numbers of entries. */
const NUMBERS: ReadonlySet<string> = new Set<keyof NewEntryRow>([
  "seq",
  "parent_seq",
  "compaction_seq",
  "target_seq",
  "model_seq",
  "thinking_seq",
  "system_seq",
]);

/** SQL of the columns of entries, of their values, and of the table with the parameters. `numbered`: the number of an entry by the given one. */
export function entriesGiven(sql: Sql, p: EntryArrays, numbered: (number: RawBuilder<unknown>) => RawBuilder<unknown>) {
  const names = sql.join(ENTRY_COLUMNS.map(([name]) => sql.ref(name)));
  const values = ENTRY_COLUMNS.map(([name]) => {
    if (name === "words") return sql`given.words::tsvector`;
    const value = sql`${sql.ref(`given.${name}`)}`;
    return NUMBERS.has(name) ? numbered(value) : value;
  });
  const arrays = sql.join(ENTRY_COLUMNS.map(([name, type]) => sql`${p[name]}::${sql.raw(type)}[]`));
  return { names, values: sql.join(values), given: sql`unnest(${arrays}) AS given (${names})` };
}

export type EntryArrays = { readonly [K in keyof NewEntryRow]: readonly NewEntryRow[K][] };

const insertRows = pgQuery<EntryArrays & { session: SessionId }>(({ sql, p }) => {
  const { names, values, given } = entriesGiven(sql, p, (number) => number);
  return pgRaw(sql`INSERT INTO entry (tenant, session_id, ${names}) SELECT ${p.tenant}, ${p.session}, ${values} FROM ${given}`);
});

/** The most rows, and the most characters, in one statement. */
export const MOST_ROWS = 2_000;
export const MOST_CHARACTERS = 8_000_000;

/** Inserts entries. The caller holds the session's row, and sets its counters. */
export async function insertEntries(transaction: Database, session: SessionId, rows: readonly NewEntryRow[]): Promise<void> {
  let characters = 0;
  let start = 0;
  for (const [at, row] of rows.entries()) {
    const size = row.payload.length + row.words.length;
    if (at > start && (at - start >= MOST_ROWS || characters + size > MOST_CHARACTERS)) {
      await transaction.run(insertRows, toArrays(session, rows.slice(start, at)));
      [start, characters] = [at, 0];
    }
    characters += size;
  }
  if (start < rows.length) await transaction.run(insertRows, toArrays(session, rows.slice(start)));
}

/** The entries as parameters of a statement. */
export function toArrays(session: SessionId, rows: readonly NewEntryRow[]): EntryArrays & { readonly session: SessionId } {
  const column = <K extends keyof NewEntryRow>(name: K): readonly NewEntryRow[K][] => rows.map((row) => row[name]);
  return {
    session,
    seq: column("seq"),
    id: column("id"),
    parent_seq: column("parent_seq"),
    kind: column("kind"),
    depth: column("depth"),
    created_at_ms: column("created_at_ms"),
    compaction_seq: column("compaction_seq"),
    target_seq: column("target_seq"),
    model_seq: column("model_seq"),
    thinking_seq: column("thinking_seq"),
    system_seq: column("system_seq"),
    call_id: column("call_id"),
    is_error: column("is_error"),
    omits: column("omits"),
    inherited: column("inherited"),
    is_private: column("is_private"),
    payload_bytes: column("payload_bytes"),
    preview: column("preview"),
    custom_type: column("custom_type"),
    file_operations: column("file_operations"),
    words: column("words"),
    payload: column("payload"),
    origin: column("origin"),
  };
}

type RunArrays = { readonly starts: readonly number[]; readonly parents: readonly (number | null)[]; readonly depths: readonly number[] };

const insertRuns = pgQuery<RunArrays & { session: SessionId }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO run (tenant, session_id, start_seq, parent_seq, depth)
    SELECT ${p.tenant}, ${p.session}, given.* FROM unnest(${p.starts}::integer[], ${p.parents}::integer[], ${p.depths}::integer[]) AS given`),
);

/** Inserts runs of new entries. */
export async function saveRuns(transaction: Database, session: SessionId, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  const [starts, parents, depths] = [runs.map(({ start }) => start), runs.map(({ parent }) => parent), runs.map(({ depth }) => depth)];
  await transaction.run(insertRuns, { session, starts, parents, depths });
}

/** The counts that an append adds to the row of its session. */
export interface SessionCounts {
  readonly session: SessionId;
  readonly entries: number;
  readonly messages: number;
  readonly bytes: number;
  readonly activeAt: number;
  readonly firstText: string | null;
  readonly laterText: string | null;
  readonly kinds: readonly number[];
}

/** SQL of an UPDATE of the counters of a session, without its condition. */
export function countsAdded(sql: Sql, p: SessionCounts): RawBuilder<unknown> {
  return sql`
    UPDATE session SET last_seq = last_seq + ${p.entries}::integer, entry_count = entry_count + ${p.entries}::integer,
      message_count = message_count + ${p.messages}::integer, payload_bytes = payload_bytes + ${p.bytes}::bigint,
      kind_counts = ${kindsAdded(sql, p.kinds)},
      active_at_ms = greatest(active_at_ms, ${p.activeAt}::bigint),
      first_text = coalesce(${p.firstText}::text, first_text, ${p.laterText}::text)`;
}

/** SQL of the number of entries of each kind, with new ones. */
export function kindsAdded(sql: Sql, kinds: readonly number[]): RawBuilder<unknown> {
  return sql`ARRAY(SELECT coalesce(present, 0) + coalesce(added, 0) FROM unnest(kind_counts, ${kinds}::integer[]) AS counts (present, added))`;
}

/** The number of new entries of each kind, from 1 up. */
export function kindArray(kinds: AddedTotals["kinds"]): readonly number[] {
  return Array.from({ length: Math.max(0, ...kinds.keys()) }, (_, at) => kinds.get(at + 1) ?? 0);
}

const addCounts = pgQuery<SessionCounts>(({ sql, p }) => pgRaw(sql`${countsAdded(sql, p)} WHERE ${ofSession(sql, p, "session")}`));

/**
 * Adds the totals of new entries to those of their session, and takes their numbers. Returns the text that now replaces a missing title.
 * `inherited`: they are the copies of a fork.
 */
export async function saveTotals(
  transaction: Database,
  session: LockedSession,
  totals: AddedTotals,
  inherited = false,
): Promise<string | null> {
  const { counts, kinds, usage } = totals;
  if (counts.entries === 0) return session.firstText;
  const firstText = chooseFirstText(counts, () => session.firstText);
  await transaction.run(addCounts, { session: session.id, ...counts, firstText, kinds: kindArray(kinds) });
  await addToUsage(transaction, session.id, inherited, usage);
  return firstText ?? session.firstText ?? counts.laterText;
}

const putLeaves = pgQuery<{ session: SessionId; names: readonly string[]; seqs: readonly (number | null)[] }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO leaf (tenant, session_id, name, entry_seq)
    SELECT ${p.tenant}, ${p.session}, given.* FROM unnest(${p.names}::text[], ${p.seqs}::integer[]) AS given
    ON CONFLICT (tenant, session_id, name) DO UPDATE SET entry_seq = excluded.entry_seq`),
);

/** Sets leaves; creates those that are missing. */
export async function saveLeaves(transaction: Database, session: SessionId, leaves: ReadonlyMap<string, EntrySeq | null>): Promise<void> {
  if (leaves.size > 0) await transaction.run(putLeaves, { session, names: [...leaves.keys()], seqs: [...leaves.values()] });
}

interface MoveArrays {
  readonly session: SessionId;
  readonly names: readonly string[];
  readonly from: readonly (number | null)[];
  readonly to: readonly (number | null)[];
  readonly at: number;
}

// The moves of a session are numbered without a sequence, under the lock of its row.
const insertMoves = pgQuery<MoveArrays>(({ sql, p }) =>
  pgRaw(sql`
    WITH dropped AS (
      UPDATE leaf_move SET state = 'dropped'
      WHERE ${ofSession(sql, p, "leaf_move")} AND leaf_name = ANY(${p.names}::text[]) AND state = 'undone')
    INSERT INTO leaf_move (tenant, session_id, seq, leaf_name, from_seq, to_seq, moved_at_ms, state)
    SELECT ${p.tenant}, ${p.session}, ordinal + coalesce((SELECT max(seq) FROM leaf_move WHERE ${ofSession(sql, p, "leaf_move")}), 0),
      name, origin, goal, ${p.at}::bigint, 'done'
    FROM unnest(${p.names}::text[], ${p.from}::integer[], ${p.to}::integer[]) WITH ORDINALITY AS given (name, origin, goal, ordinal)`),
);

async function saveMoves(transaction: Database, session: SessionId, moves: readonly PlannedMove[]): Promise<void> {
  if (moves.length === 0) return;
  const [names, from, to] = [moves.map(({ name }) => name), moves.map((move) => move.from), moves.map((move) => move.to)];
  await transaction.run(insertMoves, { session, names, from, to, at: Date.now() });
}

const removeLabels = pgQuery<{ session: SessionId; seqs: readonly number[] }>(({ sql, p }) =>
  pgRaw(sql`DELETE FROM label WHERE ${ofSession(sql, p, "label")} AND entry_seq = ANY(${p.seqs}::integer[])`),
);
const putLabels = pgQuery<{ session: SessionId; seqs: readonly number[]; labels: readonly string[]; times: readonly number[] }>(
  ({ sql, p }) =>
    pgRaw(sql`
    INSERT INTO label (tenant, session_id, entry_seq, label, created_at_ms)
    SELECT ${p.tenant}, ${p.session}, given.* FROM unnest(${p.seqs}::integer[], ${p.labels}::text[], ${p.times}::bigint[]) AS given
    ON CONFLICT (tenant, session_id, entry_seq) DO UPDATE SET label = excluded.label, created_at_ms = excluded.created_at_ms`),
);

/** Sets labels of entries; null removes one. */
export async function saveLabels(transaction: Database, session: SessionId, labels: Changes["labels"]): Promise<void> {
  const removed = [...labels].flatMap(([seq, label]) => (label === null ? [seq] : []));
  const put = [...labels].flatMap(([seq, label]) => (label === null ? [] : [{ seq, ...label }]));
  if (removed.length > 0) await transaction.run(removeLabels, { session, seqs: removed });
  if (put.length === 0) return;
  const [seqs, times] = [put.map(({ seq }) => seq), put.map(({ createdAtMs }) => createdAtMs)];
  await transaction.run(putLabels, { session, seqs, labels: put.map(({ label }) => label), times });
}

const removeRange = pgQuery<{ session: SessionId; from: string; to: string | null }>(({ sql, p }) =>
  pgRaw(sql`
    DELETE FROM value WHERE ${ofSession(sql, p, "value")} AND key >= ${p.from} AND (${p.to}::text IS NULL OR key < ${p.to}::text)`),
);
const removeKeys = pgQuery<{ session: SessionId; keys: readonly string[] }>(({ sql, p }) =>
  pgRaw(sql`DELETE FROM value WHERE ${ofSession(sql, p, "value")} AND key = ANY(${p.keys}::text[])`),
);
const putValue = pgQuery<{ session: SessionId; key: string; json: string; bytes: number; at: number }>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO value (tenant, session_id, key, value_json, bytes, updated_at_ms)
    VALUES (${p.tenant}, ${p.session}, ${p.key}, ${p.json}, ${p.bytes}, ${p.at})
    ON CONFLICT (tenant, session_id, key) DO UPDATE SET
      value_json = excluded.value_json, bytes = excluded.bytes, updated_at_ms = excluded.updated_at_ms`),
);

async function saveValues(transaction: Database, session: SessionId, { removedPrefixes, values }: Changes): Promise<void> {
  for (const prefix of removedPrefixes) {
    const { from, to } = keyBounds({ prefix });
    await transaction.run(removeRange, { session, from, to: typeof to === "string" ? to : null });
  }
  const removed = [...values].flatMap(([key, value]) => (value === null ? [key] : []));
  if (removed.length > 0) await transaction.run(removeKeys, { session, keys: removed });
  for (const [key, value] of values) if (value !== null) await transaction.run(putValue, { session, key, ...value, at: Date.now() });
}

/** Writes the changes of a batch. The caller holds the lock of the session's row. Returns the text that now replaces a missing title. */
export async function saveChanges(transaction: Database, session: LockedSession, changes: Changes): Promise<string | null> {
  const { id } = session;
  await insertEntries(transaction, id, changes.entries);
  await saveRuns(transaction, id, changes.runs);
  const firstText = await saveTotals(transaction, session, changes.totals);
  await saveMoves(transaction, id, changes.moves);
  await saveLeaves(transaction, id, changes.leaves);
  await saveLabels(transaction, id, changes.labels);
  await saveValues(transaction, id, changes);
  return firstText;
}
