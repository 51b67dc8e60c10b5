import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { entryNamed, grow, pathNames } from "../world/grow.js";
import { findingsOf, openedStore, storePath, tempFolder } from "../world/stores.js";

/** A store of more pages than are copied between two pauses. */
async function largeStore(): Promise<Store> {
  const store = await openStore({ path: storePath(), durability: "normal" });
  onTestFinished(() => store.close());
  const { session } = await grow("", { store });
  // No message: a search would index it, which takes most of the time of these tests.
  await session.append({ type: "custom", customType: "large", data: "x".repeat(10_000_000) });
  return store;
}

describe("a backup", () => {
  // What others may read does not depend on the mask that the process happens to have.
  beforeEach(() => {
    const mask = process.umask(0o022);
    onTestFinished(() => void process.umask(mask));
  });

  test("is the whole store, in which all holds, and goes on apart", async () => {
    const store = await openedStore({ path: storePath() });
    const { session } = await grow("u1 a1 @u1 a2 c1", { store });
    await session.labels.set("a1", "left");
    const path = join(tempFolder(), "backup.db");
    const progress: number[] = [];
    await store.backup(path, (done, total) => progress.push(done / total));
    await session.append(entryNamed("u9"));
    const copy = await openedStore({ path });
    const again = await copy.openSession(session.id);
    expect(await pathNames(again)).toBe("u1 a2 c1");
    expect(await again.labels.list()).toMatchObject([{ entryId: "a1", label: "left" }]);
    expect(await findingsOf(copy)).toEqual([]);
    expect(progress.at(-1)).toBe(1);
  });

  test("is its user's alone from its first byte, and so is every file beside it", async () => {
    const store = await largeStore();
    const folder = tempFolder();
    const modes = new Set<string>();
    const look = () => readdirSync(folder).forEach((name) => void modes.add((statSync(join(folder, name)).mode & 0o777).toString(8)));
    await store.backup(join(folder, "backup.db"), look);
    look();
    expect([...modes]).toEqual(["600"]);
    expect(readdirSync(folder)).toEqual(["backup.db"]);
  });

  test("that is aborted throws the reason, and leaves nothing", async () => {
    const store = await largeStore();
    const folder = tempFolder();
    const controller = new AbortController();
    const reason = new Error("enough");
    const backup = store.backup(join(folder, "backup.db"), () => controller.abort(reason), controller.signal);
    await expect(backup).rejects.toBe(reason);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of a store that is closed meanwhile fails with a typed error and leaves no file", async () => {
    const store = await largeStore();
    const folder = tempFolder();
    const backup = expect(store.backup(join(folder, "backup.db"))).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await store.close();
    await backup;
    expect(readdirSync(folder)).toEqual([]);
  });

  test("never overwrites what is there", async () => {
    const store = await openedStore();
    const path = join(tempFolder(), "backup.db");
    writeFileSync(path, "mine");
    await expect(store.backup(path)).rejects.toMatchObject({ code: "TARGET_EXISTS", path });
  });

  test("never overwrites what appears while it is made", async () => {
    const store = await largeStore();
    const path = join(tempFolder(), "backup.db");
    const appear = () => existsSync(path) || writeFileSync(path, "mine");
    await expect(store.backup(path, appear)).rejects.toMatchObject({ code: "TARGET_EXISTS", path });
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  test("to a name that another backup takes first says so", async () => {
    const store = await openedStore({ path: storePath() });
    const path = join(tempFolder(), "backup.db");
    const outcomes = await Promise.allSettled([store.backup(path), store.backup(path)]);
    expect(outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "made")).sort()).toEqual([
      "TARGET_EXISTS",
      "made",
    ]);
  });

  test("into a folder that is missing is refused, and nothing is left behind", async () => {
    const store = await openedStore();
    const folder = tempFolder();
    await expect(store.backup(join(folder, "none", "backup.db"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(readdirSync(folder)).toEqual([]);
  });
});
