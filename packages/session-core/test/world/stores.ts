import { mkdtempSync, rmSync } from "node:fs";
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

/** The path of a store file that does not exist yet. */
export function storePath(): string {
  return join(tempFolder(), "store.db");
}

/** A store that is closed after the test. Real SQLite, synced to disk only where a test is about that. */
export async function openedStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ path: ":memory:", durability: "normal", ...options });
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
