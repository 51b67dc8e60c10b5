import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import type { Session } from "../../src/session/session.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { entryNamed, grow, pathNames } from "../world/grow.js";
import { findingsOf, openedStore, storePath, tempFolder } from "../world/stores.js";

const SIDES = ["", "-wal", "-shm"];

interface Opened {
  readonly path: string;
  /** A backup that is larger than what of the store has left the journal. */
  readonly backup: string;
  readonly store: Store;
  readonly session: Session;
}

async function opened(): Promise<Opened> {
  const path = storePath();
  const store = await openedStore({ path });
  const { session } = await grow("u1 a1", { store });
  const backup = join(tempFolder(), "backup.db");
  await store.backup(backup);
  await session.append(entryNamed("u2"));
  return { path, backup, store, session };
}

/** Ways in which a file that is open can become another one. */
const WAYS: readonly (readonly [how: string, change: (opened: Opened) => void])[] = [
  ["deleted", ({ path }) => rmSync(path)],
  ["deleted with its side files", ({ path }) => SIDES.forEach((side) => void rmSync(`${path}${side}`))],
  ["renamed", ({ path }) => renameSync(path, `${path}.old`)],
  ["replaced by a rename", ({ path, backup }) => renameSync(backup, path)],
  ["cut to nothing", ({ path }) => truncateSync(path, 0)],
  ["overwritten by a text", ({ path }) => writeFileSync(path, "another file")],
  ["overwritten by a backup", ({ path, backup }) => copyFileSync(backup, path)],
  ["left without its journal", ({ path }) => rmSync(`${path}-wal`)],
];

describe.each(WAYS)("a store whose file is %s while it is open", (_how, change) => {
  test("acknowledges no write from then on, and says so until it is opened again", async () => {
    const it = await opened();
    change(it);
    const failure = { code: "STORE_UNAVAILABLE", path: it.path };
    for (let at = 0; at < 3; at += 1) await expect(it.session.append(userMessage("lost"))).rejects.toMatchObject(failure);
    const calls = [
      it.session.path(),
      it.session.context(),
      it.store.createSession(),
      it.store.listSessions(),
      it.store.search({ query: "lost" }),
    ];
    for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ status: "rejected", reason: failure });
  });

  test("tells readers within a second", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const it = await opened();
    const reader = await openedStore({ path: it.path, mode: "read-only" });
    change(it);
    vi.setSystemTime(Date.now() + 1000);
    await expect(reader.listSessions()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("a store that was put in the place of one that is open", () => {
  test("by copying, without the journal of the old one, is whole after the old one was closed", async () => {
    const { path, backup, store, session } = await opened();
    for (const side of ["-wal", "-shm"]) rmSync(`${path}${side}`);
    copyFileSync(backup, path);
    await expect(session.append(userMessage("lost"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
    const again = await openedStore({ path });
    expect(await pathNames(await again.openSession(session.id))).toBe("u1 a1");
    expect(await findingsOf(again)).toEqual([]);
  });

  test("keeps its own journal when the old one is closed", async () => {
    const { path, backup, store, session } = await opened();
    for (const side of SIDES) rmSync(`${path}${side}`);
    renameSync(backup, path);
    const placed = await openedStore({ path });
    const same = await placed.openSession(session.id);
    await same.append(entryNamed("u9"));
    await store.close();
    expect(existsSync(`${path}-wal`)).toBe(true);
    await same.append(entryNamed("a9"));
    expect(await pathNames(await (await openedStore({ path })).openSession(session.id))).toBe("u1 a1 u9 a9");
  });
});

describe("a store that nobody replaced", () => {
  test("goes on after a checkpoint, a deletion and a backup of its own and of another handle", async () => {
    const { path, session, store } = await opened();
    const other = await openedStore({ path });
    const large = await other.createSession();
    for (let at = 0; at < 30; at += 1) await large.append(userMessage("x".repeat(200_000)));
    await other.deleteSession(large.id);
    await other.backup(join(tempFolder(), "b.db"));
    await other.close();
    await session.append(entryNamed("a2"));
    expect(await pathNames(session)).toBe("u1 a1 u2 a2");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("goes on where the working directory changes under a relative path", async () => {
    const start = process.cwd();
    onTestFinished(() => process.chdir(start));
    const folder = tempFolder();
    mkdirSync(join(folder, "below"));
    process.chdir(folder);
    const store = await openStore({ path: "relative.db" });
    const { session } = await grow("u1", { store });
    process.chdir(join(folder, "below"));
    await session.append(entryNamed("a1"));
    await store.close();
    expect(await pathNames(await (await openedStore({ path: join(folder, "relative.db") })).openSession(session.id))).toBe("u1 a1");
  });
});

test("a store that is open by a link acknowledges no write after its journal was deleted", async () => {
  const path = storePath();
  const link = join(tempFolder(), "link.db");
  symlinkSync(path, link);
  await (await openStore({ path })).close();
  const store = await openedStore({ path: link });
  const { session } = await grow("u1 a1", { store });
  rmSync(`${path}-wal`);
  await expect(session.append(userMessage("lost"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", path: link });
});
