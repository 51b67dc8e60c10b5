import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Entry, openStore, type Store } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";

const PACKER = fileURLToPath(new URL("packer.mjs", import.meta.url));
const run = promisify(execFile);
/** What each process does, its name, and how often. */
const PROCESSES = [
  ["append", "a1", 20],
  ["append", "a2", 20],
  ["pack", "p1", 15],
  ["pack", "p2", 15],
  ["delete", "d1", 8],
  ["read", "r1", 15],
] as const;

interface Said {
  readonly acknowledged: readonly string[];
  readonly deleted: readonly string[];
  readonly errors: readonly string[];
}

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-concurrency-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function allEntries(store: Store): Promise<readonly Entry[]> {
  const { items } = await store.listSessions({ empty: true });
  const entries: Entry[] = [];
  for (const { id } of items) entries.push(...(await collected((await store.openSession(id)).entries())));
  return entries;
}

test("processes that append, pack, search, read and delete at once lose nothing, and leave nothing of what was deleted", async () => {
  const path = storePath();
  const created = await openStore({ path });
  await created.createSession({ id: "shared" });
  // Another handle stays open, so that no process is the last one: it folds the journal into the file for the others.
  const outputs = await Promise.all(PROCESSES.map(([what, name, count]) => run(process.execPath, [PACKER, what, path, name, `${count}`])));
  await created.close();
  const said = outputs.map(({ stdout }): Said => JSON.parse(stdout));
  expect(said.flatMap(({ errors }) => errors)).toEqual([]);

  const store = await openStore({ path });
  const entries = await allEntries(store);
  const acknowledged = said.flatMap(({ acknowledged: ids }) => ids);
  expect(entries.map(({ id }) => id).sort()).toEqual([...acknowledged].sort());
  expect(await collected(store.verify())).toEqual([]);
  await store.close();

  const bytes = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file));
  const deleted = said.flatMap(({ deleted: texts }) => texts);
  expect(deleted.length).toBeGreaterThan(24);
  expect(deleted.filter((hex) => bytes.some((file) => file.includes(Buffer.from(hex, "hex"))))).toEqual([]);
});
