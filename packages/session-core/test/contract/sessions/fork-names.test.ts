import { describe, expect, test } from "vitest";
import { grow } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

async function titleOf(session: { record(): Promise<{ title: string | null }> }) {
  return (await session.record()).title;
}

describe("a fork", () => {
  test("has the title of its origin with the next free number, a fork of a fork too", async () => {
    const { store, session } = await grow("u1 a1", { session: { title: "Tabs in the lexer" } });
    const first = await store.forkSession(session.id);
    const second = await store.forkSession(first.id);
    await store.deleteSession(first.id);
    const third = await store.forkSession(session.id, { title: "Mine" });
    const fourth = await store.forkSession(session.id);
    expect(await Promise.all([first, second, third, fourth].slice(1).map(titleOf))).toEqual([
      "Tabs in the lexer, fork 2",
      "Mine",
      "Tabs in the lexer, fork 1",
    ]);
  });

  test("of a session without a title is named by what was typed, and of an empty one not at all", async () => {
    const { store, session } = await grow("u1 a1");
    expect(await titleOf(await store.forkSession(session.id))).toBe(`${(await session.record()).firstText}, fork 1`);
    expect(await titleOf(await store.forkSession((await store.createSession()).id))).toBe(null);
  });

  test.each(["lexer", "tabs in", "Tabs in the lexer", "tab lex"])("leaves %j to its origin", async (name) => {
    const { store, session } = await grow("u1 a1", { session: { title: "Tabs in the lexer" } });
    const fork = await store.forkSession(session.id);
    await store.forkSession(fork.id);
    // As older versions named forks.
    await store.forkSession(session.id, { title: "Tabs in the lexer" });
    expect((await store.resolveSession(name)).id).toBe(session.id);
    expect((await store.resolveSession("Tabs in the lexer, fork 1")).id).toBe(fork.id);
    await expect(store.resolveSession("lexer, fork")).rejects.toMatchObject({ code: "AMBIGUOUS_NAME", others: 0 });
  });

  test("does not hide another session of the same title", async () => {
    const { store, session } = await grow("u1 a1", { session: { title: "Tabs" } });
    await store.forkSession(session.id);
    await store.createSession({ title: "Tabs" });
    await expect(store.resolveSession("tabs")).rejects.toMatchObject({ code: "AMBIGUOUS_NAME" });
  });
});

test("a name may be the beginnings of words of a title, in their order", async () => {
  const store = await openedStore();
  const { id } = await store.createSession({ title: "Tabs in the lexer" });
  expect((await store.resolveSession("tab-lex")).id).toBe(id);
  await expect(store.resolveSession("lex tab")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});
