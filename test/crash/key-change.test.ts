import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, type Store, userMessage } from "@bough/session-core";
import { expect, test } from "vitest";
import { killed } from "../attack/killed.mjs";
import { randomOf } from "../attack/random.mjs";
import { KEYS } from "./keys.mjs";
import { collected, storePath } from "./old-store.js";

const CHANGER = fileURLToPath(new URL("key-changer.mjs", import.meta.url));
const KILLS = Math.ceil(Number(process.env["BOUGH_CRASH_RUNS"] ?? 50) / 2);
/** Give it as BOUGH_CRASH_SEED to repeat the moments of a run. */
const SEED = Number(process.env["BOUGH_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(SEED);

/** Opens the store with the one key of all that fits: which one, and the store. */
async function openWithAnyKey(path: string): Promise<{ readonly at: number; readonly store: Store }> {
  const opened: { at: number; store: Store }[] = [];
  for (const [at, key] of KEYS.entries()) {
    try {
      opened.push({ at, store: await openStore({ path, key }) });
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^(STORE_LOCKED|STORE_NOT_LOCKED|WRONG_KEY)$/) });
    }
  }
  const [only, ...others] = opened;
  for (const { store } of others) await store.close();
  if (only === undefined || others.length > 0) throw new Error(`${opened.length} keys fit.`);
  return only;
}

test(`a process that is killed while it locks, unlocks and rekeys (${KILLS} times, seed ${SEED}) leaves one whole store, and nothing readable of a locked one`, async () => {
  const path = storePath();
  const first = await openStore({ path });
  const session = await first.createSession({ id: "one" });
  // Some pages, so that copying them takes a while.
  for (let at = 0; at < 200; at += 1) await session.append(userMessage(`known-text ${at} ${"words ".repeat(300)}`));
  await first.close();
  const acknowledged: string[] = [];
  const keys = new Set<number>();
  for (let kill = 0, key = 0; kill < KILLS; kill += 1) {
    const when = { lines: 3 + 2 * random.below(3), delayMs: random.below(120) };
    const { output, signal } = await killed(CHANGER, [path, `k${kill}`, String(key)], when);
    const moment = `kill ${kill} of seed ${SEED}, key ${key}`;
    expect(signal, moment).toBe("SIGKILL");
    acknowledged.push(...output.filter((line) => line.startsWith("id ")).map((line) => line.slice(3)));
    const { at, store } = await openWithAnyKey(path);
    key = at;
    keys.add(at);
    const ids = new Set((await collected((await store.openSession("one")).entries())).map(({ id }) => id));
    expect(
      acknowledged.filter((id) => !ids.has(id)),
      `acknowledged and lost, ${moment}`,
    ).toEqual([]);
    expect(await collected(store.verify()), moment).toEqual([]);
    await store.close();
    expect(readdirSync(dirname(path)), moment).toEqual([basename(path)]);
    if (at > 0) expect(readFileSync(join(dirname(path), basename(path))).includes("known-text"), moment).toBe(false);
  }
  expect([...keys].sort()).toEqual([0, 1, 2]);
});
