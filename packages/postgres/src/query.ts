import { Queries, type Query, type QueryBuilder } from "@bough/session-core/engine";
import { type Compilable, PostgresAdapter, PostgresQueryCompiler, type RawBuilder } from "kysely";
import type { PgTables } from "./tables.js";

const queries = new Queries<PgTables, Always>({
  createAdapter: () => new PostgresAdapter(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

/** Every query that was declared, for the test of their plans. */
export const declared = queries.declared;

/** Parameters of every query, which the connection sets. */
export interface Always {
  /** The tenant that the store was opened for. */
  readonly tenant: string;
  /** The schema with the tables. */
  readonly schema: string;
  /** The version of the schema that this program knows. */
  readonly version: number;
}

/**
 * Declares a query with named parameters; `p.tenant` is always there. Declare it at the top level of the file that uses it. The server
 * prepares it once for each connection.
 *
 * @example
 * const leafOf = pgQuery<{ session: string; name: string }, { entry_seq: number | null }>(({ db, p }) =>
 *   db.selectFrom("leaf").select("entry_seq").where("tenant", "=", p.tenant).where("session_id", "=", p.session).where("name", "=", p.name));
 * await database.get(leafOf, { session, name: "main" });
 */
export function pgQuery<P extends object = Record<never, never>, R = never>(
  build: (builder: QueryBuilder<PgTables, P & Always>) => Compilable<R>,
): Query<P, R> {
  return queries.declare<P, R>(build);
}

/** Declares a query that writes, and that can be sent again when the connection breaks: doing it twice is the same as doing it once. */
export function pgRepeatable<P extends object = Record<never, never>, R = never>(
  build: (builder: QueryBuilder<PgTables, P & Always>) => Compilable<R>,
): Query<P, R> {
  return { ...queries.declare<P, R>(build), isRepeatable: true };
}

/** Builds a query whose SQL depends on a filter. It is compiled again at each call, and not kept prepared. */
export function pgDynamicQuery<R>(build: (builder: QueryBuilder<PgTables, Always>) => Compilable<R>): Query<Record<never, never>, R> {
  return queries.dynamic<Record<never, never>, R>(build);
}

/** Makes a query from an SQL template; `R` is the type of its rows. */
export function pgRaw<R>(statement: RawBuilder<R>): Compilable<R> {
  return queries.raw(statement);
}
