import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import { entryNamed, grow, pathNames } from "../world/grow.js";
import { openedStore, storePath } from "../world/stores.js";

interface Lock {
  readonly release: () => void;
}

/** Takes the write lock as another process would. */
function locked(path: string): Lock {
  const other = new Database(path);
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  return { release: () => other.exec("COMMIT") };
}

/** Resolves after so many turns of the event loop: it comes to none while something blocks it. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function opened() {
  const path = storePath();
  const store = await openedStore({ path });
  const { session } = await grow("u1", { store });
  return { path, store, session };
}

describe("while another process holds the write lock", () => {
  test("an append waits, and the event loop goes on until the lock is free", async () => {
    const { path, session } = await opened();
    const lock = locked(path);
    const events: string[] = [];
    const append = session.append(entryNamed("a1")).then(() => events.push("written"));
    await turns(20);
    events.push("released");
    lock.release();
    await append;
    expect(events).toEqual(["released", "written"]);
  });

  test.each<[string, (it: Awaited<ReturnType<typeof opened>>) => Promise<unknown>]>([
    ["a session is created", ({ store }) => store.createSession()],
    ["a session is renamed", ({ store, session }) => store.renameSession(session.id, "x")],
    ["a session is archived", ({ store, session }) => store.archiveSession(session.id)],
    ["a session is deleted", ({ store, session }) => store.deleteSession(session.id)],
    ["a session is forked", ({ store, session }) => store.forkSession(session.id)],
    ["a leaf is made", ({ store, session }) => store.openSession(session.id, { leaf: "new" })],
    ["a leaf is moved", ({ session }) => session.moveLeaf(null)],
    ["counts are saved", ({ session }) => session.tokenCounts.save("c", new Map([["u1", 1]]))],
    ["the index is brought up to date", ({ store }) => store.catchUpSearch()],
  ])("nothing blocks where %s", async (_what, ask) => {
    const it = await opened();
    const lock = locked(it.path);
    const events: string[] = [];
    const done = ask(it).then(() => events.push("done"));
    await turns(5);
    events.push("released");
    lock.release();
    await done;
    expect(events).toEqual(["released", "done"]);
  });

  test("a search answers completely at once, and so does every read", async () => {
    const { path, store, session } = await opened();
    await session.append({ ...userMessage("needle"), id: "n1" });
    locked(path);
    expect((await store.search({ query: "needle" })).total).toBe(1);
    expect(await pathNames(session)).toBe("u1 n1");
    expect(await session.refresh()).toBe("n1");
  });

  test("a store can be opened, which waits for nothing", async () => {
    const { path, session } = await opened();
    locked(path);
    const again = await (await openedStore({ path, busyTimeoutMs: 0 })).openSession(session.id);
    expect(await pathNames(again)).toBe("u1");
  });

  test("writes of several handles are done in the order in which they were asked for", async () => {
    const { path, store, session } = await opened();
    const other = await store.openSession(session.id, { leaf: "other" });
    const lock = locked(path);
    const done: string[] = [];
    const writes = ["a", "b", "c", "d", "e", "f"].map((id, at) =>
      (at % 2 === 0 ? session : other).append({ ...userMessage(id), id }).then(() => done.push(id)),
    );
    lock.release();
    await Promise.all(writes);
    expect(done.join("")).toBe("abcdef");
  });

  test("what waits is written as it was when it was handed in", async () => {
    const { path, store, session } = await opened();
    const lock = locked(path);
    const message = { role: "user" as const, content: "as said" };
    const metadata = { by: "me" };
    const append = session.append({ type: "message", message, id: "e1" });
    const created = store.createSession({ id: "s2", metadata });
    message.content = "changed";
    metadata.by = "changed";
    lock.release();
    await Promise.all([append, created]);
    expect(await session.entry("e1")).toMatchObject({ message: { content: "as said" } });
    expect(await store.findSession("s2")).toMatchObject({ metadata: { by: "me" } });
  });

  test("closing waits for the writes that wait", async () => {
    const { path, store, session } = await opened();
    const lock = locked(path);
    const writes = [session.append(entryNamed("a1")), store.renameSession(session.id, "later")];
    const closed = store.close();
    lock.release();
    await Promise.all([...writes, closed]);
    const again = await openedStore({ path });
    expect(await again.findSession(session.id)).toMatchObject({ title: "later", entryCount: 2 });
  });

  test("what the file is locked for longer than the busy timeout fails typed, also what waited behind it", async () => {
    const path = storePath();
    const { session } = await grow("u1", { store: await openedStore({ path, busyTimeoutMs: 30 }) });
    const lock = locked(path);
    const outcomes = await Promise.allSettled(["a1", "u2", "a2"].map((id) => session.append(entryNamed(id))));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: "STORE_BUSY", waitedMs: 30 } });
    lock.release();
    await session.append(entryNamed("a1"));
    expect(await pathNames(session)).toBe("u1 a1");
  });
});

describe("the search index behind appends", () => {
  test("takes large entries a few at a time, and leaves the event loop in between", async () => {
    const { store, session } = await opened();
    const large = 60;
    for (let at = 0; at < large; at += 1) await session.append(userMessage(`needle ${"word ".repeat(20_000)}`));
    const left = [await store.storage.catchUpSearch(0)];
    while ((left.at(-1) ?? 0) > 0) left.push(await store.storage.catchUpSearch(1000));
    const steps = left.slice(1).map((now, at) => (left[at] ?? 0) - now);
    // One of 100 KB passes the size of a batch four times, so a batch holds at most eight.
    expect(Math.max(...steps)).toBeLessThanOrEqual(8);
    expect((await store.search({ query: "needle" })).total).toBe(large);
  });
});
