import { type Compilable, type RawBuilder, SqliteAdapter, SqliteQueryCompiler } from "kysely";
import { Queries, type Query, type QueryBuilder as TypedQueryBuilder } from "../rules/declare-query.js";
import type { Tables } from "./schema.js";

export type { Query } from "../rules/declare-query.js";

/** The building blocks of a query on the tables of a store in SQLite. */
export type QueryBuilder<P> = TypedQueryBuilder<Tables, P>;

const queries = new Queries<Tables>({ createAdapter: () => new SqliteAdapter(), createQueryCompiler: () => new SqliteQueryCompiler() });

/** Every declared query, for the test of their plans: it fails for a query whose plan no test has checked. */
export const declared = queries.declared;

/**
 * Declares a query with named parameters. Declare it at the top level of the file that uses it.
 *
 * @example
 * const leafOf = query<{ session: SessionSeq; name: string }, { entry_seq: EntrySeq | null }>(({ db, p }) =>
 *   db.selectFrom("leaf").select("entry_seq").where("session_seq", "=", p.session).where("name", "=", p.name));
 * connection.get(leafOf, { session, name: "main" });
 */
export function query<P extends object, R = never>(build: (builder: QueryBuilder<P>) => Compilable<R>): Query<P, R> {
  return queries.declare(build);
}

/** Makes a query of a statement that depends on a filter. It is compiled and prepared again at each call. */
export function dynamicQuery<R>(statement: RawBuilder<R>): Query<Record<never, never>, R> {
  return queries.dynamic(statement);
}

/** Makes a query from an SQL template; `R` is the type of its rows. */
export function rawQuery<R>(statement: RawBuilder<R>): Compilable<R> {
  return queries.raw(statement);
}
