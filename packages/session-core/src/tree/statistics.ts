import { type RawBuilder, sql } from "kysely";
import { customTypeOf, toEntryKind, toKindNumber } from "../entry/kinds.js";
import { type ReplyUsage, usageOf } from "../entry/reply-usage.js";
import { betterTitle, isTyped } from "../entry/typed-text.js";
import type { ModelUsage, SessionKey, Statistics } from "../port/records.js";
import { requireSessionSeq } from "../sessions/session-rows.js";
import type { Connection } from "../storage/connection.js";
import { dynamicQuery, query, rawQuery } from "../storage/query.js";
import type { SessionSeq, UsageTotalTable } from "../storage/schema.js";
import type { WritableEntry } from "./entry-rows.js";

interface Counts {
  entries: number;
  messages: number;
  bytes: number;
  activeAt: number;
  /** The best title among the first entries of a path; null: none that is new. */
  firstText: string | null;
  /** The first text that was typed further down; a title if there is no other. */
  laterText: string | null;
}

const addCounts = query<Counts & { session: SessionSeq }>(({ db, sql, p }) =>
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

/** A text deeper in the tree does not replace the text that stands for a title, so that most appends read no title. */
const TITLE_DEPTH = 64;

const storedFirstText = query<{ session: SessionSeq }, { first_text: string | null }>(({ db, p }) =>
  db.selectFrom("session").select("first_text").where("seq", "=", p.session),
);

const addUsage = query<UsageTotalTable>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO usage_total VALUES (${p.session_seq}, ${p.inherited}, ${p.provider}, ${p.model}, ${p.replies}, ${p.input_tokens},
      ${p.output_tokens}, ${p.cache_read_tokens}, ${p.cache_write_tokens}, ${p.cost_usd})
    ON CONFLICT (session_seq, inherited, provider, model) DO UPDATE SET
      replies = replies + excluded.replies,
      input_tokens = input_tokens + excluded.input_tokens,
      output_tokens = output_tokens + excluded.output_tokens,
      cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
      cost_usd = cost_usd + excluded.cost_usd`),
);

const addToKind = query<{ session: SessionSeq; kind: number; entries: number }>(({ sql, p }) =>
  rawQuery(sql`
    INSERT INTO kind_count VALUES (${p.session}, ${p.kind}, ${p.entries})
    ON CONFLICT (session_seq, kind) DO UPDATE SET entries = entries + excluded.entries`),
);

/** Collects what new entries add to the totals of their session: counts, also by kind, size, last activity and token usage. */
export class SessionTotals {
  #counts: Counts = { entries: 0, messages: 0, bytes: 0, activeAt: 0, firstText: null, laterText: null };
  #kinds = new Map<number, number>();
  #usage = new Map<string, UsageTotalTable>();

  readonly #session: SessionSeq;
  readonly #inherited: 0 | 1;

  constructor(session: SessionSeq, inherited: 0 | 1) {
    this.#session = session;
    this.#inherited = inherited;
  }

  /** `depth`: the number of entries above it. */
  add(entry: WritableEntry, preview: string, bytes: number, depth: number): void {
    const { payload } = entry;
    const role = payload.type === "message" ? payload.message.role : undefined;
    const kind = toKindNumber(payload.type, role ?? null);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    const counts = this.#counts;
    counts.entries += 1;
    counts.bytes += bytes;
    if (role === "user" || role === "assistant") {
      counts.messages += 1;
      // Only conversation counts as activity, so that labels and settings do not reorder lists.
      counts.activeAt = Math.max(counts.activeAt, entry.createdAtMs);
    }
    if (isTyped({ role: role ?? null, customType: customTypeOf(payload), preview })) {
      if (depth < TITLE_DEPTH) counts.firstText = betterTitle(counts.firstText, preview);
      else counts.laterText ??= preview === "" ? null : preview;
    }
    const used = usageOf(payload);
    if (used !== undefined) this.#addUsage(usageRow(this.#session, this.#inherited, used));
  }

  #addUsage(row: UsageTotalTable): void {
    const key = `${row.provider}\n${row.model}`;
    const sum = this.#usage.get(key);
    if (sum === undefined) this.#usage.set(key, row);
    else addToUsage(sum, row);
  }

  /** The text that stands for a missing title: the stored one, unless one of the new entries says more. */
  #chooseTitle(connection: Connection): string | null {
    const { firstText } = this.#counts;
    return firstText === null
      ? null
      : betterTitle(connection.get(storedFirstText, { session: this.#session })?.first_text ?? null, firstText);
  }

  /** Adds the collected totals to the stored ones and starts again from zero. Call it inside `write`. */
  flush(connection: Connection): void {
    if (this.#counts.entries === 0) return;
    connection.run(addCounts, { session: this.#session, ...this.#counts, firstText: this.#chooseTitle(connection) });
    for (const [kind, entries] of this.#kinds) connection.run(addToKind, { session: this.#session, kind, entries });
    for (const row of this.#usage.values()) connection.run(addUsage, row);
    this.#counts = { entries: 0, messages: 0, bytes: 0, activeAt: 0, firstText: null, laterText: null };
    this.#kinds = new Map();
    this.#usage = new Map();
  }
}

function addToUsage(sum: UsageTotalTable, row: UsageTotalTable): void {
  sum.replies += row.replies;
  sum.input_tokens += row.input_tokens;
  sum.output_tokens += row.output_tokens;
  sum.cache_read_tokens += row.cache_read_tokens;
  sum.cache_write_tokens += row.cache_write_tokens;
  sum.cost_usd += row.cost_usd;
}

function usageRow(session: SessionSeq, inherited: 0 | 1, used: ReplyUsage): UsageTotalTable {
  const { usage } = used;
  return {
    session_seq: session,
    inherited,
    provider: used.provider,
    model: used.model,
    replies: used.replies,
    input_tokens: usage.input ?? 0,
    output_tokens: usage.output ?? 0,
    cache_read_tokens: usage.cacheRead ?? 0,
    cache_write_tokens: usage.cacheWrite ?? 0,
    cost_usd: usage.cost?.total ?? 0,
  };
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
    return {
      sessions: counts?.sessions ?? 0,
      entries: counts?.entries ?? 0,
      messages: counts?.messages ?? 0,
      payloadBytes: counts?.payloadBytes ?? 0,
      byType: sumTypes(kinds),
      usage: readUsage(connection, within("session_seq"), 0),
      inheritedUsage: readUsage(connection, within("session_seq"), 1),
    };
  });
}

/** The counts of kinds as counts of types, in the order of their names. */
function sumTypes(kinds: readonly { readonly kind: number; readonly count: number }[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, count } of kinds) {
    const { type } = toEntryKind(kind);
    counts.set(type, (counts.get(type) ?? 0) + count);
  }
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function readUsage(connection: Connection, within: RawBuilder<boolean>, inherited: 0 | 1): readonly ModelUsage[] {
  return allRows(
    connection,
    sql<ModelUsage>`SELECT provider, model, sum(replies) AS replies, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
        sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens, sum(cost_usd) AS costUsd
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
