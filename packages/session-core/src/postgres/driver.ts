// The only place that imports the driver `pg`.
import pg from "pg";

export type PgPool = pg.Pool;
export type PgClient = pg.PoolClient;

/** Type numbers of the server. */
const INT8 = 20;

/** How to connect. */
export interface PoolOptions {
  readonly url: string;
  /** The schema with the tables. */
  readonly schema: string;
  readonly tenant: string;
  /** At most this many connections; default 10. */
  readonly connections: number;
  /** How long a call waits for a free connection or a new one, in milliseconds. */
  readonly waitMs: number;
}

/** Opens a pool. It connects at the first query. */
export function createPool({ url, schema, tenant, connections, waitMs }: PoolOptions): PgPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: waitMs,
    application_name: "bough",
    // Row-level security compares each row with `bough.tenant`.
    options: `-c search_path=${schema} -c bough.tenant=${escapeOption(tenant)}`,
    types: { getTypeParser: (oid: number, format?: "text" | "binary") => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) },
  });
  // A connection that breaks while it is idle is replaced at the next query.
  pool.on("error", () => undefined);
  return pool;
}

/** In the startup parameter `options`, a backslash keeps the next character as it is. */
function escapeOption(value: string): string {
  return value.replace(/[\s\\]/g, "\\$&");
}
