import { readdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { newPlace, ON_SERVER, PARTITIONS, tempFolder } from "../../../../.ci/test-engine.js";
import { openStore, type StoreOptions } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";

export { lastingPlace, newPlace, tempFolder } from "../../../../.ci/test-engine.js";

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

/** A store of its own on the engine of this run, closed after the test. Real engines, synced to disk only where a test is about that. */
export async function openedStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  if (ON_SERVER && Object.keys(options).length === 0) {
    const { storeOnServer } = await import("./server-stores.js");
    return storeOnServer(PARTITIONS);
  }
  const place = options.path === undefined && options.url === undefined ? newPlace() : {};
  const store = await openStore({ ...place, durability: "normal", ...options });
  onTestFinished(() => store.close());
  return store;
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
