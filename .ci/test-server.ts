// Runs once before the tests that need a PostgreSQL server: starts one, unless the variable BOUGH_TEST_POSTGRES names one, and sets
// that variable for the tests. All stores of a run are tenants in a few schemas with a random name; these are dropped at its end.
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";

const engine = createRequire(join(import.meta.dirname, "../packages/postgres/package.json"));

export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has set it up already.
  if (process.env["BOUGH_TEST_SCHEMA"] !== undefined) return undefined;
  const schema = `bough_test_${randomBytes(4).toString("hex")}`;
  process.env["BOUGH_TEST_SCHEMA"] = schema;
  const given = process.env["BOUGH_TEST_POSTGRES"];
  if (given !== undefined) return () => dropSchemas(given, schema);
  const { startPostgres } = await import("./postgres-server.mjs");
  const server = await startPostgres();
  process.env["BOUGH_TEST_POSTGRES"] = await ownDatabase(server.url);
  return server.stop;
}

/** The address of a database of a role with no right but on it: that of a superuser would pass by row-level security. */
async function ownDatabase(superuser: string): Promise<string> {
  await run(superuser, ["CREATE ROLE bough LOGIN PASSWORD 'not-secret'", "CREATE DATABASE bough OWNER bough"]);
  const url = new URL(superuser);
  url.username = "bough";
  url.pathname = "/bough";
  return url.href;
}

async function dropSchemas(url: string, prefix: string): Promise<void> {
  const [rows] = await run(url, [`SELECT nspname FROM pg_namespace WHERE starts_with(nspname, '${prefix}')`]);
  await run(
    url,
    (rows ?? []).map((row) => `DROP SCHEMA "${row["nspname"]}" CASCADE`),
  );
}

/** A connection of the driver. */
export interface Connection {
  query(sql: string): Promise<{ readonly rows: Record<string, unknown>[] }>;
  /** From now on it keeps no process alive. */
  unref(): void;
  end(): Promise<void>;
}

export async function connectTo(url: string): Promise<Connection> {
  const { Client } = engine("pg");
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function run(url: string, statements: readonly string[]): Promise<Record<string, unknown>[][]> {
  const client = await connectTo(url);
  try {
    const results: Record<string, unknown>[][] = [];
    for (const statement of statements) results.push((await client.query(statement)).rows);
    return results;
  } finally {
    await client.end();
  }
}
