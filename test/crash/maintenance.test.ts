import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type Entry, openStore, type Store } from "@bough/session-core";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { killed } from "../attack/killed.mjs";
import { randomOf } from "../attack/random.mjs";

const MAINTAINER = fileURLToPath(new URL("maintainer.mjs", import.meta.url));
const OLD_STORE = new URL("../../packages/session-core/test/fixtures/store-version-3.db.gz", import.meta.url);
const SESSIONS = ["one", "two", "three"];
const KILLS = Math.ceil(Number(process.env["BOUGH_CRASH_RUNS"] ?? 50) / 8);
/** Give it as BOUGH_CRASH_SEED to repeat the moments of a run. */
const SEED = Number(process.env["BOUGH_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(SEED);

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-crash-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}

function raw<T>(path: string, body: (file: Database.Database) => T): T {
  const file = new Database(path);
  try {
    return body(file);
  } finally {
    file.close();
  }
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const textOf = (entry: Entry) => (entry.type === "message" && entry.message.role === "user" ? String(entry.message.content) : "");

async function newStore(): Promise<string> {
  const path = storePath();
  const store = await openStore({ path });
  for (const id of SESSIONS) await store.createSession({ id, createdAtMs: 1 });
  await store.close();
  return path;
}

/** Every acknowledged entry is there and says its own id; all that verify checks holds. */
async function expectWhole(path: string, acknowledged: readonly string[], moment: string): Promise<void> {
  const store: Store = await openStore({ path });
  try {
    const entries: Entry[] = [];
    for (const id of SESSIONS) entries.push(...(await collected((await store.openSession(id)).entries())));
    const ids = new Set(entries.map(({ id }) => id));
    expect(
      acknowledged.filter((id) => !ids.has(id)),
      `acknowledged and lost, ${moment}`,
    ).toEqual([]);
    expect(
      entries.filter((entry) => textOf(entry).split(" ")[0] !== entry.id).map(({ id }) => id),
      `another payload, ${moment}`,
    ).toEqual([]);
    expect(await collected(store.verify()), moment).toEqual([]);
    expect((await store.search({ query: "text", limit: 1 })).total, moment).toBe(
      entries.filter((entry) => textOf(entry).includes("text")).length,
    );
  } finally {
    await store.close();
  }
}

const blocksIn = (path: string) => Number(raw(path, (file) => file.prepare("SELECT count(*) FROM payload_block").pluck().get()));

describe(`a process that is killed (${KILLS} times, seed ${SEED})`, () => {
  test("while it packs, loses nothing and leaves no payload twice", async () => {
    const path = await newStore();
    const acknowledged: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const when = { lines: 1 + random.below(600), delayMs: random.below(4) };
      const { output, signal } = await killed(MAINTAINER, ["pack", path, `p${kill}`], when);
      expect(signal).toBe("SIGKILL");
      acknowledged.push(...output.filter((line) => line.startsWith("id ")).map((line) => line.slice(3)));
      await expectWhole(path, acknowledged, `kill ${kill}, seed ${SEED}`);
    }
    expect(blocksIn(path)).toBeGreaterThan(0);
  });

  test("while it closes, loses nothing", async () => {
    const path = await newStore();
    const acknowledged: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { output } = await killed(MAINTAINER, ["close", path, `c${kill}`], { lines: 602, delayMs: random.below(160) });
      acknowledged.push(...output.filter((line) => line.startsWith("id ")).map((line) => line.slice(3)));
      expect(acknowledged).toHaveLength(600 * (kill + 1));
      await expectWhole(path, acknowledged, `kill ${kill}, seed ${SEED}`);
    }
  });

  test("while it upgrades, leaves the old store as it was or the upgraded one", async () => {
    const path = largeOldStore();
    const whole = readFileSync(path);
    const before = digestOf(path);
    const expected = await readOld(path);
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (const side of ["", "-wal", "-shm"]) rmSync(`${path}${side}`, { force: true });
      writeFileSync(path, whole);
      await killed(MAINTAINER, ["upgrade", path, `u${kill}`], { lines: 1 + random.below(190), delayMs: random.below(30) });
      const version = raw(path, (file) => file.pragma("user_version", { simple: true }));
      expect([3, 4], `seed ${SEED}`).toContain(version);
      if (version === 3) expect(digestOf(path), `seed ${SEED}`).toBe(before);
      expect(await readOld(path), `seed ${SEED}`).toEqual(expected);
      const store = await openStore({ path });
      expect(await collected(store.verify()), `seed ${SEED}`).toEqual([]);
      await store.close();
      expect(await readOld(path), `seed ${SEED}`).toEqual(expected);
    }
  });
});

/** A store of the release before with nine times the session `s` of the fixture. */
function largeOldStore(): string {
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
function digestOf(path: string): string {
  const hash = createHash("sha256");
  raw(path, (file) => {
    for (const table of ["session", "entry", "leaf", "leaf_move", "label", "value", "entry_waypoint", "store_state", "sqlite_master"])
      for (const row of file.prepare(`SELECT * FROM ${table}`).raw().iterate()) hash.update(JSON.stringify(row));
  });
  return hash.digest("hex");
}

/** What a store has, read without writing: of each session its tree, and a context. */
async function readOld(path: string) {
  const store = await openStore({ path, mode: "read-only" });
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
