import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { changeStoreKey, type Entry, openStore, type Store } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { killed } from "../attack/killed.mjs";
import { randomOf } from "../attack/random.mjs";
import { collected, digestOf, largeOldStore, raw, readOld, storePath, unlockedCopy, versionOfNewStore } from "./old-store.js";

const MAINTAINER = fileURLToPath(new URL("maintainer.mjs", import.meta.url));
const SESSIONS = ["one", "two", "three"];
const KILLS = Math.ceil(Number(process.env["BOUGH_CRASH_RUNS"] ?? 50) / 8);
/** Give it as BOUGH_CRASH_SEED to repeat the moments of a run. */
const SEED = Number(process.env["BOUGH_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(SEED);

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

  test.each([
    ["an old store", undefined],
    ["a locked old store", "the key of the store"],
  ])("while it upgrades %s, leaves it as it was or upgraded", async (_which, key) => {
    const path = largeOldStore();
    if (key !== undefined) await changeStoreKey({ path, newKey: key });
    const whole = readFileSync(path);
    const before = digestOf(await unlockedCopy(path, key));
    const expected = await readOld(path, key);
    const upgraded = await versionOfNewStore();
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (const side of ["", "-wal", "-shm"]) rmSync(`${path}${side}`, { force: true });
      writeFileSync(path, whole);
      const when = { lines: 1 + random.below(190), delayMs: random.below(30) };
      const { output } = await killed(MAINTAINER, ["upgrade", path, `u${kill}`, ...(key === undefined ? [] : [key])], when);
      expect(output.filter((line) => line.startsWith("error"))).toEqual([]);
      const copy = await unlockedCopy(path, key);
      const version = raw(copy, (file) => file.pragma("user_version", { simple: true }));
      expect([3, upgraded], `seed ${SEED}`).toContain(version);
      if (version === 3) expect(digestOf(copy), `seed ${SEED}`).toBe(before);
      expect(await readOld(path, key), `seed ${SEED}`).toEqual(expected);
      const store = await openStore({ path, key });
      expect(await collected(store.verify()), `seed ${SEED}`).toEqual([]);
      await store.close();
      expect(await readOld(path, key), `seed ${SEED}`).toEqual(expected);
      if (key !== undefined) expect(readFileSync(path).includes("SQLite format 3"), `seed ${SEED}`).toBe(false);
    }
  });
});
