import { describe, expect, test } from "vitest";
import { grow } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

describe("changing the metadata of a session", () => {
  test("sets the members that are given, removes those that are undefined, and keeps the others", async () => {
    const { store, session } = await grow("", { session: { metadata: { owner: "u7", draft: true, tags: ["a"] } } });
    await session.setMetadata({ owner: "u8", draft: undefined, extra: { deep: [null] } });
    expect((await session.record()).metadata).toEqual({ owner: "u8", tags: ["a"], extra: { deep: [null] } });
    await store.setMetadata(session.id, { tags: null });
    expect((await session.record()).metadata).toEqual({ owner: "u8", tags: null, extra: { deep: [null] } });
  });

  test("lets lists find the session by the new members, and no longer by the old ones", async () => {
    const { store, session } = await grow("u1", { session: { metadata: { owner: "u7" } } });
    const found = async (owner: string | null) => (await store.listSessions({ metadata: { owner } })).items.map(({ id }) => id);
    await session.setMetadata({ owner: "u8" });
    expect([await found("u7"), await found("u8")]).toEqual([[], [session.id]]);
    await session.setMetadata({ owner: null });
    expect([await found("u8"), await found(null)]).toEqual([[], [session.id]]);
    await session.setMetadata({ owner: undefined });
    expect(await found(null)).toEqual([]);
  });

  test("by two handles at once keeps both changes", async () => {
    const { store, session } = await grow("");
    const other = await store.openSession(session.id);
    await Promise.all([session.setMetadata({ a: 1 }), other.setMetadata({ b: 2 }), store.setMetadata(session.id, { c: 3 })]);
    expect((await session.record()).metadata).toEqual({ a: 1, b: 2, c: 3 });
  });

  test("writes what was given at the call", async () => {
    const { session } = await grow("");
    const patch = { owner: { id: "u7" } };
    const changing = [session.setMetadata({ first: 1 }), session.setMetadata(patch)];
    patch.owner.id = "u8";
    await Promise.all(changing);
    expect((await session.record()).metadata).toEqual({ first: 1, owner: { id: "u7" } });
  });

  test("refuses what JSON cannot represent, and an unknown session, and changes nothing", async () => {
    const { store, session } = await grow("", { session: { metadata: { owner: "u7" } } });
    await expect(session.setMetadata({ owner: 1n })).rejects.toMatchObject({ code: "UNSERIALIZABLE_VALUE", path: "metadata.owner" });
    await expect(store.setMetadata("nobody", { a: 1 })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect((await session.record()).metadata).toEqual({ owner: "u7" });
  });

  test("of a session without metadata, to none again, is no metadata", async () => {
    const store = await openedStore();
    const session = await store.createSession();
    await session.setMetadata({ __proto__: null, a: 1 });
    await session.setMetadata({ a: undefined });
    expect((await session.record()).metadata).toEqual({});
  });
});
