import type { FileTools } from "../tools/known-tools.js";
import { PgDatabase } from "./database.js";
import { createPool } from "./driver.js";
import { migrate } from "./migrate.js";
import { PostgresStorage } from "./postgres-storage.js";

/** How to open a store on a server. */
export interface PostgresOptions {
  readonly url: string;
  readonly tenant: string;
  readonly schema: string;
  readonly connections: number;
  readonly mode: "create" | "read-write" | "read-only";
  readonly busyTimeoutMs: number;
  readonly partitions: number;
  readonly fileTools: FileTools;
}

/** Opens the storage, and creates its schema and tables if they are missing. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStorage> {
  const { url, schema, tenant, connections, busyTimeoutMs } = options;
  const pool = createPool({ url, schema, tenant, connections, waitMs: busyTimeoutMs });
  try {
    await migrate(pool, schema, { partitions: options.partitions, lz4: false });
  } catch (error) {
    await pool.end();
    throw error;
  }
  return new PostgresStorage(new PgDatabase(pool, tenant), options.fileTools);
}
