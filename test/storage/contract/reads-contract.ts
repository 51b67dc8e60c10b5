import { type Store, userMessage, type Write } from "@bough/session-core";
import { type SessionStorage, storageOf } from "@bough/session-core/engine";
import { beforeEach, describe, expect, test } from "vitest";

const entry = (id: string, parentId?: string): Write => ({ kind: "entry", entry: { ...userMessage(`says ${id}`), id }, parentId });
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).join(" ");

/** How every storage lists entries, values and sessions, told on the port alone. `open` gives an empty one. */
export function readsContract(name: string, open: () => Promise<Store>): void {
  describe(`the lists of a storage (${name})`, () => {
    let storage: SessionStorage;
    let id: string;

    beforeEach(async () => {
      storage = storageOf(await open());
      ({ id } = await storage.createSession({}));
    });

    async function commit(writes: readonly Write[]) {
      return storage.commit({ sessionId: id, leafName: "main", seen: await storage.leaf(id, "main"), onConflict: "error", writes });
    }

    test("gives one value of several sessions, in the order asked for", async () => {
      await commit([{ kind: "value", key: "k", value: 1 }]);
      await storage.createSession({ id: "other" }, [{ kind: "value", key: "k", value: 2 }]);
      const found = await storage.valuesOf("k", ["other", "nobody", id]);
      expect([...found].map(([one, { value }]) => [one, value])).toEqual([
        ["other", 2],
        [id, 1],
      ]);
    });

    test("lists entries and rows from either end, by range, type and custom type, and gives entries by id", async () => {
      const note = { kind: "entry", entry: { type: "custom", customType: "note", data: 1, id: "n" } } as const;
      await commit([entry("a"), note, entry("b"), entry("c", "a")]);
      const { seq } = await storage.entry(id, "b");
      for (const list of [storage.listEntries.bind(storage), storage.outline.bind(storage)]) {
        expect(ids(await list(id, {}))).toBe("a n b c");
        expect(ids(await list(id, { order: "newest", limit: 2 }))).toBe("c b");
        expect(ids(await list(id, { order: "newest", beforeSeq: seq }))).toBe("n a");
        expect(ids(await list(id, { types: ["custom"] }))).toBe("n");
        expect(ids(await list(id, { customType: "note" }))).toBe("n");
        expect(ids(await list(id, { customType: "other" }))).toBe("");
      }
      expect((await storage.outline(id, { customType: "note" }))[0]).toMatchObject({ customType: "note" });
      expect([...(await storage.entriesById(id, ["c", "nobody", "a"])).keys()]).toEqual(["c", "a"]);
      expect(await storage.tipBelow(id, "a")).toBe("c");
      expect(await storage.tipBelow(id, "n")).toBe("b");
    });

    test("lists the sessions of some metadata", async () => {
      await storage.createSession({ id: "mine", metadata: { owner: "u7", n: 1 } });
      const listed = async (metadata: Record<string, string | number>) =>
        ids((await storage.listSessions({ metadata, empty: true })).items);
      expect([await listed({ owner: "u7" }), await listed({ owner: "u7", n: 2 })]).toEqual(["mine", ""]);
    });
  });
}
