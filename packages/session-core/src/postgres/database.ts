import { createHash } from "node:crypto";
import { bind, type Query } from "../query/declare.js";
import type { PgClient, PgPool } from "./driver.js";
import { fromColumn, toParameter } from "./text.js";

/** Runs queries: on any free connection, or on the one of a transaction. */
export interface Database {
  /** Bound to `p.tenant` of every query. */
  readonly tenant: string;
  /** Returns the first row, or undefined. */
  get<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R | undefined>;
  /** Returns all rows. */
  all<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R[]>;
  /** Runs a statement that returns no rows; returns the number of changed rows. */
  run<P extends object>(query: Query<P, unknown>, parameters: P): Promise<number>;
}

/** What `pg` needs of a pool or of a connection. */
type Queryable = Pick<PgPool | PgClient, "query">;

class QueryRunner implements Database {
  readonly tenant: string;
  readonly #on: Queryable;

  constructor(on: Queryable, tenant: string) {
    this.#on = on;
    this.tenant = tenant;
  }

  async get<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R | undefined> {
    return (await this.all(query, parameters))[0];
  }

  async all<P extends object, R>(query: Query<P, R>, parameters: P): Promise<R[]> {
    return (await this.#query(query, parameters)).rows.map((row) => fromRow<R>(row));
  }

  async run<P extends object>(query: Query<P, unknown>, parameters: P): Promise<number> {
    return (await this.#query(query, parameters)).rowCount ?? 0;
  }

  #query(query: Query<never, unknown>, parameters: object) {
    const { sql: text, slots } = query.compile();
    const values = bind(slots, { ...parameters, tenant: this.tenant }).map(toParameter);
    return this.#on.query(query.isDynamic ? { text, values } : { name: nameOf(text), text, values });
  }
}

const names = new Map<string, string>();

/** The name under which the server keeps a statement prepared: the same text has the same name in every process. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `bough_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
  names.set(text, name);
  return name;
}

function fromRow<R>(row: Record<string, unknown>): R {
  for (const column in row) row[column] = fromColumn(row[column]);
  // The query declares the type of its rows.
  return row as R;
}

/** A store's connections to its server. */
export class PgDatabase extends QueryRunner {
  readonly #pool: PgPool;

  constructor(pool: PgPool, tenant: string) {
    super(pool, tenant);
    this.#pool = pool;
  }

  /** Runs `body` in one transaction: all that it writes, or, if it throws, nothing. Every query of it must use the given database. */
  async write<T>(body: (transaction: Database) => Promise<T>): Promise<T> {
    return this.#transaction("BEGIN", body);
  }

  /** Runs `body` in one read transaction, so that all its queries use the same snapshot. */
  async read<T>(body: (transaction: Database) => Promise<T>): Promise<T> {
    return this.#transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", body);
  }

  async #transaction<T>(begin: string, body: (transaction: Database) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query(begin);
      const result = await body(new QueryRunner(client, this.tenant));
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      await client.query("ROLLBACK").then(
        () => client.release(),
        // The connection is broken: the server rolls back when it notices.
        () => client.release(true),
      );
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
