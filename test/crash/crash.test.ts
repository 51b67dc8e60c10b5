import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Entry, openStore, type Session, type Store } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { killed } from "../attack/killed.mjs";
import { randomOf } from "../attack/random.mjs";

const WRITER = fileURLToPath(new URL("writer.mjs", import.meta.url));
const RUNS = Number(process.env["BOUGH_CRASH_RUNS"] ?? 50);
/** How often one store is killed: several times, so that what a kill left behind is written on. */
const KILLS_A_STORE = 10;
/** Give it as BOUGH_CRASH_SEED to repeat the moments of a run. */
const SEED = Number(process.env["BOUGH_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** Starts a writer, kills it after its n-th word, and gives the ids that it acknowledged. */
async function idsOfKilled(path: string, sessionId: string, run: string, words: number): Promise<readonly string[]> {
  const { output, signal } = await killed(WRITER, [path, sessionId, run], { lines: words });
  expect(signal).toBe("SIGKILL");
  // What it still says between the n-th word and its death counts as well; its first word is none.
  return output.slice(1);
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function expectWhole(store: Store, session: Session, acknowledged: readonly string[], moment: string): Promise<void> {
  const entries = await collected(session.entries());
  const ids = new Set(entries.map(({ id }) => id));
  expect(
    acknowledged.filter((id) => !ids.has(id)),
    `acknowledged and lost, ${moment}`,
  ).toEqual([]);
  expect(await collected(store.verify()), moment).toEqual([]);
  expect(session.leafId, `the leaf is the newest entry, ${moment}`).toBe(entries.at(-1)?.id ?? null);
  expectNothingHalf(entries, await session.labels.list(), await session.values.list(), moment);
  expect((await store.search({ query: "crash" })).total, moment).toBe(entries.length);
}

type Labels = Awaited<ReturnType<Session["labels"]["list"]>>;
type Values = Awaited<ReturnType<Session["values"]["list"]>>;

function expectNothingHalf(entries: readonly Entry[], labels: Labels, values: Values, moment: string): void {
  const parts = new Map<string, number>();
  for (const { id } of entries) if (id.includes(".")) parts.set(id.slice(0, -2), (parts.get(id.slice(0, -2)) ?? 0) + 1);
  expect(
    [...parts].filter(([, count]) => count !== 4),
    `half a batch, ${moment}`,
  ).toEqual([]);
  const batches = [...parts.keys()].map((id) => `batch ${id}`).sort();
  expect(labels.map(({ label }) => label).sort(), moment).toEqual(batches);
  expect(values.map(({ key }) => key).sort(), moment).toEqual(batches);
}

async function killStore(number: number, kills: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bough-crash-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  const random = randomOf(SEED + number);
  const created = await openStore({ path });
  const { id } = await created.createSession();
  await created.close();
  const acknowledged: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    // The first line is printed before the store is opened, so that opening is interrupted, too.
    const words = 1 + random.below(1 + random.below(120));
    acknowledged.push(...(await idsOfKilled(path, id, `${number}-${kill}`, words)));
    const store = await openStore({ path });
    try {
      await expectWhole(store, await store.openSession(id), acknowledged, `store ${number}, kill ${kill}, seed ${SEED}`);
    } finally {
      await store.close();
    }
  }
}

describe("a process that is killed at any moment", () => {
  test(
    `leaves everything it acknowledged, nothing half, and a store in which all holds (${RUNS} kills)`,
    async () => {
      const stores = Math.ceil(RUNS / KILLS_A_STORE);
      // Two at a time: each of them waits for its child most of the time.
      const next = Array.from({ length: stores }, (_, number) => number);
      const worker = async () => {
        for (let number = next.shift(); number !== undefined; number = next.shift()) {
          await killStore(number, Math.min(KILLS_A_STORE, RUNS - number * KILLS_A_STORE));
        }
      };
      await Promise.all([worker(), worker()]);
    },
    60_000 + RUNS * 2_000,
  );
});
