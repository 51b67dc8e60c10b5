import { type Store, userMessage, type Write } from "@bough/session-core";
import { type SessionStorage, storageOf } from "@bough/session-core/engine";
import { beforeEach, describe, expect, test } from "vitest";

type LeafView = Awaited<ReturnType<SessionStorage["leaf"]>>;

const entry = (id: string, parentId?: string): Write => ({ kind: "entry", entry: { ...userMessage(`says ${id}`), id }, parentId });
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).join(" ");

/** What every storage must do for hosts that keep trees, values and sessions of their own: writes that do not follow one leaf. */
export function writesContract(name: string, open: () => Promise<Store>): void {
  describe(`the writes of hosts in a storage (${name})`, () => {
    let storage: SessionStorage;
    let id: string;

    beforeEach(async () => {
      storage = storageOf(await open());
      ({ id } = await storage.createSession({ title: "Parser", cwd: "/project" }));
    });

    async function commit(writes: readonly Write[], seen?: LeafView) {
      const view = seen ?? (await storage.leaf(id, "main"));
      return storage.commit({ sessionId: id, leafName: "main", seen: view, onConflict: "error", writes });
    }

    test("opens a session and its leaf, or makes what is missing, once, with its first writes", async () => {
      await expect(storage.openSession("nobody", "main")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
      const missing = { session: { title: "Thread" }, writes: [entry("a")] };
      const opened = await Promise.all([1, 2, 3].map(() => storage.openSession("thread", "worker", missing)));
      for (const one of opened) expect(one).toMatchObject({ row: { id: "thread", seq: opened[0]?.row.seq }, leaf: { entryId: "a" } });
      expect(await storage.findSession("thread")).toMatchObject({ title: "Thread", entryCount: 1 });
      expect(await storage.leaves("thread")).toEqual([
        { name: "main", entryId: "a" },
        { name: "worker", entryId: "a" },
      ]);
      expect((await storage.openSession("thread", "main")).leaf.entryId).toBe("a");
    });

    test("makes a session with its first writes, or neither", async () => {
      await storage.createSession({ id: "full" }, [entry("a"), { kind: "value", key: "k", value: 1 }]);
      expect((await storage.leaf("full", "main")).entryId).toBe("a");
      expect(await storage.value("full", "k")).toMatchObject({ value: 1 });
      await expect(storage.createSession({ id: "none" }, [entry("a", "nowhere")])).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
      expect(await storage.findSession("none")).toBeUndefined();
    });

    test("appends under a given parent without the leaf: it neither moves nor conflicts, and no move is recorded", async () => {
      const { leaf } = await commit([entry("a"), entry("b")]);
      await commit([entry("c")], leaf);
      const stale = await commit([entry("d", "a"), entry("e", "d")], leaf);
      expect(stale.leaf.entryId).toBe("b");
      expect(ids(await storage.children(id, "a"))).toBe("b d");
      expect(await storage.entry(id, "e")).toMatchObject({ parentId: "d" });
      expect((await storage.leaf(id, "main")).entryId).toBe("c");
      expect(await storage.leafMoves(id, "main", 10)).toEqual([]);
      await expect(commit([entry("d", "b")], leaf)).rejects.toMatchObject({ code: "ENTRY_CONFLICT" });
    });

    test("moves another leaf in a batch, and makes it where it is missing", async () => {
      await commit([entry("a"), { kind: "moveLeaf", to: "a", leaf: "worker" }, entry("b"), { kind: "moveLeaf", to: "b", leaf: "worker" }]);
      expect(await storage.leaves(id)).toEqual([
        { name: "main", entryId: "b" },
        { name: "worker", entryId: "b" },
      ]);
      expect(await storage.leafMoves(id, "worker", 10)).toMatchObject([{ from: "a", to: "b" }]);
    });

    test("writes a value only where the present one is the expected one, and nothing of the batch otherwise", async () => {
      const value = (given: unknown, ifEquals: unknown): Write => ({ kind: "value", key: "k", value: given, ifEquals });
      await commit([value({ a: 1, b: 2 }, undefined)]);
      await commit([value("next", { b: 2, a: 1 })]);
      for (const expected of [undefined, null, { a: 1, b: 2 }]) {
        await expect(commit([entry("a"), value("lost", expected)])).rejects.toMatchObject({ code: "VALUE_CHANGED", key: "k" });
      }
      expect(await storage.value(id, "k")).toMatchObject({ value: "next" });
      expect(await storage.outline(id, { limit: 10 })).toEqual([]);
    });

    test("lists values by prefix, in pages and in both orders, keys alone too, and deletes a prefix", async () => {
      const large = "x".repeat(100_000);
      await commit(["a", "b/1", "b/2", "b/3", "c"].map((key) => ({ kind: "value", key, value: key === "b/2" ? large : key })));
      const keys = async (range: Parameters<SessionStorage["values"]>[1]) =>
        (await storage.values(id, range)).map(({ key }) => key).join(" ");
      expect(await keys({ prefix: "b/" })).toBe("b/1 b/2 b/3");
      expect(await keys({ prefix: "b/", after: "b/1", limit: 1 })).toBe("b/2");
      expect(await keys({ order: "desc", after: "c", limit: 2 })).toBe("b/3 b/2");
      expect(await storage.valueKeys(id, { prefix: "b/2" })).toMatchObject([{ key: "b/2", bytes: 100_002 }]);
      expect(await storage.value(id, "b/2")).toMatchObject({ value: large });
      await commit([{ kind: "deleteValues", prefix: "b/" }]);
      expect(await keys({})).toBe("a c");
    });

    test("forks a whole tree: all branches, leaves, labels and values, and its first writes", async () => {
      await commit([
        entry("a"),
        entry("b"),
        entry("c", "a"),
        { kind: "label", entryId: "c", label: "x" },
        { kind: "value", key: "k", value: 1 },
      ]);
      const fork = await storage.forkSession(id, { into: { metadata: { of: "t" } }, tree: true, values: true }, [entry("d")]);
      expect(ids(await storage.outline(fork.id, { limit: 10 }))).toBe("a b c d");
      expect(ids(await storage.children(fork.id, "a"))).toBe("b c");
      expect(await storage.leaves(fork.id)).toEqual([{ name: "main", entryId: "d" }]);
      expect(await storage.labels(fork.id)).toMatchObject([{ entryId: "c", label: "x" }]);
      expect(await storage.value(fork.id, "k")).toMatchObject({ value: 1 });
      expect(fork).toMatchObject({ entryCount: 4, metadata: { of: "t" }, parent: { sessionId: id, entryId: "b" } });
      expect((await storage.leaf(id, "main")).entryId).toBe("b");
    });

    test("changes members of the metadata, and finds sessions by them", async () => {
      await storage.setMetadata(id, { owner: "u7", draft: true });
      await storage.setMetadata(id, { draft: undefined, tags: ["a"] });
      expect(await storage.findSession(id)).toMatchObject({ metadata: { owner: "u7", tags: ["a"] } });
      const found = async (metadata: Readonly<Record<string, string | boolean>>) =>
        (await storage.listSessions({ metadata, empty: true })).items.map((one) => one.id);
      expect([await found({ owner: "u7" }), await found({ draft: true })]).toEqual([[id], []]);
    });
  });
}
