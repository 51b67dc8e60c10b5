import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { openStore, type StoreOptions } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-core-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Lists the copies of databases that are left. The test has a temporary folder of its own, so that other tests do not count. */
export function copiesLeft(): () => readonly string[] {
  const folder = tempFolder();
  const { TMPDIR } = process.env;
  process.env["TMPDIR"] = folder;
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  });
  return () => readdirSync(folder).filter((name) => name.startsWith("bough-source-"));
}

/** The path of a store file that does not exist yet. */
export function storePath(): string {
  return join(tempFolder(), "store.db");
}

/** The engines that the contract is tested on. Each test file of the contract runs once on each (vitest.config.ts). */
export type Engine = "memory" | "file" | "postgres" | "postgres-partitioned";

/** The engine of this run. */
export const ENGINE: Engine = engineOf(process.env["BOUGH_TEST_ENGINE"] ?? "memory");

function engineOf(name: string): Engine {
  if (name === "memory" || name === "file" || name === "postgres" || name === "postgres-partitioned") return name;
  throw new Error(`BOUGH_TEST_ENGINE is memory, file, postgres or postgres-partitioned, not ${name}.`);
}

/** A store of its own on the engine of this run, closed after the test. Real engines, synced to disk only where a test is about that. */
export async function openedStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ ...newPlace(), durability: "normal", ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Where a new store can be made on the engine of this run: opened twice, it is the same store. */
export function newPlace(): StoreOptions {
  if (ENGINE === "memory") return { path: ":memory:" };
  return ENGINE === "file" ? { path: storePath() } : serverPlace(ENGINE === "postgres-partitioned" ? 4 : 0);
}

/** The stores of a run are tenants of one schema, which takes a second to create. */
export function serverPlace(partitions = 0): StoreOptions {
  const { BOUGH_TEST_POSTGRES: url, BOUGH_TEST_SCHEMA: schema } = process.env;
  if (url === undefined) throw new Error("This test needs the PostgreSQL server of .ci/test-server.ts: see vitest.config.ts.");
  return { url, schema: `${schema}${partitions === 0 ? "" : "_parts"}`, tenant: randomUUID(), connections: 4, partitions };
}

/** The same file without our code, for damage and for looking. */
export function raw<T>(path: string, body: (file: Database.Database) => T): T {
  const file = new Database(path);
  try {
    return body(file);
  } finally {
    file.close();
  }
}

/** What an iteration gives, as a list. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Everything that does not hold. */
export async function findingsOf(store: Store, sessionId?: string) {
  return collected(store.verify(sessionId));
}
