import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { syncSessions } from "@bough/formats";
import { openStore, type Store } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { killed } from "../attack/killed.mjs";
import { randomOf } from "../attack/random.mjs";
import { piLines } from "../sync/synced-home.js";

const SYNCER = fileURLToPath(new URL("syncer.mjs", import.meta.url));
const FILES = 500;
const KILLS = 8;
/** Give it as BOUGH_CRASH_SEED to repeat the moments of a run. */
const SEED = Number(process.env["BOUGH_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** The number of messages of the session in a file: some have none, and make no session. */
const messagesIn = (at: number) => at % 7;
const SESSIONS = Array.from({ length: FILES }, (_, at) => at).filter((at) => messagesIn(at) > 0).length;

/** A home with small sessions of pi, of which many are written in one transaction. */
function homeOfMany(folder: string): void {
  const sessions = join(folder, ".pi", "agent", "sessions", "p");
  mkdirSync(sessions, { recursive: true });
  for (let at = 0; at < FILES; at += 1) {
    const texts = Array.from({ length: messagesIn(at) }, (_, n) => `${at} ${n}`);
    writeFileSync(join(sessions, `${at}.jsonl`), piLines(`s${at}`, ...texts));
  }
}

/** Returns the number of sessions; each has all of its entries, and nothing is damaged. */
async function countWhole(store: Store, moment: string): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const page = await store.listSessions({ kind: "all", empty: true, cursor });
    for (const { id, entryCount } of page.items) expect(entryCount, `${id}, ${moment}`).toBe(messagesIn(Number(id.slice(1))));
    count += page.items.length;
    if (page.next === null) break;
    cursor = page.next;
  }
  for await (const violation of store.verify()) expect.fail(`${violation.message}, ${moment}`);
  return count;
}

test("a first sync that is killed loses no session that it told of and leaves none half; the next one goes on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bough-crash-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  homeOfMany(folder);
  const path = join(folder, "store.db");
  const random = randomOf(SEED);
  let told = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const moment = `kill ${kill}, seed ${SEED}`;
    // Each sync goes on where the one before was killed, and tells of what it has added or found.
    const { output } = await killed(SYNCER, [path, folder], { lines: 1 + random.below(2 * FILES), delayMs: random.below(20) });
    const store = await openStore({ path });
    const present = await countWhole(store, moment);
    expect(present, moment).toBeGreaterThanOrEqual(Math.max(told, Number(output.at(-1) ?? 0)));
    told = present;
    await store.close();
  }
  const store = await openStore({ path });
  const { agents } = await syncSessions(store, { environment: { env: {}, home: folder, platform: "linux" } });
  expect(agents.flatMap(({ failed }) => failed)).toEqual([]);
  expect(await countWhole(store, "the end")).toBe(SESSIONS);
  await store.close();
});
