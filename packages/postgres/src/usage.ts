import type { EntryPayload, SessionId } from "@bough/session-core";
import { type AddedUsage, type EntrySeq, parseStoredPayload, UsageSums, usageOf } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import { typeOf } from "./facts.js";
import { pgQuery, pgRaw } from "./query.js";
import { modelKey } from "./schema.js";
import { ofSession } from "./session-key.js";

// The usage of a session by model: additions to it, and its new count.

const USAGE_COLUMNS = [
  "replies",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost_usd",
  "recorded_replies",
] as const;

/** SQL that adds to the usage of a model, in the session of each row of `rows`. */
export function usageAdded(sql: Sql, p: AddedUsage, inherited: unknown, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const [provider, model] = [sql`${p.provider}::text`, sql`${p.model}::text`];
  const names = sql.join(USAGE_COLUMNS.map((name) => sql.ref(name)));
  const values = sql.join(USAGE_COLUMNS.map((name) => sql`${p[name]}::double precision`));
  const sums = sql.join(USAGE_COLUMNS.map((name) => sql`${sql.ref(name)} = ${sql.ref(`total.${name}`)} + ${sql.ref(`excluded.${name}`)}`));
  return sql`
    INSERT INTO usage_total AS total (tenant, session_id, inherited, provider, model, model_key, ${names})
    SELECT tenant, session_id, ${inherited}::boolean, ${provider}, ${model}, ${modelKey(provider, model)}, ${values} FROM ${rows}
    ON CONFLICT (tenant, session_id, inherited, model_key) DO UPDATE SET ${sums}`;
}

const addUsage = pgQuery<AddedUsage & { session: SessionId; inherited: boolean }>(({ sql, p }) =>
  pgRaw(usageAdded(sql, p, p.inherited, sql`(SELECT ${p.tenant}::text AS tenant, ${p.session}::text AS session_id) AS here`)),
);

/** Adds usage to that of a session. */
export async function addToUsage(
  transaction: Database,
  session: SessionId,
  inherited: boolean,
  usage: readonly AddedUsage[],
): Promise<void> {
  for (const added of usage) await transaction.run(addUsage, { session, inherited, ...added });
}

/** The number of payloads that one statement reads. */
export const PAYLOAD_PAGE = 500;

interface PayloadRow {
  readonly kind: number;
  readonly payload: string;
}

type UsageRow = PayloadRow & { readonly seq: EntrySeq; readonly inherited: boolean };

// Replies, compactions, summaries of branches.
const repliesOf = pgQuery<{ session: SessionId; after: number; limit: number }, UsageRow>(({ sql, p }) =>
  pgRaw(sql<UsageRow>`
    SELECT seq, kind, inherited, payload FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after}::integer AND kind IN (3, 7, 8) ORDER BY seq LIMIT ${p.limit}`),
);
const dropUsage = pgQuery<{ session: SessionId }>(({ sql, p }) =>
  pgRaw(sql`DELETE FROM usage_total WHERE ${ofSession(sql, p, "usage_total")}`),
);

/** undefined: the payload is damaged. It must not stop the import or deletion of another session, nor an upgrade; `verify` reports it. */
export function parseUndamaged({ kind, payload }: PayloadRow): EntryPayload | undefined {
  try {
    return parseStoredPayload(typeOf(kind), payload);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Adds up the usage of a session again from its replies and summaries. The caller holds the session's row. */
export async function recountUsage(transaction: Database, session: SessionId): Promise<void> {
  const [own, inherited] = [new UsageSums(), new UsageSums()];
  for (let after = 0; ; ) {
    const rows = await transaction.all(repliesOf, { session, after, limit: PAYLOAD_PAGE });
    for (const row of rows) {
      const payload = parseUndamaged(row);
      const used = payload && usageOf(payload);
      if (used !== undefined) (row.inherited ? inherited : own).add(used);
      after = row.seq;
    }
    if (rows.length < PAYLOAD_PAGE) break;
  }
  await transaction.run(dropUsage, { session });
  await addToUsage(transaction, session, false, own.list());
  await addToUsage(transaction, session, true, inherited.list());
}
