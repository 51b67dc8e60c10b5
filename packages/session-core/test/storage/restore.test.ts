import { copyFileSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { restoreStore } from "../../src/store/restore-store.js";
import { entryNamed, grow, pathNames } from "../world/grow.js";
import { findingsOf, openedStore, raw, storePath, tempFolder } from "../world/stores.js";

/** A closed store of three entries, and a backup of its first two. */
async function saved() {
  const path = storePath();
  const store = await openStore({ path });
  const { session } = await grow("u1 a1", { store });
  const backup = join(tempFolder(), "backup.db");
  await store.backup(backup);
  await session.append(entryNamed("u2"));
  await store.close();
  return { path, backup, id: session.id };
}

async function namesIn(path: string, id: string): Promise<string> {
  const store = await openStore({ path });
  try {
    expect(await findingsOf(store)).toEqual([]);
    return await pathNames(await store.openSession(id));
  } finally {
    await store.close();
  }
}

describe("restoring a backup", () => {
  test("puts it in the place of the store, which is kept whole beside it, for the user alone", async () => {
    const { path, backup, id } = await saved();
    const before = readFileSync(backup);
    const { keptAt } = await restoreStore({ backup, path });
    expect(await namesIn(path, id)).toBe("u1 a1");
    expect(await namesIn(keptAt ?? "", id)).toBe("u1 a1 u2");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(backup).equals(before)).toBe(true);
    expect(readdirSync(dirname(backup))).toEqual(["backup.db"]);
    expect(readdirSync(dirname(path)).sort()).toEqual(["store.db", basename(keptAt ?? "")]);
  });

  test("by a link replaces the store to which it leads, and keeps the link", async () => {
    const { path, backup, id } = await saved();
    const link = join(tempFolder(), "link.db");
    symlinkSync(path, link);
    const { keptAt } = await restoreStore({ backup, path: link });
    expect(await namesIn(path, id)).toBe("u1 a1");
    expect(readlinkSync(link)).toBe(path);
    expect(dirname(keptAt ?? "")).toBe(dirname(path));
    expect(await namesIn(keptAt ?? "", id)).toBe("u1 a1 u2");
  });

  test("where there is no store makes one", async () => {
    const { backup, id } = await saved();
    const path = storePath();
    expect(await restoreStore({ backup, path })).toEqual({ path, keptAt: null });
    expect(await namesIn(path, id)).toBe("u1 a1");
  });

  test("takes the journal of the replaced store away with it: what is restored is not mixed with it", async () => {
    const { path, backup, id } = await saved();
    // The store as a crash leaves it, its newest entries only in the journal.
    const store = await openStore({ path });
    await (await store.openSession(id)).append(entryNamed("a2"));
    const crashed = storePath();
    for (const side of ["", "-wal"]) copyFileSync(`${path}${side}`, `${crashed}${side}`);
    await store.close();
    const { keptAt } = await restoreStore({ backup, path: crashed });
    expect(await namesIn(crashed, id)).toBe("u1 a1");
    expect(await namesIn(keptAt ?? "", id)).toBe("u1 a1 u2 a2");
  });

  test("replaces a store that is damaged, and keeps that too", async () => {
    const { path, backup, id } = await saved();
    const damaged = readFileSync(path).fill(0xff, 4096, 20_000);
    writeFileSync(path, damaged);
    writeFileSync(`${path}-wal`, "not a journal");
    const { keptAt } = await restoreStore({ backup, path });
    expect(await namesIn(path, id)).toBe("u1 a1");
    expect(
      readFileSync(keptAt ?? "")
        .subarray(100)
        .equals(damaged.subarray(100)),
    ).toBe(true);
  });

  test("is refused while the store is open, and changes nothing for whoever has it open", async () => {
    const { path, backup, id } = await saved();
    const session = await (await openedStore({ path })).openSession(id);
    await expect(restoreStore({ backup, path })).rejects.toMatchObject({ code: "STORE_IN_USE", path });
    await session.append(entryNamed("a2"));
    expect(await pathNames(session)).toBe("u1 a1 u2 a2");
    expect(readdirSync(dirname(path)).sort()).toEqual(["store.db", "store.db-shm", "store.db-wal"]);
  });

  test.each<[string, string, (backup: string) => void]>([
    ["that is empty", "STORE_NOT_FOUND", (backup) => truncateSync(backup, 0)],
    ["that is no store", "FOREIGN_FILE", (backup) => writeFileSync(backup, "a text")],
    ["that is cut short", "BACKUP_DAMAGED", (backup) => truncateSync(backup, 40_960)],
    ["in which something does not hold", "BACKUP_DAMAGED", (backup) => raw(backup, (file) => file.exec("UPDATE entry SET depth = 7"))],
  ])("of a file %s is refused, and the store stays as it is", async (_what, code, spoil) => {
    const { path, backup, id } = await saved();
    spoil(backup);
    await expect(restoreStore({ backup, path })).rejects.toMatchObject({ code });
    expect(await namesIn(path, id)).toBe("u1 a1 u2");
    expect(readdirSync(dirname(path))).toEqual(["store.db"]);
  });

  test("never takes the place of another program's file", async () => {
    const { backup } = await saved();
    const path = join(tempFolder(), "mine.txt");
    writeFileSync(path, "mine");
    await expect(restoreStore({ backup, path })).rejects.toMatchObject({ code: "FOREIGN_FILE" });
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  test("of the store itself is refused", async () => {
    const { path } = await saved();
    await expect(restoreStore({ backup: path, path })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
