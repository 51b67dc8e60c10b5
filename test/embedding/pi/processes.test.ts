import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BoughPiStorage } from "@bough/adapters/pi";
import { openStore } from "@bough/session-core";
import { branchTip, list } from "@earendil-works/pi-agent-core/harness/session";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

// Several processes with one session of pi, and processes that are killed.

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-pi-"));
  path = join(folder, "sessions.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(name: string, turns: number): ChildProcess {
  const script = join(import.meta.dirname, "writer.mjs");
  return spawn(process.execPath, [script, path, "s", name, String(turns)], { stdio: ["ignore", "pipe", "inherit"] });
}

async function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", resolve));
}

/** Counts of the session, each read by its own way. */
async function read() {
  const store = await openStore({ path });
  const storage = await BoughPiStorage.open(store, await store.openSession("s"));
  const entries = await storage.scanEntries({});
  const elements = await storage.readList<string>(list("app.turns"), { limit: 10_000 });
  const usage = await storage.scanUsage({});
  const stats = await storage.getStats();
  const tips = await storage.scanValues(branchTip(""));
  const violations: string[] = [];
  for await (const { message } of store.verify()) violations.push(message);
  await storage.close();
  await store.close();
  return { entries, elements, usage, stats, tips, violations };
}

describe("processes that write one session", () => {
  test("lose nothing: each entry, usage and element is there once, in the order of its number", async () => {
    const turns = 40;
    const names = ["main", "review"];
    expect(await Promise.all(names.map((name) => ended(start(name, turns))))).toEqual([0, 0]);
    const { entries, elements, usage, stats, tips, violations } = await read();
    const all = names.flatMap((name) => Array.from({ length: turns }, (_one, turn) => `${name}-${turn}`)).sort();
    expect(entries.map(({ id }) => id).sort()).toEqual(all);
    expect(elements.map((element) => element.value).sort()).toEqual(all);
    expect(usage.map(({ entryId }) => entryId ?? "").sort()).toEqual(all);
    expect(stats).toMatchObject({ messageCount: 2 * turns, usage: { totalTokens: 4 * turns } });
    expect(tips.map((tip) => tip.value)).toEqual(names.map((name) => `${name}-${turns - 1}`));
    const numbers = [...entries, ...usage, ...elements, ...tips].map(({ seq }) => seq);
    expect(new Set(numbers).size).toBe(numbers.length);
    const ofEntry = new Map(entries.map(({ id, seq }) => [id, seq]));
    for (const element of elements) expect(element.seq).toBeGreaterThan(ofEntry.get(element.value) ?? Number.POSITIVE_INFINITY);
    expect(violations).toEqual([]);
  });

  test("leave whole commits only when they are killed, and the next process goes on", async () => {
    for (const killAfter of [1, 7, 19]) {
      const child = start("main", 1000);
      const lines = createInterface({ input: child.stdout ?? process.stdin });
      let seen = 0;
      for await (const line of lines) if (line !== "open" && ++seen === killAfter) child.kill("SIGKILL");
      const { entries, elements, usage, stats, tips, violations } = await read();
      const ids = entries.map(({ id }) => id);
      expect(ids.length).toBeGreaterThanOrEqual(killAfter);
      expect(elements.map((element) => element.value)).toEqual(ids);
      expect(usage.map(({ entryId }) => entryId)).toEqual(ids);
      expect(stats.messageCount).toBe(ids.length);
      expect(tips.map((tip) => tip.value)).toEqual([ids.at(-1)]);
      expect(violations).toEqual([]);
      expect(await ended(start("again", 2))).toBe(0);
      expect((await read()).entries).toHaveLength(ids.length + 2);
      for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
    }
  });
});
