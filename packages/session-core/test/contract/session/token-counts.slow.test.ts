import { describe, expect, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { entryNamed, grow, treeNames } from "../../world/grow.js";
import { findingsOf, lastingPlace, openedStore, raw, storePath } from "../../world/stores.js";

const counts = (given: Readonly<Record<string, number>>) => new Map(Object.entries(given));

describe("token counts", () => {
  test("are kept beside the tree: no leaf, time or order changes, and no other writer meets a conflict", async () => {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id);
    const before = [await session.record(), await session.statistics(), await treeNames(session)];
    await session.tokenCounts.save("c", counts({ u1: 3 }));
    expect([await session.record(), await session.statistics(), await treeNames(session)]).toEqual(before);
    await other.append(entryNamed("u2"));
    expect((await other.entry("u2")).seq).toBe((await other.entry("a1")).seq + 1);
  });

  test("of two sessions do not mix where their entries have the same ids", async () => {
    const { store, session } = await grow("u1");
    const { session: other } = await grow("u1", { store });
    await session.tokenCounts.save("c", counts({ u1: 3 }));
    await other.tokenCounts.save("c", counts({ u1: 4 }));
    expect([await session.tokenCounts.get("c", ["u1"]), await other.tokenCounts.get("c", ["u1"])]).toEqual([
      counts({ u1: 3 }),
      counts({ u1: 4 }),
    ]);
  });

  test("are those that were handed in, whatever becomes of the map while they wait", async () => {
    const { session } = await grow("u1");
    const given = counts({ u1: 3 });
    const writes = [session.append(entryNamed("a1")), session.tokenCounts.save("c", given)];
    given.set("u1", 9);
    await Promise.all(writes);
    expect(await session.tokenCounts.get("c", ["u1"])).toEqual(counts({ u1: 3 }));
  });

  test("of ids with odd characters are their own", async () => {
    const odd = ['"', "__proto__", "é", "😀", "0"];
    const { session } = await grow("");
    for (const id of odd) await session.append({ type: "custom", customType: "t", id });
    await session.tokenCounts.save("c", new Map(odd.map((id, at) => [id, at])));
    expect(await session.tokenCounts.get("c", [...odd, "\ud83d", "1"])).toEqual(new Map(odd.map((id, at) => [id, at])));
  });

  test.each([
    ["half a token", 0.5],
    ["less than none", -1],
    ["no number", Number.NaN],
    ["beyond counting", 2 ** 53],
  ])("of %s are refused, and none is kept", async (_what, tokens) => {
    const { session } = await grow("u1 a1");
    const save = session.tokenCounts.save("c", counts({ u1: 1, a1: tokens }));
    await expect(save).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "tokens" });
    expect(await session.tokenCounts.get("c", ["u1", "a1"])).toEqual(new Map());
  });

  test.each(["", "x".repeat(201)])("of a counter without a proper name are refused", async (counter) => {
    const { session } = await grow("u1");
    await expect(session.tokenCounts.save(counter, new Map())).rejects.toMatchObject({ code: "INVALID_ENTRY", path: "counter" });
  });

  test("of more entries than a statement has parameters are saved and read at once", async () => {
    const { session } = await grow("");
    const ids = Array.from({ length: 66_000 }, (_, at) => `e${at}`);
    await session.write(ids.map((id) => ({ kind: "entry", entry: { type: "custom", customType: "t", id } })));
    await session.tokenCounts.save("c", new Map(ids.map((id, at) => [id, at])));
    const counts = await session.tokenCounts.get("c", ids);
    expect([counts.size, counts.get("e0"), counts.get("e65999")]).toEqual([66_000, 0, 65_999]);
  });

  test("go with their session", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const { session } = await grow("u1 a1", { store });
    await session.tokenCounts.save("c", counts({ u1: 1 }));
    await store.deleteSession(session.id);
    await store.close();
    expect(raw(path, (file) => file.prepare("SELECT count(*) FROM entry_token_count").pluck().get())).toBe(0);
  });

  test("go along with a fork, except of a summary whose branch does not", async () => {
    const { store, session } = await grow("u1 a1 @u1 b1:a1 u2");
    await session.tokenCounts.save("c", counts({ u1: 1, b1: 2, u2: 3 }));
    const fork = await store.forkSession(session.id);
    expect(await fork.tokenCounts.get("c", ["u1", "b1", "u2"])).toEqual(counts({ u1: 1, u2: 3 }));
    expect(await findingsOf(store)).toEqual([]);
  });

  test("are not written to a store that is only read", async () => {
    const place = lastingPlace();
    const store = await openStore(place);
    const { session } = await grow("u1", { store });
    await session.tokenCounts.save("c", counts({ u1: 1 }));
    await store.close();
    const reader = await (await openedStore({ ...place, mode: "read-only" })).openSession(session.id);
    expect(await reader.tokenCounts.get("c", ["u1"])).toEqual(counts({ u1: 1 }));
    await expect(reader.tokenCounts.save("c", counts({ u1: 2 }))).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
  });
});

describe("a search in a session", () => {
  test("finds what this session says and no other, also what was said just now", async () => {
    const { store, session } = await grow("u1");
    const { session: other } = await grow("u1", { store });
    const hits = (await session.search({ query: "u1" })).hits.map(({ sessionId, entryId }) => ({ sessionId, entryId }));
    expect(hits).toEqual([{ sessionId: session.id, entryId: "u1" }]);
    expect((await other.search({ query: "u2" })).total).toBe(0);
  });
});
