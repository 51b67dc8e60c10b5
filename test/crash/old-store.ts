import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { changeStoreKey, openStore } from "@bough/session-core";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";

const OLD_STORE = new URL("../../packages/session-core/test/fixtures/store-version-3.db.gz", import.meta.url);

/** The path of a store file that does not exist yet, in a folder that is gone after the test. */
export function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-crash-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}

/** The same file without our code. */
export function raw<T>(path: string, body: (file: Database.Database) => T): T {
  const file = new Database(path);
  try {
    return body(file);
  } finally {
    file.close();
  }
}

/** A copy of a store and its journal that is not locked, in a folder of its own. */
export async function unlockedCopy(path: string, key: string | undefined): Promise<string> {
  const copy = storePath();
  for (const side of ["", "-wal"]) if (existsSync(`${path}${side}`)) copyFileSync(`${path}${side}`, `${copy}${side}`);
  if (key !== undefined) await changeStoreKey({ path: copy, key });
  return copy;
}

/** What an iteration gives, as a list. */
export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A store of the release before with nine times the session `s` of the fixture. */
export function largeOldStore(): string {
  const path = storePath();
  writeFileSync(path, gunzipSync(readFileSync(OLD_STORE)));
  raw(path, (file) => {
    file.pragma("foreign_keys = OFF");
    const source = Number(file.prepare("SELECT seq FROM session WHERE id = 's'").pluck().get());
    for (let copy = 1; copy <= 8; copy += 1) copySession(file, source, copy * 100, copy * 10_000);
    file.exec("UPDATE store_state SET indexed_seq = 0; DELETE FROM entry_text");
  });
  return path;
}

/** Copies the rows of a session, with row numbers higher by `offset`. */
function copySession(file: Database.Database, source: number, session: number, offset: number): void {
  const columns = (table: string) => file.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all() as readonly string[];
  const copy = (table: string, values: Readonly<Record<string, string>>, where: string) => {
    const names = columns(table);
    file.exec(`INSERT INTO ${table} SELECT ${names.map((name) => values[name] ?? name).join(", ")} FROM ${table} WHERE ${where}`);
  };
  const moved = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `${name} + ${offset}`]));
  const into = { session_seq: `${session}` };
  copy("session", { seq: `${session}`, id: `id || '${session}'` }, `seq = ${source}`);
  const pointers = moved("seq", "parent_seq", "compaction_seq", "first_kept_seq", "model_seq", "thinking_seq", "system_seq");
  copy("entry", { ...into, ...pointers }, `session_seq = ${source}`);
  copy("leaf", { ...into, ...moved("entry_seq") }, `session_seq = ${source}`);
  const own = `entry_seq IN (SELECT seq FROM entry WHERE session_seq = ${source})`;
  copy("entry_waypoint", moved("entry_seq", "above_seq"), own);
  copy("usage_total", into, `session_seq = ${source}`);
}

/** What the tables of an old store hold, as a digest. */
export function digestOf(path: string): string {
  const hash = createHash("sha256");
  raw(path, (file) => {
    for (const table of ["session", "entry", "leaf", "leaf_move", "label", "value", "entry_waypoint", "store_state", "sqlite_master"])
      for (const row of file.prepare(`SELECT * FROM ${table}`).raw().iterate()) hash.update(JSON.stringify(row));
  });
  return hash.digest("hex");
}

/** What a store has, read without writing: of each session its tree, and a context. */
export async function readOld(path: string, key?: string) {
  const store = await openStore({ path, key, mode: "read-only" });
  try {
    const { items } = await store.listSessions({ kind: "all" });
    const read = [];
    for (const record of items.filter(({ entryCount }) => entryCount > 0)) {
      const session = await store.openSession(record.id);
      const hash = createHash("sha256");
      for await (const entry of session.entries()) hash.update(JSON.stringify(entry));
      read.push({ record, leaf: session.leafId, digest: hash.digest("hex"), context: (await session.context()).entries.length });
    }
    return read;
  } finally {
    await store.close();
  }
}

/** The version of the stores that are made now. */
export async function versionOfNewStore(): Promise<number> {
  const path = storePath();
  await (await openStore({ path })).close();
  return raw(path, (file) => Number(file.pragma("user_version", { simple: true })));
}
