import { randomBytes } from "node:crypto";
import { openStore, type StoreOptions } from "@bough/session-core";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { startPostgres } from "../../../.ci/postgres-server.mjs";

/** A server of the tests of one file, for what the common one cannot do: roles, settings, kills. */
export interface OwnServer {
  /** The address of a new database, of the superuser. */
  newDatabase(): Promise<string>;
  /** Runs a statement; as the superuser, unless another address is given. Returns the rows. */
  run(statement: string, url?: string): Promise<Record<string, unknown>[]>;
  /** Runs a statement in a transaction that stays open until `end`. */
  hold(statement: string, url: string): Promise<pg.Client>;
}

/** Starts a server before the tests of this file, and stops it after them. */
export function ownServer(settings: readonly string[] = []): OwnServer {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
  beforeAll(async () => {
    server = await startPostgres({ settings });
  });
  afterAll(() => server?.stop());
  const run = (statement: string, url = server?.url ?? "") => query(url, statement);
  const newDatabase = async () => {
    const name = `test_${randomBytes(4).toString("hex")}`;
    await run(`CREATE DATABASE ${name}`);
    return withUrl(server?.url ?? "", { pathname: `/${name}` });
  };
  return { run, newDatabase, hold };
}

/** An address with other members. */
export function withUrl(url: string, members: Partial<Pick<URL, "username" | "password" | "pathname" | "port" | "search">>): string {
  return Object.assign(new URL(url), members).href;
}

async function hold(statement: string, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query(statement);
  return client;
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is killed refuses a login, and resets its connection after that. The call in between has its error already.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** What opening a store throws. */
export async function openError(options: StoreOptions): Promise<unknown> {
  try {
    await (await openStore(options)).close();
  } catch (error) {
    return error;
  }
  throw new Error("The store was opened.");
}
