import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Entry, openStore, type Session, type Store } from "@bough/session-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

const WRITER = fileURLToPath(new URL("writer.mjs", import.meta.url));
const PROCESSES = Array.from({ length: 8 }, (_, at) => `w${at}`);
const ENTRIES = 100;

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-concurrency-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "store.db");
}

/** The processes, for all tests: to start one takes as long as a hundred appends. Each opens and closes the store of the test. */
const writers = PROCESSES.map((name) => {
  const child = spawn(process.execPath, [WRITER, name], { stdio: ["pipe", "pipe", "inherit"] });
  return { child, answers: createInterface({ input: child.stdout })[Symbol.asyncIterator](), ended: once(child, "exit") };
});
afterAll(async () => {
  for (const { child } of writers) child.kill();
  await Promise.all(writers.map(({ ended }) => ended));
});

/** All of them at once; gives the errors that any of them saw. */
async function allAtOnce(what: string, path: string, sessionId: string, count = ENTRIES): Promise<readonly string[]> {
  for (const { child } of writers) child.stdin.write(`${JSON.stringify({ what, path, sessionId, count })}\n`);
  const answers = await Promise.all(writers.map(({ answers }) => answers.next()));
  return answers.flatMap(({ done, value }) => (done === true ? ["the process has ended"] : (JSON.parse(value) as string[])));
}

async function opened(path: string): Promise<Store> {
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  return store;
}

async function sessionOf(path: string): Promise<string> {
  const store = await openStore({ path });
  const { id } = await store.createSession();
  await store.close();
  return id;
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The entries of one writer, in order of arrival. */
const writtenBy = (entries: readonly Entry[], name: string) => entries.filter(({ id }) => id.startsWith(`${name}-`)).map(({ id }) => id);

async function expectEveryEntry(session: Session): Promise<readonly Entry[]> {
  const entries = await collected(session.entries());
  expect(entries).toHaveLength(PROCESSES.length * ENTRIES);
  for (const name of PROCESSES) {
    expect(writtenBy(entries, name)).toEqual(Array.from({ length: ENTRIES }, (_, at) => `${name}-${at}`));
  }
  return entries;
}

describe("eight processes", () => {
  test("that follow each other in one session lose no entry and see no busy store: one long path", async () => {
    const path = storePath();
    const id = await sessionOf(path);
    expect(await allAtOnce("follow", path, id)).toEqual([]);
    const store = await opened(path);
    const session = await store.openSession(id);
    await expectEveryEntry(session);
    expect(await session.path()).toHaveLength(PROCESSES.length * ENTRIES);
    expect(await collected(store.verify())).toEqual([]);
  });

  test("that branch beside each other in one session lose no entry: a path for each", async () => {
    const path = storePath();
    const id = await sessionOf(path);
    expect(await allAtOnce("branch", path, id)).toEqual([]);
    const store = await opened(path);
    const session = await store.openSession(id);
    const entries = await expectEveryEntry(session);
    for (const { parentId, id: child } of entries) {
      const [name, at] = child.split("-");
      expect(at === "0" || parentId === `${name}-${Number(at) - 1}`).toBe(true);
    }
    expect(await collected(store.verify())).toEqual([]);
  });

  test("each on a leaf of its own grow one tree without a conflict", async () => {
    const path = storePath();
    const id = await sessionOf(path);
    expect(await allAtOnce("own-leaf", path, id)).toEqual([]);
    const store = await opened(path);
    const session = await store.openSession(id);
    await expectEveryEntry(session);
    for (const { name, entryId } of await session.leaves()) {
      expect(entryId).toBe(name === "main" ? null : `${name}-${ENTRIES - 1}`);
      expect(await session.path(entryId)).toHaveLength(name === "main" ? 0 : ENTRIES);
    }
    expect(await collected(store.verify())).toEqual([]);
  });

  test("each with a session of its own in one file lose nothing", async () => {
    const path = storePath();
    const id = await sessionOf(path);
    expect(await allAtOnce("own-session", path, id)).toEqual([]);
    const store = await opened(path);
    const { items } = await store.listSessions();
    expect(items.map(({ entryCount }) => entryCount)).toEqual(PROCESSES.map(() => ENTRIES));
    expect(await collected(store.verify())).toEqual([]);
  });

  test("that append, search, pack and delete at once find all that they appended, and leave nothing of what they deleted", async () => {
    const path = storePath();
    const id = await sessionOf(path);
    expect(await allAtOnce("upkeep", path, id)).toEqual([]);
    const store = await opened(path);
    for (const name of PROCESSES) expect((await store.search({ query: name })).total).toBe(ENTRIES);
    expect((await store.search({ query: "nothing" })).total).toBe(0);
    expect(await store.catchUpSearch()).toBe(0);
    for (const name of PROCESSES) expect((await store.search({ query: name })).total).toBe(ENTRIES);
    await store.pack();
    expect(await collected(store.verify())).toEqual([]);
  });

  test("that create the same new store at once all find one", async () => {
    const path = join(storePath(), "..", "new", "deeper", "store.db");
    expect(await allAtOnce("create", path, "", 1)).toEqual([]);
    const store = await opened(path);
    expect((await store.listSessions()).items.map(({ id }) => id).sort()).toEqual(PROCESSES.map((name) => `session-${name}`));
    expect(await collected(store.verify())).toEqual([]);
  });

  test("that open or create the same sessions get one of each, with its first entry once", async () => {
    const path = storePath();
    const sessions = 25;
    expect(await allAtOnce("open-or-create", path, "", sessions)).toEqual([]);
    const store = await opened(path);
    const { items } = await store.listSessions();
    expect(items.map(({ id }) => id).sort()).toEqual(Array.from({ length: sessions }, (_, at) => `thread-${at}`).sort());
    for (const { id, title } of items) {
      expect(PROCESSES).toContain(title);
      const session = await store.openSession(id);
      expect((await session.tree.children(null)).map((row) => row.id)).toEqual(["first"]);
      expect((await session.tree.children("first")).map((row) => row.id).sort()).toEqual(PROCESSES);
    }
    expect(await collected(store.verify())).toEqual([]);
  });

  test("that count in one value lose no count", async () => {
    const path = storePath();
    const id = await sessionOf(path);
    const counts = 50;
    expect(await allAtOnce("count", path, id, counts)).toEqual([]);
    const session = await (await opened(path)).openSession(id);
    expect(await session.values.get("count")).toBe(PROCESSES.length * counts);
  });
});
