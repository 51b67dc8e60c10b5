import type { SessionId } from "@bough/session-core";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import { type Always, pgQuery, pgRaw } from "./query.js";
import { rangesUp } from "./runs.js";
import { ofSession } from "./session-key.js";
import type { PgEntry, PgTables } from "./tables.js";

// Copies of rows from a session to a new one, on the server. In the copy of a tree each entry keeps its number. In the copy of a path
// they are numbered again, without gaps, so that the copy is one run.

/** The sessions that are copied from and to. */
export interface Copy {
  readonly session: SessionId;
  readonly to: SessionId;
}

/** A column of a copy: as it is, a number of an entry of the session, a constant, or the origin of the entry. */
type Column = "same" | "number" | "tenant" | "session" | "inherited" | "origin";

/** A new column has to be added here, or it does not compile. */
const ENTRY: Readonly<Record<keyof PgEntry, Column>> = {
  tenant: "tenant",
  session_id: "session",
  seq: "number",
  id: "same",
  parent_seq: "number",
  kind: "same",
  depth: "same",
  created_at_ms: "same",
  compaction_seq: "number",
  target_seq: "number",
  model_seq: "number",
  thinking_seq: "number",
  system_seq: "number",
  call_id: "same",
  is_error: "same",
  omits: "same",
  inherited: "inherited",
  is_private: "same",
  payload_bytes: "same",
  preview: "same",
  custom_type: "same",
  file_operations: "same",
  words: "same",
  payload: "same",
  origin: "origin",
};

type Columns<T extends keyof PgTables> = Readonly<Record<keyof PgTables[T], Column>>;

const LABEL: Columns<"label"> = { tenant: "tenant", session_id: "session", entry_seq: "number", label: "same", created_at_ms: "same" };
const COUNT: Columns<"entry_token_count"> = {
  tenant: "tenant",
  session_id: "session",
  counter: "same",
  entry_seq: "number",
  tokens: "same",
};
const RUN: Columns<"run"> = { tenant: "tenant", session_id: "session", start_seq: "number", parent_seq: "number", depth: "same" };
const LEAF: Columns<"leaf"> = { tenant: "tenant", session_id: "session", name: "same", entry_seq: "number" };
const VALUE: Columns<"value"> = {
  tenant: "tenant",
  session_id: "session",
  key: "same",
  value_json: "same",
  bytes: "same",
  updated_at_ms: "same",
};

type Numbering = (column: RawBuilder<unknown>) => RawBuilder<unknown>;

/** The origin of a copy is that of its entry, or refers to it: entry/origins.ts. */
function originOfCopy(sql: Sql, p: Copy): RawBuilder<unknown> {
  return sql`coalesce(entry.origin, ${p.session}::text || ' ' || entry.id)`;
}

/** SQL of an INSERT of the copies of the rows of a table; `numbered` is the number of a copy by that of its entry. */
function copyInto(
  sql: Sql,
  p: Always & Copy,
  table: keyof PgTables,
  columns: Readonly<Record<string, Column>>,
  numbered: Numbering = (column) => column,
) {
  const values = Object.entries(columns).map(([name, column]) => {
    const present = sql`${sql.ref(`${table}.${name}`)}`;
    const copied = {
      same: present,
      number: numbered(present),
      tenant: sql`${p.tenant}::text`,
      session: sql`${p.to}::text`,
      inherited: sql`TRUE`,
      origin: originOfCopy(sql, p),
    };
    return copied[column];
  });
  return sql`INSERT INTO ${sql.table(table)} (${sql.join(Object.keys(columns).map((name) => sql.ref(name)))}) SELECT ${sql.join(values)}`;
}

function whole(table: keyof PgTables, columns: Readonly<Record<string, Column>>, end = "") {
  return pgQuery<Copy>(({ sql, p }) =>
    pgRaw(sql`${copyInto(sql, p, table, columns)} FROM ${sql.table(table)} WHERE ${ofSession(sql, p, table)} ${sql.raw(end)}`),
  );
}

const wholeTree = [
  whole("entry", ENTRY),
  whole("run", RUN),
  whole("label", LABEL),
  whole("entry_token_count", COUNT),
  // A new session has the leaf main.
  whole("leaf", LEAF, "ON CONFLICT (tenant, session_id, name) DO UPDATE SET entry_seq = excluded.entry_seq"),
];

// The usage of the copies counts in the source, so that totals over all sessions count it once.
const copyUsage = pgQuery<Copy>(({ sql, p }) =>
  pgRaw(sql`
    INSERT INTO usage_total (tenant, session_id, inherited, provider, model, model_key, replies, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, cost_usd, recorded_replies)
    SELECT ${p.tenant}::text, ${p.to}::text, TRUE, provider, model, model_key, sum(replies), sum(input_tokens), sum(output_tokens),
      sum(cache_read_tokens), sum(cache_write_tokens), sum(cost_usd), sum(recorded_replies)
    FROM usage_total WHERE ${ofSession(sql, p, "usage_total")} GROUP BY provider, model, model_key`),
);

const copyCounts = pgQuery<Copy>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE session AS made SET last_seq = session.last_seq, entry_count = session.entry_count, message_count = session.message_count,
      payload_bytes = session.payload_bytes, kind_counts = session.kind_counts, first_text = session.first_text,
      active_at_ms = greatest(made.active_at_ms, session.active_at_ms)
    FROM session WHERE ${ofSession(sql, p, "session")} AND made.tenant = ${p.tenant} AND made.session_id = ${p.to}`),
);

/** Copies all entries of a session into an empty one, with leaves, labels and token counts. Payloads stay on the server. */
export async function copyTree(transaction: Database, copy: Copy): Promise<void> {
  for (const query of [...wholeTree, copyUsage, copyCounts]) await transaction.run(query, copy);
}

const copyAllValues = whole("value", VALUE);

/** Copies the values of a session into one that has none. */
export async function copyValues(transaction: Database, copy: Copy): Promise<void> {
  await transaction.run(copyAllValues, copy);
}

type PathCopy = Copy & { readonly end: number };

/**
 * SQL of the path of an entry as the tables `moved (first, last, by)`, its ranges and how far the numbers of their copies are from theirs,
 * and `path (old, seq)`, the number of each entry and of its copy.
 */
function pathTables(sql: Sql, p: Always & PathCopy): RawBuilder<unknown> {
  return sql`${rangesUp(sql, p, { from: p.end, stop: 0 })},
    moved (first, last, by) AS MATERIALIZED (
      SELECT first, last, (sum(last - first + 1) OVER (ORDER BY first) - last)::integer FROM range),
    path (old, seq) AS MATERIALIZED (
      SELECT old, old + by FROM moved CROSS JOIN LATERAL generate_series(first, last) AS old)`;
}

// An entry refers only to entries of its path, so each number is one of the path, or NULL.
const copyEntries = pgQuery<PathCopy>(({ sql, p }) => {
  const references = Object.entries(ENTRY).flatMap(([name, column]) => (column === "number" && name !== "seq" ? [name] : []));
  const joins = references.map(
    (name) => sql`LEFT JOIN path AS ${sql.ref(`of_${name}`)} ON ${sql.ref(`of_${name}.old`)} = ${sql.ref(`entry.${name}`)}`,
  );
  const columns = Object.keys(ENTRY).map((name) => sql.ref(name));
  const values = Object.entries(ENTRY).map(([name, column]) => {
    if (name === "seq") return sql`entry.seq + moved.by`;
    if (column === "number") return sql.ref(`of_${name}.seq`);
    if (column === "tenant") return sql`${p.tenant}::text`;
    if (column === "session") return sql`${p.to}::text`;
    if (column === "origin") return originOfCopy(sql, p);
    return column === "inherited" ? sql`TRUE` : sql.ref(`entry.${name}`);
  });
  return pgRaw(sql`
    WITH RECURSIVE ${pathTables(sql, p)}
    INSERT INTO entry (${sql.join(columns)}) SELECT ${sql.join(values)}
    FROM moved JOIN entry ON ${ofSession(sql, p, "entry")} AND entry.seq BETWEEN moved.first AND moved.last
      ${sql.join(joins, sql` `)}`);
});

function onPath(table: "label" | "entry_token_count", columns: Readonly<Record<string, Column>>) {
  return pgQuery<PathCopy>(({ sql, p }) =>
    pgRaw(sql`
      WITH RECURSIVE ${pathTables(sql, p)}
      ${copyInto(sql, p, table, columns, (column) => sql`${column} + moved.by`)}
      FROM moved JOIN ${sql.table(table)} ON ${ofSession(sql, p, table)}
        AND ${sql.ref(`${table}.entry_seq`)} BETWEEN moved.first AND moved.last`),
  );
}

const pathCopies = [copyEntries, onPath("label", LABEL), onPath("entry_token_count", COUNT)];

/** Copies the entries of a path into an empty session, with labels and token counts. Its run, counters and leaf are up to the caller. */
export async function copyPath(transaction: Database, copy: Copy, end: number): Promise<void> {
  for (const query of pathCopies) await transaction.run(query, { ...copy, end });
}
