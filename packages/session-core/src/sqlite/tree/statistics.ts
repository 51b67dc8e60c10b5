import { type RawBuilder, sql } from "kysely";
import { toEntryKind } from "../../entry/kinds.js";
import type { ModelUsage, SessionKey, Statistics } from "../../port/records.js";
import type { SessionSeq } from "../../port/rows.js";
import type { CopiedUsage } from "../../port/session-copy.js";
import { type AddedCounts, type AddedUsage, chooseFirstText, EntryTotals, sumTypes } from "../../rules/entry-totals.js";
import type { Connection } from "../file/connection.js";
import { dynamicQuery, query, rawQuery } from "../query.js";
import type { StoredEntry, UsageTotalTable } from "../schema.js";
import { requireSessionSeq } from "../sessions/session-rows.js";

const addCounts = query<AddedCounts & { session: SessionSeq }>(({ db, sql, p }) =>
  db
    .updateTable("session")
    .set({
      entry_count: sql`entry_count + ${p.entries}`,
      message_count: sql`message_count + ${p.messages}`,
      payload_bytes: sql`payload_bytes + ${p.bytes}`,
      row_count: sql`row_count + ${p.entries}`,
      row_bytes: sql`row_bytes + ${p.bytes}`,
      active_at_ms: sql`max(active_at_ms, ${p.activeAt})`,
      first_text: sql`coalesce(${p.firstText}, first_text, ${p.laterText})`,
    })
    .where("seq", "=", p.session),
);

const storedFirstText = query<{ session: SessionSeq }, { first_text: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("first_text").where("seq", "=", p.session),
);

const addUsage = query<UsageTotalTable>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO usage_total VALUES (${p.session_seq}, ${p.inherited}, ${p.provider}, ${p.model}, ${p.replies}, ${p.input_tokens},
      ${p.output_tokens}, ${p.cache_read_tokens}, ${p.cache_write_tokens}, ${p.cost_usd}, ${p.recorded_replies})
    ON CONFLICT (session_seq, inherited, provider, model) DO UPDATE SET
      replies = replies + excluded.replies,
      input_tokens = input_tokens + excluded.input_tokens,
      output_tokens = output_tokens + excluded.output_tokens,
      cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
      cost_usd = cost_usd + excluded.cost_usd,
      recorded_replies = recorded_replies + excluded.recorded_replies`),
);

const addToKind = query<{ session: SessionSeq; kind: number; entries: number }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO kind_count VALUES (${p.session}, ${p.kind}, ${p.entries})
    ON CONFLICT (session_seq, kind) DO UPDATE SET entries = entries + excluded.entries`),
);

/** Collects the increments of a session's totals by new entries, and adds them to the stored totals. */
export class SessionTotals extends EntryTotals {
  readonly #session: SessionSeq;
  readonly #inherited: 0 | 1;

  constructor(session: SessionSeq, inherited: 0 | 1) {
    super();
    this.#session = session;
    this.#inherited = inherited;
  }

  /** Adds the collected totals to the stored ones and starts again from zero. Call it inside `write`. */
  flush(connection: Connection): void {
    const { counts, kinds, usage } = this.take();
    if (counts.entries === 0) return;
    const session = this.#session;
    const firstText = chooseFirstText(counts, () => connection.get(storedFirstText, { session })?.first_text ?? null);
    connection.run(addCounts, { session, ...counts, firstText });
    for (const [kind, entries] of kinds) connection.run(addToKind, { session, kind, entries });
    insertUsage(connection, session, this.#inherited, usage);
  }
}

/** Adds usage to that of a session. Call it inside `write`. */
export function insertUsage(connection: Connection, session: SessionSeq, inherited: 0 | 1, usage: readonly AddedUsage[]): void {
  for (const added of usage) connection.run(addUsage, { session_seq: session, inherited, ...added });
}

const addCopied = query<{ session: SessionSeq; entries: number; messages: number; bytes: number }>(({ db, sql, p }) =>
  db
    .updateTable("session")
    .set({
      entry_count: sql`entry_count + ${p.entries}`,
      message_count: sql`message_count + ${p.messages}`,
      payload_bytes: sql`payload_bytes + ${p.bytes}`,
      row_count: sql`row_count + ${p.entries}`,
      row_bytes: sql`row_bytes + ${p.bytes}`,
    })
    .where("seq", "=", p.session),
);

/** Adds entries of another store to the counts of a session; usage and times are copied apart. Call it inside `write`. */
export function addCopiedCounts(
  connection: Connection,
  session: SessionSeq,
  rows: readonly Pick<StoredEntry, "kind" | "payload_bytes">[],
): void {
  const kinds = new Map<number, number>();
  for (const { kind } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const messages = rows.filter(({ kind }) => ["user", "assistant"].includes(toEntryKind(kind).role ?? "")).length;
  const bytes = rows.reduce((sum, row) => sum + row.payload_bytes, 0);
  connection.run(addCopied, { session, entries: rows.length, messages, bytes });
  for (const [kind, entries] of kinds) connection.run(addToKind, { session, kind, entries });
}

const dropUsage = query<{ session: SessionSeq }>(({ db, p }) => db.deleteFrom("usage_total").where("session_seq", "=", p.session));

/** Makes the usage of a session that of its copy in another store. Call it inside `write`. */
export function replaceUsage(connection: Connection, session: SessionSeq, usage: readonly CopiedUsage[]): void {
  connection.run(dropUsage, { session });
  for (const { provider, model, replies, inherited, ...used } of usage)
    connection.run(addUsage, {
      session_seq: session,
      inherited: inherited ? 1 : 0,
      provider,
      model,
      replies,
      input_tokens: used.inputTokens,
      output_tokens: used.outputTokens,
      cache_read_tokens: used.cacheReadTokens,
      cache_write_tokens: used.cacheWriteTokens,
      cost_usd: used.costUsd,
      recorded_replies: used.recordedReplies,
    });
}

interface CountRow {
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly payloadBytes: number;
}

/** Reads the totals of a session, or of the store. Sums session rows and an index; reads no payload. @throws {SessionNotFoundError} */
export function readStatistics(connection: Connection, key?: SessionKey): Statistics {
  return connection.read(() => {
    const session = key === undefined ? undefined : requireSessionSeq(connection, key);
    const within = (column: string): RawBuilder<boolean> => (session === undefined ? sql`TRUE` : sql`${sql.ref(column)} = ${session}`);
    const [counts] = allRows(
      connection,
      sql<CountRow>`SELECT count(*) AS sessions, coalesce(sum(entry_count), 0) AS entries, coalesce(sum(message_count), 0) AS messages,
        coalesce(sum(payload_bytes), 0) AS payloadBytes FROM session WHERE ${within("seq")}`,
    );
    const kinds = allRows(
      connection,
      sql<{ kind: number; count: number }>`
        SELECT kind, sum(entries) AS count FROM kind_count WHERE ${within("session_seq")} GROUP BY kind`,
    );
    // From an index that has no others.
    const [copies] = allRows(
      connection,
      sql<{ count: number }>`SELECT count(*) AS count FROM entry WHERE inherited = 1 AND ${within("session_seq")}`,
    );
    return {
      sessions: counts?.sessions ?? 0,
      entries: counts?.entries ?? 0,
      inheritedEntries: copies?.count ?? 0,
      messages: counts?.messages ?? 0,
      payloadBytes: counts?.payloadBytes ?? 0,
      byType: sumTypes(kinds),
      usage: readUsage(connection, within("session_seq"), 0),
      inheritedUsage: readUsage(connection, within("session_seq"), 1),
    };
  });
}

function readUsage(connection: Connection, within: RawBuilder<boolean>, inherited: 0 | 1): readonly ModelUsage[] {
  return allRows(
    connection,
    sql<ModelUsage>`SELECT provider, model, sum(replies) AS replies, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
        sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens, sum(cost_usd) AS costUsd,
        sum(recorded_replies) AS recordedReplies
      FROM usage_total WHERE ${within} AND inherited = ${inherited}
      GROUP BY provider, model ORDER BY costUsd DESC, outputTokens DESC, model`,
  );
}

function allRows<R>(connection: Connection, statement: RawBuilder<R>): R[] {
  return connection.all(
    dynamicQuery<R>(() => rawQuery(statement)),
    {},
  );
}
