import { describe, expect, test } from "vitest";
import { userMessage } from "../../../src/entry/builders.js";
import type { Write } from "../../../src/port/writes.js";
import { entryNamed, grow, pathNames, treeNames } from "../../world/grow.js";
import { findingsOf, lastingPlace, openedStore } from "../../world/stores.js";

const FIRST: readonly Write[] = [
  { kind: "entry", entry: entryNamed("u1") },
  { kind: "entry", entry: entryNamed("a1") },
  { kind: "label", entryId: "u1", label: "start" },
  { kind: "value", key: "k", value: 1 },
];

describe("opening a session or creating it", () => {
  test("creates it with the given properties where there is none", async () => {
    const store = await openedStore();
    const session = await store.openOrCreateSession("t1", { title: "Thread", cwd: "/p", metadata: { owner: "u7" } });
    expect(session.id).toBe("t1");
    expect(await session.record()).toMatchObject({ title: "Thread", cwd: "/p", metadata: { owner: "u7" }, entryCount: 0 });
    await session.append(entryNamed("u1"));
    expect(await pathNames(session)).toBe("u1");
  });

  test("opens one that exists as it is, and ignores other properties and the first writes", async () => {
    const { store } = await grow("u1 a1", { session: { id: "t1", title: "First", metadata: { owner: "u7" } } });
    const session = await store.openOrCreateSession(
      "t1",
      { title: "Second", metadata: { owner: "u8" }, kind: "subagent" },
      { writes: FIRST },
    );
    expect(await session.record()).toMatchObject({ title: "First", kind: "conversation", metadata: { owner: "u7" }, entryCount: 2 });
    expect(await session.values.list()).toEqual([]);
    expect(session.leafId).toBe("a1");
  });

  test("opens or creates the leaf that is named", async () => {
    const { store } = await grow("u1 a1", { session: { id: "t1" } });
    const worker = await store.openOrCreateSession("t1", {}, { leaf: "worker" });
    expect([worker.leafName, worker.leafId]).toEqual(["worker", "a1"]);
    await worker.moveLeaf("u1");
    expect((await store.openOrCreateSession("t1", {}, { leaf: "worker" })).leafId).toBe("u1");
    const other = await store.openOrCreateSession("t2", {}, { leaf: "worker", writes: FIRST });
    expect(await other.leaves()).toEqual([
      { name: "main", entryId: "a1" },
      { name: "worker", entryId: "a1" },
    ]);
  });

  test("of fifty calls at once by two handles creates one session, with its first writes once", async () => {
    const place = lastingPlace();
    const stores = [await openedStore(place), await openedStore(place)];
    const sessions = await Promise.all(
      Array.from({ length: 50 }, (_, at) => stores[at % 2]?.openOrCreateSession("t1", { title: `by ${at}` }, { writes: FIRST })),
    );
    const titles = new Set(await Promise.all(sessions.map(async (session) => (await session?.record())?.title)));
    expect(titles.size).toBe(1);
    for (const session of sessions) expect(session?.leafId).toBe("a1");
    expect((await stores[0]?.listSessions({ empty: true }))?.items).toHaveLength(1);
    expect(await findingsOf(await openedStore(place))).toEqual([]);
  });

  test("refuses an id that no session can have, and bad properties, and creates nothing", async () => {
    const store = await openedStore();
    await expect(store.openOrCreateSession("a b")).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "session id" });
    await expect(store.openOrCreateSession("t1", { createdAtMs: 0.5 })).rejects.toMatchObject({ code: "INVALID_ENTRY" });
    await expect(store.openOrCreateSession("t1", {}, { leaf: "a\nb" })).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "leaf" });
    expect((await store.listSessions({ empty: true })).items).toEqual([]);
  });

  test("in a store that is read-only opens what exists, and refuses to create", async () => {
    const place = lastingPlace();
    const writer = await openedStore(place);
    await grow("u1", { store: writer, session: { id: "t1" } });
    const reader = await openedStore({ ...place, mode: "read-only" });
    expect((await reader.openOrCreateSession("t1")).leafId).toBe("u1");
    await expect(reader.openOrCreateSession("t2")).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
  });
});

describe("creating a session with its first writes", () => {
  test("has them from the start, at the leaf main, without a leaf move", async () => {
    const store = await openedStore();
    const session = await store.createSession({ id: "t1" }, { writes: FIRST });
    expect(await treeNames(session)).toBe(">u1 u1>a1");
    expect(session.leafId).toBe("a1");
    expect(await session.leafMoves()).toEqual([]);
    expect(await session.labels.list()).toMatchObject([{ entryId: "u1", label: "start" }]);
    expect(await session.values.get("k")).toBe(1);
    expect(await session.record()).toMatchObject({ entryCount: 2, firstText: "u1" });
    expect(await findingsOf(store)).toEqual([]);
  });

  test("creates no session where one of them fails", async () => {
    const store = await openedStore();
    const failing = store.createSession({ id: "t1" }, { writes: [...FIRST, { kind: "label", entryId: "nowhere", label: "x" }] });
    await expect(failing).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    const invalid = store.openOrCreateSession("t1", {}, { writes: [{ kind: "entry", entry: { type: "custom" } as never }] });
    await expect(invalid).rejects.toMatchObject({ code: "INVALID_ENTRY" });
    expect(await store.findSession("t1")).toBeUndefined();
    expect((await store.search({ query: "u1" })).total).toBe(0);
  });

  test("writes them as they were at the call", async () => {
    const store = await openedStore();
    const metadata = { owner: "u7" };
    const writes = [{ kind: "entry" as const, entry: { ...userMessage("early"), id: "u1" } }];
    const creating = store.createSession({ id: "t1", metadata }, { writes });
    metadata.owner = "u8";
    writes[0] = { kind: "entry", entry: { ...userMessage("late"), id: "u2" } };
    const session = await creating;
    expect(await treeNames(session)).toBe(">u1");
    expect((await session.record()).metadata).toEqual({ owner: "u7" });
  });
});
