import { openStore, type Store, userMessage, type Write } from "@bough/session-core";
import { type SessionStorage, storageOf } from "@bough/session-core/engine";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Place } from "../../../.ci/test-engine.js";

/** A storage under test: `open` gives an empty one; `reopen`, where sessions outlive a process, the last one again. */
export interface StorageUnderTest {
  readonly open: () => Promise<Store>;
  readonly reopen?: (() => Promise<Store>) | undefined;
}

type LeafView = Awaited<ReturnType<SessionStorage["leaf"]>>;

const entry = (id: string): Write => ({ kind: "entry", entry: { ...userMessage(`says ${id}`), id } });
const counts = (given: Readonly<Record<string, number>>) => new Map(Object.entries(given));
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).join(" ");

/** What every storage must do, told on the port alone. */
export function storageContract(name: string, { open, reopen }: StorageUnderTest): void {
  describe(`a storage (${name})`, () => {
    let storage: SessionStorage;
    let id: string;

    beforeEach(async () => {
      storage = storageOf(await open());
      ({ id } = await storage.createSession({ title: "Parser", cwd: "/project" }));
    });

    async function commit(writes: readonly Write[], seen?: LeafView, onConflict: "error" | "follow" | "branch" = "error") {
      const view = seen ?? (await storage.leaf(id, "main"));
      return storage.commit({ sessionId: id, leafName: "main", seen: view, onConflict, writes });
    }

    test("gives back the session it made, and undefined for one it does not have", async () => {
      expect(await storage.findSession(id)).toMatchObject({ id, title: "Parser", cwd: "/project", entryCount: 0, kind: "conversation" });
      expect(await storage.findSession("nobody")).toBeUndefined();
      await expect(storage.createSession({ id })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    });

    test("appends under the leaf it is shown, and gives the leaf after it", async () => {
      const first = await commit([entry("a"), entry("b")]);
      const second = await commit([entry("c")], first.leaf);
      expect(first.entries.map((one) => one.id)).toEqual(["a", "b"]);
      expect(second.leaf.entryId).toBe("c");
      expect(await storage.entry(id, "c")).toMatchObject({ parentId: "b", seq: second.entries[0]?.seq });
    });

    test("writes a batch whole or not at all", async () => {
      const { leaf } = await commit([entry("a")]);
      await expect(commit([entry("b"), { kind: "moveLeaf", to: "nowhere" }], leaf)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
      expect(ids(await storage.outline(id, { limit: 10 }))).toBe("a");
      expect((await storage.leaf(id, "main")).entryId).toBe("a");
    });

    test("takes an equal entry again as known, and another one of its id as a conflict", async () => {
      const { leaf, entries } = await commit([entry("a")]);
      expect((await commit([entry("a")], leaf)).entries).toEqual(entries);
      await expect(commit([{ kind: "entry", entry: { ...userMessage("other"), id: "a" } }], leaf)).rejects.toMatchObject({
        code: "ENTRY_CONFLICT",
      });
    });

    test("refuses an append where the leaf was moved, or follows, or branches", async () => {
      const { leaf: stale } = await commit([entry("a")]);
      await commit([entry("b")], stale);
      await expect(commit([entry("c")], stale)).rejects.toMatchObject({ code: "LEAF_MOVED", expected: "a", actual: "b" });
      expect((await commit([entry("d")], stale, "follow")).leaf.entryId).toBe("d");
      expect((await commit([entry("e")], stale, "branch")).leaf.entryId).toBe("e");
      expect(ids(await storage.children(id, "a"))).toBe("b e");
      expect(ids(await storage.children(id, "b"))).toBe("d");
    });

    test("judges each entry before it writes any", async () => {
      await expect(commit([entry("a"), { kind: "entry", entry: { type: "nothing" } as never }])).rejects.toMatchObject({
        code: "INVALID_ENTRY",
      });
      await expect(commit([{ kind: "value", key: "k", value: 1n }])).rejects.toMatchObject({ code: "UNSERIALIZABLE_VALUE" });
      expect((await storage.findSession(id))?.entryCount).toBe(0);
    });

    test("moves a leaf at once, and takes moves back and forth", async () => {
      await commit([entry("a"), entry("b"), { kind: "moveLeaf", to: "a" }]);
      expect((await storage.leaf(id, "main")).entryId).toBe("a");
      expect((await storage.undoMove(id, "main"))?.entryId).toBe("b");
      expect((await storage.redoMove(id, "main"))?.entryId).toBe("a");
      expect(await storage.redoMove(id, "main")).toBeUndefined();
      expect(await storage.leafMoves(id, "main", 10)).toMatchObject([{ from: "b", to: "a", state: "done" }]);
    });

    test("makes a named leaf where one is asked for with a place, and only there", async () => {
      const { leaf } = await commit([entry("a")]);
      await expect(storage.leaf(id, "other")).rejects.toMatchObject({ code: "LEAF_NOT_FOUND" });
      await storage.leaf(id, "other", leaf);
      expect(await storage.leaves(id)).toEqual([
        { name: "main", entryId: "a" },
        { name: "other", entryId: "a" },
      ]);
      await storage.deleteLeaf(id, "other");
      await expect(storage.deleteLeaf(id, "main")).rejects.toMatchObject({ code: "MAIN_LEAF" });
    });

    test("reads paths, children, branch points, tips, ancestors and what came since", async () => {
      await commit([entry("a"), entry("b"), entry("c"), { kind: "moveLeaf", to: "a" }, entry("d")]);
      expect(ids((await storage.scanPath(id, { leafId: "c" })).items)).toBe("c b a");
      expect(ids((await storage.scanPath(id, { leafId: "c", order: "down", stopAt: "a" })).items)).toBe("b c");
      expect(ids(await storage.entriesAt(id, await storage.pathSeqs(id, "c")))).toBe("a b c");
      expect(ids(await storage.children(id, null))).toBe("a");
      expect(ids(await storage.branchPoints(id))).toBe("a");
      expect(ids(await storage.tips(id))).toBe("c d");
      expect(await storage.commonAncestor(id, "c", "d")).toBe("a");
      expect(ids(await storage.listEntries(id, { afterSeq: (await storage.entry(id, "b")).seq }))).toBe("c d");
      expect(await storage.entriesStartingWith(id, "c", 10)).toEqual(["c"]);
    });

    test("gives the path of a context from what it keeps on, and only what is new to whoever holds the rest", async () => {
      const compaction: Write = { kind: "entry", entry: { type: "compaction", summary: "s", firstKeptEntryId: "b", id: "k" } };
      await commit([entry("a"), entry("b"), compaction]);
      const whole = await storage.contextPath(id, { leafName: "main" }, null);
      expect([ids(whole.entries), whole.continues]).toEqual(["b k", false]);
      await commit([entry("c")]);
      const news = await storage.contextPath(id, { leafName: "main" }, whole.endSeq);
      expect([ids(news.entries), news.continues]).toEqual(["c", true]);
    });

    test("keeps labels and values beside the tree", async () => {
      await commit([entry("a"), { kind: "label", entryId: "a", label: "Start" }, { kind: "value", key: "k", value: { on: true } }]);
      expect(await storage.labels(id, "start")).toMatchObject([{ entryId: "a", label: "Start" }]);
      expect(await storage.value(id, "k")).toMatchObject({ key: "k", value: { on: true } });
      await commit([
        { kind: "label", entryId: "a", label: null },
        { kind: "value", key: "k", value: undefined },
      ]);
      expect([await storage.labels(id), await storage.values(id, {})]).toEqual([[], []]);
    });

    test("writes nothing where the leaf is not as it was seen, if only then, whatever the batch would write", async () => {
      const { leaf: stale } = await commit([entry("a"), entry("b")]);
      await commit([{ kind: "moveLeaf", to: "a" }], stale);
      const batch = { sessionId: id, leafName: "main", seen: stale, onlyIfSeen: true };
      const writes: Write[] = [{ kind: "moveLeaf", to: null }, entry("c")];
      for (const onConflict of ["error", "follow", "branch"] as const) {
        const late = storage.commit({ ...batch, onConflict, writes });
        await expect(late).rejects.toMatchObject({ code: "LEAF_MOVED", expected: "b", actual: "a" });
      }
      expect(ids(await storage.outline(id, { limit: 10 }))).toBe("a b");
      expect((await storage.leaf(id, "main")).entryId).toBe("a");
    });

    test("keeps token counts by counter, the last one of an entry, and leaves out what is no entry", async () => {
      const { leaf } = await commit([entry("a"), entry("b")]);
      const before = await storage.findSession(id);
      await storage.saveTokenCounts(id, "one", counts({ a: 1, b: 0, nowhere: 3 }));
      await storage.saveTokenCounts(id, "one", counts({ a: 7 }));
      await storage.saveTokenCounts(id, "two", counts({ a: 2 }));
      expect(await storage.tokenCounts(id, "one", ["b", "a", "nowhere"])).toEqual(counts({ a: 7, b: 0 }));
      expect(await storage.tokenCounts(id, "two", ["a", "b"])).toEqual(counts({ a: 2 }));
      expect(await storage.tokenCounts(id, "three", ["a"])).toEqual(new Map());
      expect(await storage.findSession(id)).toEqual(before);
      expect((await commit([entry("c")], leaf)).leaf.entryId).toBe("c");
    });

    test("gives a fork the token counts of its entries", async () => {
      await commit([entry("a"), entry("b")]);
      await storage.saveTokenCounts(id, "one", counts({ a: 1 }));
      const fork = await storage.forkSession(id, { at: "b", into: {}, tree: false, values: false });
      expect(await storage.tokenCounts(fork.id, "one", ["a", "b"])).toEqual(counts({ a: 1 }));
    });

    test("finds what was said, once the index caught up, was merged and the payloads were packed, or before", async () => {
      await commit([entry("needle")]);
      const found = async () => (await storage.search({ query: "needle" })).hits;
      const before = await found();
      expect(before).toMatchObject([{ sessionId: id, entryId: "needle" }]);
      expect(await storage.catchUpSearch(10)).toBe(0);
      expect(await found()).toEqual(before);
      while (await storage.mergeSearchIndex("throw"));
      while (((await storage.packing.next("all", "throw"))?.entries ?? 0) > 0);
      expect(await found()).toEqual(before);
      expect((await storage.search({ query: "parser" })).hits).toMatchObject([{ type: "title", sessionId: id }]);
    });

    test("lists, renames, archives, names and deletes sessions", async () => {
      await commit([entry("a")]);
      await storage.renameSession(id, "Lexer", "user");
      expect(ids((await storage.listSessions({})).items)).toBe(id);
      expect(ids(await storage.sessionsNamed("lex", 5))).toBe(id);
      await storage.archiveSession(id, true);
      expect((await storage.listSessions({})).items).toEqual([]);
      await storage.deleteSession(id);
      expect(await storage.findSession(id)).toBeUndefined();
      expect((await storage.search({ query: "says" })).total).toBe(0);
    });

    test("forks a path into a session of its own", async () => {
      await commit([entry("a"), entry("b")]);
      const fork = await storage.forkSession(id, { at: "a", into: {}, tree: false, values: false });
      expect(ids(await storage.outline(fork.id, { limit: 10 }))).toBe("a");
      expect(fork).toMatchObject({ title: "Parser, fork 1", parent: { sessionId: id, entryId: "a" } });
    });

    test("counts entries and messages", async () => {
      await commit([entry("a"), entry("b"), { kind: "entry", entry: { type: "model_change", modelId: "m" } }]);
      expect(await storage.statistics(id)).toMatchObject({ sessions: 1, entries: 3, messages: 2, byType: { message: 2, model_change: 1 } });
    });

    test("answers for an unknown session or entry with a typed error", async () => {
      const unknownSession = [
        () => storage.leaf("nobody", "main"),
        () => storage.outline("nobody", {}),
        () => storage.labels("nobody"),
        () => storage.deleteSession("nobody"),
        () => storage.search({ query: "x", sessionId: "nobody" }),
        () => storage.tokenCounts("nobody", "one", ["a"]),
        () => storage.saveTokenCounts("nobody", "one", counts({ a: 1 })),
      ];
      for (const ask of unknownSession) await expect(ask()).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
      const unknownEntry = [() => storage.entry(id, "no"), () => storage.children(id, "no"), () => storage.scanPath(id, { leafId: "no" })];
      for (const ask of unknownEntry) await expect(ask()).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    });

    test("holds what must hold after all of it", async () => {
      await commit([entry("a"), entry("b"), { kind: "moveLeaf", to: "a" }, entry("c")]);
      const findings = [];
      for await (const finding of storage.verify()) findings.push(finding);
      expect(findings).toEqual([]);
    });

    test("closed, refuses with a typed error, and closes again without one", async () => {
      await storage.close();
      await storage.close();
      await expect(storage.findSession(id)).rejects.toMatchObject({ code: "STORE_CLOSED" });
      await expect(storage.createSession({})).rejects.toMatchObject({ code: "STORE_CLOSED" });
    });

    if (reopen === undefined) return;

    test("reopened, has everything that was acknowledged", async () => {
      await commit([entry("a"), { kind: "label", entryId: "a", label: "l" }, entry("b"), { kind: "moveLeaf", to: "a" }]);
      await storage.close();
      const again = storageOf(await reopen());
      expect(ids(await again.outline(id, {}))).toBe("a b");
      expect((await again.leaf(id, "main")).entryId).toBe("a");
      expect(await again.labels(id)).toHaveLength(1);
    });
  });
}

/** Opens a store that is closed after the test. */
export async function openedStore(place: Place): Promise<Store> {
  const store = await openStore({ ...place, durability: "normal" });
  onTestFinished(() => store.close());
  return store;
}
