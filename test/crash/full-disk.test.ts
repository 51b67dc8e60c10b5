import { spawnSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openStore, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { collected, digestOf, largeOldStore, raw, readOld, storePath, versionOfNewStore } from "./old-store.js";

const MAINTAINER = fileURLToPath(new URL("maintainer.mjs", import.meta.url));

/** Runs it in a shell that lets no file grow past a size, as a full disk does not; gives what it said last. */
function runWithin(blocks: number, what: string, path: string): string {
  const script = `trap "" XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`;
  const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, MAINTAINER, what, path, "run"], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim().split("\n").at(-1) ?? "";
}

/** From no room for a page to more than enough. */
const SIZES = [0, 64, 1_000, 4_000, 5_000, 6_000, 10_000, 200_000];
const TYPED = /^error STORE_(FULL|UNAVAILABLE)$/;

describe.skipIf(process.platform === "win32")("where a file cannot grow", () => {
  test("an upgrade says so and leaves the old store as it was, or it is complete", () => {
    const source = largeOldStore();
    const before = digestOf(source);
    return expectUpgrades(source, before);
  });

  test("packing says so, loses nothing, and goes on where there is room", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const session = await store.createSession({ id: "s" });
    const texts = Array.from({ length: 600 }, (_, at) => `${at} ${Buffer.from(`${at}`.repeat(400)).toString("base64")}`);
    await session.write(texts.map((text, at) => ({ kind: "entry", entry: { ...userMessage(text), id: `u${at}` } })));
    await store.close();
    const outcomes = [];
    for (const blocks of SIZES) {
      const said = runWithin(blocks, "packOnce", path);
      if (said !== "done") expect(said).toMatch(TYPED);
      outcomes.push(said);
      const again = await openStore({ path, mode: "read-only" });
      const entries = await collected((await again.openSession("s")).entries());
      expect(entries.map((entry) => entry.type === "message" && entry.message.content)).toEqual(texts);
      expect(await collected(again.verify())).toEqual([]);
      await again.close();
    }
    expect([outcomes[0], outcomes.at(-1)]).toEqual([expect.stringMatching(TYPED), "done"]);
    expect(raw(path, (file) => file.prepare("SELECT count(*) FROM payload").pluck().get())).toBe(0);
  });
});

async function expectUpgrades(source: string, before: string): Promise<void> {
  const expected = await readOld(source);
  const upgraded = await versionOfNewStore();
  const path = storePath();
  const outcomes = [];
  for (const blocks of SIZES) {
    for (const side of ["", "-wal", "-shm"]) rmSync(`${path}${side}`, { force: true });
    copyFileSync(source, path);
    const said = runWithin(blocks, "upgrade", path);
    outcomes.push(said);
    const version = raw(path, (file) => file.pragma("user_version", { simple: true }));
    expect([blocks, version, said]).toEqual([
      blocks,
      said === "open" ? upgraded : 3,
      said === "open" ? said : expect.stringMatching(TYPED),
    ]);
    if (version === 3) expect(digestOf(path)).toBe(before);
    expect(await readOld(path)).toEqual(expected);
  }
  expect([outcomes[0], outcomes.at(-1)]).toEqual([expect.stringMatching(TYPED), "open"]);
}
