import { type EntryId, EntryNotFoundError, type SessionId, SessionNotFoundError } from "@bough/session-core";
import * as records from "@bough/session-core/engine";
import { type EntrySeq, EntryTotals, factsOf, forkTitle, newFork, toEntrySeq, withoutForeignBranch } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database, PgDatabase } from "./database.js";
import { joinEntries, NO_ENTRY, parsePayload } from "./entries.js";
import { type LockedSession, lockSession, readLeaf } from "./facts.js";
import type { FirstWrites } from "./planned-session.js";
import { type Always, type PgEntry, type PgTables, pgQuery, pgRaw } from "./query.js";
import { rangesUp } from "./runs.js";
import { saveLeaves, saveRuns, saveTotals } from "./save-changes.js";
import { startsAndIs } from "./schema.js";
import { ofSession } from "./session-key.js";
import { findSessionRecord, insertNewSession, listFirst, writeFirst } from "./sessions.js";

/**
 * Copies a path or the whole tree into a new session, in one transaction and of one moment, without holding up the writers of the source.
 * The rules are those of `forkSession` of a store on SQLite. Entries are copied on the server; of a path that is not the whole
 * session, payloads are read in pages for the totals.
 *
 * @throws {SessionNotFoundError | EntryNotFoundError | SessionExistsError}
 */
export async function forkSession(
  database: PgDatabase,
  id: SessionId,
  fork: records.Fork,
  first: FirstWrites,
): Promise<records.SessionRecord> {
  await listFirst(database, fork.into.title, first);
  return database.writeOnSnapshot(async (transaction) => {
    const source = await findSessionRecord(transaction, id);
    if (source === undefined) throw new SessionNotFoundError(id);
    const end = await resolveEnd(transaction, id, fork.at);
    const name = fork.into.title === undefined ? await nameFork(transaction, id) : null;
    const made = await insertNewSession(transaction, newFork(source, fork, end?.id ?? null, name));
    const copy = { session: id, to: made.id };
    if (fork.tree) await forkTree(transaction, copy, fork.at, end?.seq ?? null);
    else if (end !== null) await forkPath(transaction, made, copy, end.seq);
    if (fork.values) await transaction.run(copyValues, copy);
    // Its counters are those of the copy by now.
    if (first !== undefined) await writeFirst(transaction, await lockSession(transaction, made.id), first);
    return (await findSessionRecord(transaction, made.id)) ?? source;
  });
}

interface End {
  readonly id: EntryId;
  readonly seq: EntrySeq;
}

const entryOf = pgQuery<{ session: SessionId; id: EntryId }, End>(({ sql, p }) =>
  pgRaw(sql<End>`SELECT entry.id, entry.seq FROM entry WHERE ${ofSession(sql, p, "entry")} AND entry.id = ${p.id}`),
);

/** Returns the end of the copy; null: before the first entry. */
async function resolveEnd(transaction: Database, session: SessionId, at: EntryId | null | undefined): Promise<End | null> {
  if (at === null) return null;
  if (at === undefined) {
    const { entryId, path } = await readLeaf(transaction, session, records.MAIN_LEAF);
    return entryId === null || path.seq === null ? null : { id: entryId, seq: path.seq };
  }
  const found = await transaction.get(entryOf, { session, id: at });
  if (found === undefined) throw new EntryNotFoundError(session, at);
  return found;
}

/** Copies all branches and leaves. `at`: where the leaf `main` of the copy is; undefined: where that of the source is. */
async function forkTree(transaction: Database, copy: Copy, at: EntryId | null | undefined, end: EntrySeq | null): Promise<void> {
  for (const query of treeCopies) await transaction.run(query, copy);
  if (at !== undefined) await saveLeaves(transaction, copy.to, new Map([[records.MAIN_LEAF, end]]));
}

async function forkPath(transaction: Database, made: LockedSession, copy: Copy, end: EntrySeq): Promise<void> {
  for (const query of pathCopies) await transaction.run(query, { ...copy, end });
  await saveRuns(transaction, made.id, [{ start: toEntrySeq(1), parent: null, depth: 0 }]);
  const last = await new CopiedPath(transaction, made).finish();
  await saveLeaves(transaction, made.id, new Map([[records.MAIN_LEAF, last]]));
}

type CopiedRow = Pick<PgEntry, "seq" | "id" | "kind" | "depth" | "created_at_ms" | "preview" | "payload">;

const copiedRows = pgQuery<{ session: SessionId; after: number; limit: number }, CopiedRow>(({ sql, p }) =>
  pgRaw(sql<CopiedRow>`
    SELECT seq, id, kind, depth, created_at_ms, preview, payload FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after} ORDER BY seq LIMIT ${p.limit}`),
);

const putPayload = pgQuery<{ session: SessionId; seq: EntrySeq; json: string; bytes: number; preview: string }>(({ sql, p }) =>
  pgRaw(sql`
    WITH uncounted AS (DELETE FROM entry_token_count WHERE ${ofSession(sql, p, "entry_token_count")} AND entry_seq = ${p.seq}::integer)
    UPDATE entry SET payload = ${p.json}, payload_bytes = ${p.bytes}, preview = ${p.preview}
    WHERE ${ofSession(sql, p, "entry")} AND seq = ${p.seq}::integer`),
);
// With the list, the server reads a session once for a page, whatever it knows of its length, and not once for each entry of the page.
const putPreviews = pgQuery<{ session: SessionId; seqs: readonly number[]; previews: readonly string[] }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET preview = given.preview FROM unnest(${p.seqs}::integer[], ${p.previews}::text[]) AS given (seq, preview)
    WHERE ${ofSession(sql, p, "entry")} AND entry.seq = ANY(${p.seqs}::integer[]) AND entry.seq = given.seq`),
);

/** The number of entries of a copy that one statement reads. */
const PAGE = 500;

/** The data derived from the entries of a copied path: totals, previews in its directory, and summaries whose branch was not copied. */
class CopiedPath {
  readonly #transaction: Database;
  readonly #session: LockedSession;
  readonly #totals = new EntryTotals();
  readonly #ids = new Set<EntryId>();

  constructor(transaction: Database, session: LockedSession) {
    this.#transaction = transaction;
    this.#session = session;
  }

  /** Returns the number of the last entry. */
  async finish(): Promise<EntrySeq> {
    const { id: session } = this.#session;
    let last = NO_ENTRY;
    for (;;) {
      const rows = await this.#transaction.all(copiedRows, { session, after: last, limit: PAGE });
      const changed: { readonly seq: EntrySeq; readonly preview: string }[] = [];
      for (const row of rows) {
        const preview = await this.#add(row);
        if (preview !== row.preview) changed.push({ seq: row.seq, preview });
        last = row.seq;
      }
      if (changed.length > 0) {
        const [seqs, previews] = [changed.map(({ seq }) => seq), changed.map(({ preview }) => preview)];
        await this.#transaction.run(putPreviews, { session, seqs, previews });
      }
      if (rows.length < PAGE) break;
    }
    await saveTotals(this.#transaction, this.#session, this.#totals.take(), true);
    return last;
  }

  /** Adds an entry to the totals; returns its preview. */
  async #add(row: CopiedRow): Promise<string> {
    const { id: session, cwd } = this.#session;
    const given = parsePayload(session, row);
    const copied = withoutForeignBranch(given, row.payload, (id) => this.#ids.has(id));
    this.#ids.add(row.id);
    const facts = factsOf(copied, { directory: cwd, fileTools: {} });
    const { preview, payloadBytes: bytes } = facts;
    if (copied.payloadJson !== row.payload)
      await this.#transaction.run(putPayload, { session, seq: row.seq, json: copied.payloadJson, bytes, preview });
    this.#totals.add(facts, row.created_at_ms, row.depth);
    return preview;
  }
}

// Copies of rows from a session to a new one, on the server. In the copy of a tree each entry keeps its number. In the copy of a path
// they are numbered again, without gaps, so that the copy is one run.

/** The sessions that are copied from and to. */
interface Copy {
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

type Numbering = (column: RawBuilder<unknown>, name: string) => RawBuilder<unknown>;

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
      number: numbered(present, name),
      tenant: sql`${p.tenant}::text`,
      session: sql`${p.to}::text`,
      inherited: sql`TRUE`,
      // That of its entry, or a reference to it: entry/origins.ts.
      origin: sql`coalesce(entry.origin, ${p.session}::text || ' ' || entry.id)`,
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
const treeCopies = [...wholeTree, copyUsage, copyCounts];

const copyValues = whole("value", VALUE);

type PathCopy = Copy & { readonly end: EntrySeq };

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
  const numbered: Numbering = (column, name) => (name === "seq" ? sql`${column} + moved.by` : sql.ref(`of_${name}.seq`));
  return pgRaw(sql`
    WITH RECURSIVE ${pathTables(sql, p)}
    ${copyInto(sql, p, "entry", ENTRY, numbered)}
    FROM moved ${joinEntries(sql, p, "seq", sql`moved.first`, sql`moved.last`)}
      ${sql.join(joins, sql` `)}`);
});

function onPath(table: "label" | "entry_token_count", columns: Readonly<Record<string, Column>>) {
  return pgQuery<PathCopy>(({ sql, p }) =>
    pgRaw(sql`
      WITH RECURSIVE ${pathTables(sql, p)}
      ${copyInto(sql, p, table, columns, () => sql`path.seq`)}
      FROM path JOIN ${sql.table(table)} ON ${ofSession(sql, p, table)} AND ${sql.ref(`${table}.entry_seq`)} = path.old`),
  );
}

/** Copies the entries of a path into an empty session, with labels and token counts, without its run, counters and leaf. */
const pathCopies = [copyEntries, onPath("label", LABEL), onPath("entry_token_count", COUNT)];

interface Origin {
  readonly id: SessionId;
  readonly title: string | null;
  readonly firstText: string | null;
}

// A session without a call that started it is a fork of its parent; the first one has no such parent, or it was deleted.
const firstOrigin = pgQuery<{ session: SessionId }, Origin>(({ sql, p }) =>
  pgRaw(sql<Origin>`
    WITH RECURSIVE origin (id, parent, title, first_text, steps) AS (
      SELECT session_id, CASE WHEN parent_call_id IS NULL THEN parent_session_id END, title, first_text, 0
      FROM session WHERE ${ofSession(sql, p, "session")}
      UNION ALL
      SELECT above.session_id, CASE WHEN above.parent_call_id IS NULL THEN above.parent_session_id END, above.title, above.first_text, steps + 1
      FROM origin JOIN session AS above ON above.tenant = ${p.tenant} AND above.session_id = origin.parent WHERE steps < 1000)
    SELECT id, title, first_text AS "firstText" FROM origin ORDER BY steps DESC LIMIT 1`),
);

const forkTitles = pgQuery<{ origin: SessionId }, { title: string | null }>(({ sql, p }) =>
  pgRaw(sql<{ title: string | null }>`
    WITH RECURSIVE family (id, title) AS (
      SELECT session_id, title FROM session WHERE tenant = ${p.tenant} AND session_id = ${p.origin}
      UNION
      SELECT fork.session_id, fork.title FROM family JOIN session AS fork
        ON fork.tenant = ${p.tenant} AND ${startsAndIs(sql`fork.parent_session_id`, sql`family.id`)} AND fork.parent_call_id IS NULL)
    SELECT title FROM family`),
);

/** The title of a new fork: see `nameFork` of a store on SQLite. Cost: linear in the forks of the first origin. */
async function nameFork(database: Database, source: SessionId): Promise<string | null> {
  const origin = await database.get(firstOrigin, { session: source });
  if (origin === undefined) return null;
  const forks = await database.all(forkTitles, { origin: origin.id });
  return forkTitle(origin, forks);
}
