import { type SessionId, SessionNotFoundError } from "@bough/session-core";
import type { Query, SessionKey } from "@bough/session-core/engine";
import type { RawBuilder, Sql } from "kysely";
import type { Database } from "./database.js";
import { type Always, pgQuery, pgRaw } from "./query.js";

/** The parameters of a query on one session. */
export interface KeyParameters {
  readonly session: SessionId;
  /** null: any session of this id. */
  readonly sessionSeq: number | null;
}

/** Returns the parameters of a session key. */
export function keyParameters(key: SessionKey): KeyParameters {
  return typeof key === "string" ? { session: key, sessionSeq: null } : { session: key.id, sessionSeq: key.seq };
}

/** SQL of the rows of a session: of the table, or its alias, with this name. */
export function ofSession(sql: Sql, p: Always & Pick<KeyParameters, "session">, table: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${table}.tenant`)} = ${p.tenant} AND ${sql.ref(`${table}.session_id`)} = ${p.session}`;
}

/** SQL of the condition that the session of a key exists, so that a query finds nothing of a later session with the same id. One look-up. */
export function sessionExists(sql: Sql, p: Always & KeyParameters): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    SELECT 1 FROM session AS keyed WHERE ${ofSession(sql, p, "keyed")} AND keyed.seq = coalesce(${p.sessionSeq}::bigint, keyed.seq))`;
}

/**
 * SQL of the condition that no newer program has made a schema that this one must not write to. A change of the schema waits for its lock.
 * A statement that writes outside a transaction of `PgDatabase.write` has it, and does nothing if it is false.
 */
export function isWritable(sql: Sql, p: Always): RawBuilder<boolean> {
  return sql<boolean>`(SELECT min_writer FROM store_version) <= ${p.version}::integer`;
}

const known = pgQuery<KeyParameters, { found: boolean }>(({ sql, p }) =>
  pgRaw(sql<{ found: boolean }>`SELECT ${sessionExists(sql, p)} AS found`),
);

/** Checks that there is a session. A read does it only when it found nothing. @throws {SessionNotFoundError} */
export async function requireSession(database: Database, key: SessionKey): Promise<void> {
  const parameters = keyParameters(key);
  if ((await database.get(known, parameters))?.found !== true) throw new SessionNotFoundError(parameters.session);
}

/** Runs a query on one session that finds nothing if there is no such session; only then is that checked. @throws {SessionNotFoundError} */
export async function rowsOf<P extends object, R>(
  database: Database,
  key: SessionKey,
  query: Query<P & KeyParameters, R>,
  parameters: P,
): Promise<readonly R[]> {
  const rows = await database.all(query, { ...parameters, ...keyParameters(key) });
  if (rows.length === 0) await requireSession(database, key);
  return rows;
}
