import {
  type Compilable,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type DialectAdapter,
  DummyDriver,
  type QueryCompiler,
  QueryCreator,
  type QueryExecutor,
  type RawBuilder,
  type Sql,
  sql,
} from "kysely";

// Kysely compiles the SQL, typed against the schema; a driver runs it prepared. Each query is compiled once per process: compiling at
// each call takes longer than an insert (102 µs against 43 µs).

/** Represents a parameter while a query is built. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The building blocks of a query: the typed tables, and a placeholder for each parameter, typed as its value. */
export interface QueryBuilder<T, P> {
  readonly db: QueryCreator<T>;
  readonly sql: Sql;
  readonly p: { readonly [K in keyof P]: P[K] };
}

/** A query with parameters `P` and rows `R`. Compiled at its first use. */
export interface Query<P extends object, R> {
  readonly compile: () => CompiledQuery;
  /** True if the query was built for one call. A dynamic query is not kept prepared. */
  readonly isDynamic: boolean;
  /** True if a statement that writes can be sent again when its outcome is unknown: twice has the same effect as once. */
  readonly isRepeatable?: boolean;
  /** Exists only for type inference; never set. */
  readonly takes?: (parameters: P) => R;
}

/** SQL text, and its parameters in the order of its marks: values, or placeholders for them. */
export interface CompiledQuery {
  readonly sql: string;
  readonly slots: readonly unknown[];
}

/** A dialect of SQL. */
export interface Dialect {
  createAdapter(): DialectAdapter;
  createQueryCompiler(): QueryCompiler;
}

/** Declares queries on the tables `T` in one dialect. `A`: the parameters that the connection adds to those of every query. */
export class Queries<T, A extends object = Record<never, never>> {
  readonly #db: QueryCreator<T>;
  readonly #executor: QueryExecutor;
  /** Every declared query, for the test of their plans: it fails for a query whose plan no test has checked. */
  readonly declared: Pick<Query<never, unknown>, "compile">[] = [];

  constructor(dialect: Dialect) {
    // Not the class `Kysely`, which brings what changes a schema along: a fifth of the library, loaded at each start.
    const nowhere = new DefaultConnectionProvider(new DummyDriver());
    this.#executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), nowhere);
    this.#db = new QueryCreator<T>({ executor: this.#executor });
  }

  /** Declares a query with named parameters. */
  declare<P extends object, R>(build: (builder: QueryBuilder<T, P & A>) => Compilable<R>): Query<P, R> {
    const made = this.#lazily(build);
    this.declared.push(made);
    return made;
  }

  /** Makes a query of a statement that depends on a filter. */
  dynamic<R>(statement: RawBuilder<R>): Query<Record<never, never>, R> {
    return { ...this.#lazily<Record<never, never>, R>(() => this.raw(statement)), isDynamic: true };
  }

  /** Makes a query from an SQL template; `R` is the type of its rows. */
  raw<R>(statement: RawBuilder<R>): Compilable<R> {
    return { compile: () => statement.compile({ getExecutor: () => this.#executor }) };
  }

  #lazily<P extends object, R>(build: (builder: QueryBuilder<T, P & A>) => Compilable<R>): Query<P, R> {
    let compiled: CompiledQuery | undefined;
    return { isDynamic: false, compile: () => (compiled ??= compile(build({ db: this.#db, sql, p: placeholders<P & A>() }))) };
  }
}

function placeholders<P>(): QueryBuilder<never, P>["p"] {
  // A Proxy has the type of its target; this one returns a placeholder for every name.
  return new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as QueryBuilder<never, P>["p"];
}

function compile(built: Compilable<unknown>): CompiledQuery {
  const { sql: text, parameters } = built.compile();
  return { sql: text, slots: parameters };
}

/** The values of the slots of a query, in order. A lone surrogate in a text becomes U+FFFD: UTF-8 has none, and the drivers replace it differently. */
export function bind(slots: readonly unknown[], parameters: object): unknown[] {
  // The types of `query` make every placeholder a member of the parameters. `Reflect.get` needs no cast, but is slower.
  const values = parameters as Readonly<Record<string, unknown>>;
  const bound: unknown[] = [];
  for (const slot of slots) {
    const value = slot instanceof Placeholder ? values[slot.name] : slot;
    bound.push(typeof value === "string" ? value.toWellFormed() : value);
  }
  return bound;
}
