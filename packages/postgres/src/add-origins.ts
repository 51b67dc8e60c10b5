import type { EntryId, SessionId } from "@bough/session-core";
import { contentKey, type EntrySeq, originsIn, sourcesFirst } from "@bough/session-core/engine";
import type { Database } from "./database.js";
import { connectCopies } from "./origins.js";
import { pgQuery, pgRaw } from "./query.js";
import { ofSession } from "./session-key.js";
import { PAYLOAD_PAGE, parseUndamaged } from "./usage.js";

type KeyedRow = {
  readonly seq: EntrySeq;
  readonly id: EntryId;
  readonly kind: number;
  readonly created_at_ms: number;
  readonly payload: string;
};

const importedSessions = pgQuery<Record<never, never>, { id: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId }>`
    SELECT session_id AS id FROM session WHERE tenant = ${p.tenant} AND source_format IS NOT NULL ORDER BY created_at_ms, session_id`),
);
const keyedRows = pgQuery<{ session: SessionId; after: number; limit: number }, KeyedRow>(({ sql, p }) =>
  pgRaw(sql<KeyedRow>`
    SELECT seq, id, kind, created_at_ms, payload FROM entry
    WHERE ${ofSession(sql, p, "entry")} AND seq > ${p.after}::integer ORDER BY seq LIMIT ${p.limit}`),
);
const setKeys = pgQuery<{ session: SessionId; seqs: readonly number[]; origins: readonly (string | null)[] }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET origin = given.origin FROM unnest(${p.seqs}::integer[], ${p.origins}::text[]) AS given (seq, origin)
    WHERE ${ofSession(sql, p, "entry")} AND entry.seq = ANY(${p.seqs}::integer[]) AND entry.seq = given.seq`),
);
const forks = pgQuery<Record<never, never>, { id: SessionId; parent: SessionId }>(({ sql, p }) =>
  pgRaw(sql<{ id: SessionId; parent: SessionId }>`
    SELECT session_id AS id, parent_session_id AS parent FROM session
    WHERE tenant = ${p.tenant} AND parent_session_id IS NOT NULL ORDER BY seq, created_at_ms`),
);
const setCopied = pgQuery<{ session: SessionId; parent: SessionId; origins: string }>(({ sql, p }) =>
  pgRaw(sql`
    UPDATE entry SET origin = coalesce(
      (SELECT known.origin FROM entry AS known WHERE known.tenant = ${p.tenant} AND known.session_id = ${p.parent} AND known.id = entry.id),
      ${p.origins}::text || entry.id)
    WHERE ${ofSession(sql, p, "entry")} AND inherited AND origin IS NULL`),
);

/** Gives the entries of a tenant their origins, in a store of version 1. Cost: the payloads of imported sessions are read once. */
export async function addOrigins(transaction: Database): Promise<void> {
  const sessions = (await transaction.all(importedSessions, {})).map(({ id }) => id);
  for (const session of sessions) await addKeys(transaction, session);
  const copied = sourcesFirst(await transaction.all(forks, {}));
  for (const { id: session, parent } of copied) await transaction.run(setCopied, { session, parent, origins: originsIn(parent) });
  for (const session of new Set([...sessions, ...copied.map(({ id }) => id)]))
    await connectCopies(transaction, session, { from: 0, references: new Set() });
}

async function addKeys(transaction: Database, session: SessionId): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await transaction.all(keyedRows, { session, after, limit: PAYLOAD_PAGE });
    const origins = rows.map((row) => {
      const payload = parseUndamaged(row);
      return (payload && contentKey(payload, row.created_at_ms, row.id)) ?? null;
    });
    if (rows.length > 0) await transaction.run(setKeys, { session, seqs: rows.map(({ seq }) => seq), origins });
    after = rows.at(-1)?.seq ?? after;
    if (rows.length < PAYLOAD_PAGE) break;
  }
}
