import { describe, expect, test } from "vitest";
import { assistantMessage } from "../../../src/entry/builders.js";
import { contextNames, entryNamed, grow, pathNames, treeNames } from "../../world/grow.js";
import { findingsOf } from "../../world/stores.js";

describe("forking a session", () => {
  test("keeps the origin of a branch summary that is itself on the path", async () => {
    const { store, session } = await grow("u1 a1 b1:u1 u2");
    const fork = await store.forkSession(session.id);
    expect(await fork.entry("b1")).toMatchObject({ fromId: "u1" });
  });

  test("copies the path to a new session, entries keeping their ids, times and content", async () => {
    const { store, session } = await grow("u1 a1 u2 @a1 u3 a3");
    const fork = await store.forkSession(session.id);
    expect(await treeNames(fork)).toBe(">u1 u1>a1 a1>u3 u3>a3");
    const strip = (entry: object) => ({ ...entry, seq: 0 });
    expect((await fork.path()).map(strip)).toEqual((await session.path()).map(strip));
  });

  test("at an entry copies the path to it, and stands there", async () => {
    const { store, session } = await grow("u1 a1 u2 a2");
    const fork = await store.forkSession(session.id, { at: "a1" });
    expect([await pathNames(fork), fork.leafId]).toEqual(["u1 a1", "a1"]);
  });

  test("points back to where it came from", async () => {
    const { store, session } = await grow("u1 a1 u2");
    const fork = await store.forkSession(session.id, { at: "a1" });
    expect((await fork.record()).parent).toEqual({ sessionId: session.id, entryId: "a1", toolCallId: null });
    expect((await store.listSessions({ parentId: session.id })).items.map(({ id }) => id)).toEqual([fork.id]);
  });

  test("leaves the session it came from as it was, and both go on apart", async () => {
    const { store, session } = await grow("u1 a1");
    const fork = await store.forkSession(session.id);
    await fork.append(entryNamed("u2"));
    await session.append(entryNamed("u3"));
    expect([await pathNames(session), await pathNames(fork)]).toEqual(["u1 a1 u3", "u1 a1 u2"]);
  });

  test("takes along the labels of what is copied, and no others", async () => {
    const { store, session } = await grow("u1 a1 u2 @a1 u3");
    await session.labels.set("a1", "on the path");
    await session.labels.set("u2", "off the path");
    const before = (await session.labels.list()).filter(({ entryId }) => entryId === "a1");
    expect(await (await store.forkSession(session.id)).labels.list()).toEqual(before);
  });

  test("takes along the title and who gave it, unless it is given one", async () => {
    const { store, session } = await grow("u1", { session: { title: "Parser", titleSource: "auto", cwd: "/home/me/project" } });
    expect(await (await store.forkSession(session.id)).record()).toMatchObject({
      title: "Parser, fork 1",
      titleSource: "auto",
      cwd: "/home/me/project",
    });
    const named = await store.forkSession(session.id, { title: "Other", cwd: "/tmp", id: "named" });
    expect(await named.record()).toMatchObject({ id: "named", title: "Other", titleSource: "user", cwd: "/tmp" });
  });

  test("before the first entry takes along title and directory too", async () => {
    const { store, session } = await grow("", { session: { title: "Parser", cwd: "/home/me/project" } });
    const fork = await store.forkSession(session.id);
    expect(await fork.record()).toMatchObject({
      title: "Parser, fork 1",
      cwd: "/home/me/project",
      parent: { sessionId: session.id, entryId: null },
      entryCount: 0,
    });
  });

  test("keeps the boundary of a compaction, so that both contexts are the same", async () => {
    const { store, session } = await grow("s1 u1 a1 u2 a2 c1:u2 u3 m1 a3");
    const fork = await store.forkSession(session.id);
    const { entries, ...context } = await fork.context();
    expect({ entries, ...context }).toEqual(await session.context());
    expect(entries.join(" ")).toBe("c1 u2 a2 u3 a3");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("keeps edits, and compactions that are undone, in force", async () => {
    const { store, session } = await grow("u1 a1 c1:a1 u2 c2:u2 a2 x1:c2 y1:u2");
    const fork = await store.forkSession(session.id);
    expect(await contextNames(fork)).toBe(await contextNames(session));
    await fork.append(entryNamed("x2:c1"));
    expect(await contextNames(fork)).toBe("u1 a1 u2 a2");
  });

  test("of a branch summary keeps which branch it tells of beside, not as a reference to nothing", async () => {
    const { store, session } = await grow("u1 a1 u2 @a1 b1:u2 u3");
    const fork = await store.forkSession(session.id);
    expect(await fork.entry("b1")).toMatchObject({ summary: "b1", fromId: null, originalFromId: "u2" });
    expect(await findingsOf(store)).toEqual([]);
  });

  test("in the middle of a batch of calls yields a valid context", async () => {
    const { store, session } = await grow("u1 k1:k1,k2 r1:k1 r2:k2 a1");
    const fork = await store.forkSession(session.id, { at: "r1" });
    const { messages } = await fork.context();
    expect(messages.slice(-2)).toMatchObject([{ toolCallId: "k1" }, { toolCallId: "k2", isError: true, synthetic: true }]);
  });

  test("counts what the copied replies used as inherited, so that a store counts it once", async () => {
    const { store, session } = await grow("u1");
    const reply = assistantMessage("a", { provider: "p", model: "m", usage: { input: 10, output: 5, cost: { total: 0.5 } } });
    await session.append(reply);
    const fork = await store.forkSession(session.id);
    await fork.append(reply);
    expect((await fork.statistics()).usage).toMatchObject([{ inputTokens: 10, costUsd: 0.5 }]);
    expect((await fork.statistics()).inheritedUsage).toMatchObject([{ inputTokens: 10, costUsd: 0.5 }]);
    expect((await store.statistics()).usage).toMatchObject([{ replies: 2, inputTokens: 20, costUsd: 1 }]);
  });

  test("takes along the file operations of its path", async () => {
    const { store, session } = await grow("u1");
    await session.append(assistantMessage([{ type: "toolCall", id: "c", name: "write", arguments: { path: "a.ts" } }]));
    expect(await (await store.forkSession(session.id)).fileOperations()).toMatchObject([{ kind: "write", path: "a.ts" }]);
  });

  test("is found by its own search, and survives the deletion of its origin", async () => {
    const { store, session } = await grow("u1 a1");
    const fork = await store.forkSession(session.id);
    await store.deleteSession(session.id);
    expect((await store.search({ query: "a1" })).hits.map(({ sessionId }) => sessionId)).toEqual([fork.id]);
    expect(await contextNames(fork)).toBe("u1 a1");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("at an entry that is not there, or to an id that is taken, makes nothing", async () => {
    const { store, session } = await grow("u1");
    await expect(store.forkSession(session.id, { at: "zz" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    await expect(store.forkSession(session.id, { id: session.id })).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    await expect(store.forkSession("nobody")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect((await store.listSessions({ empty: true })).items).toHaveLength(1);
  });
});
