import {
  type Compilable,
  DummyDriver,
  Kysely,
  type RawBuilder,
  type Sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import type { Tables } from "./schema.js";

// Kysely only writes the SQL here, typed against the schema; better-sqlite3 runs it. So one statement is compiled and
// prepared once, whatever it is run with: compiling at each call costs more than an insert (102 µs against 43 µs).
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

type Value = string | number | bigint | Buffer | null;

/** Stands for a parameter while a query is being built. */
class Placeholder {
  constructor(readonly name: string) {}
}

/** What a query is built from: the typed tables, and a placeholder for each parameter, typed as its value. */
export interface Building<P> {
  readonly db: Kysely<Tables>;
  readonly sql: Sql;
  readonly p: { readonly [K in keyof P]: P[K] };
}

/** A query written once, at the top of the file that owns it; compiled at its first use, prepared once a connection. */
export interface Query<P, R> {
  readonly compile: () => CompiledQuery;
  /** Whether it is built for one call only and must not be kept prepared. */
  readonly once: boolean;
  /** Only for the types: what it takes and what a row of its answer is. */
  readonly takes?: (parameters: P) => R;
}

/** SQL text with the parameters in the order of its question marks: a value, or the name of a placeholder. */
export interface CompiledQuery {
  readonly sql: string;
  readonly bind: (parameters: Readonly<Record<string, unknown>>) => Value[];
}

/**
 * A query with named parameters.
 *
 * @example
 * const leafOf = query<{ session: SessionSeq; name: string }, { entry_seq: EntrySeq | null }>(({ db, p }) =>
 *   db.selectFrom("leaf").select("entry_seq").where("session_seq", "=", p.session).where("name", "=", p.name));
 * connection.get(leafOf, { session, name: "main" });
 */
export function query<P, R = never>(build: (building: Building<P>) => Compilable<R>): Query<P, R> {
  let compiled: CompiledQuery | undefined;
  return { once: false, compile: () => (compiled ??= compile(build({ db, sql, p: placeholders<P>() }))) };
}

/** A query whose shape depends on a filter: built anew at each call, for answers that cost far more than that. */
export function onceQuery<R>(build: (building: Omit<Building<never>, "p">) => Compilable<R>): Query<Record<never, never>, R> {
  return { ...query<Record<never, never>, R>(build), once: true };
}

/** A query that only plain SQL can say; `R` is a row of its answer. */
export function plain<R>(statement: RawBuilder<R>): Compilable<R> {
  return { compile: () => statement.compile(db) };
}

function placeholders<P>(): Building<P>["p"] {
  return new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as Building<P>["p"];
}

function compile(built: Compilable<unknown>): CompiledQuery {
  const compiled = built.compile();
  const slots = compiled.parameters;
  return {
    sql: compiled.sql,
    bind: (parameters) => slots.map((slot) => (slot instanceof Placeholder ? parameters[slot.name] : slot) as Value),
  };
}

const ALL = Number.MAX_SAFE_INTEGER - 1;

/** How many rows SQLite is asked for: whole and not below zero, whatever a caller counted with; beyond counting: all. */
export function rowLimit(limit: number): number {
  return Number.isNaN(limit) ? 0 : Math.min(Math.max(0, Math.floor(limit)), ALL);
}
