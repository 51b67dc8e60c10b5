import { openStore, type Store, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { findingsOf } from "../../session-core/test/world/stores.js";
import { CuttingProxy } from "./cutting-proxy.js";
import { ownServer, withUrl } from "./server.js";

const server = ownServer();

/** The end of a transaction; announcements of changes have none. */
const COMMIT = (message: Buffer) => message.includes(`INSERT INTO "bough".commit_mark`);

/** A store behind a proxy, and the same one beside it. */
async function cutStore(options: { connections?: number; busyTimeoutMs?: number } = {}) {
  const url = await server.newDatabase();
  const beside = await openStore({ url });
  const proxy = await CuttingProxy.start(Number(new URL(url).port));
  const store = await openStore({ url: withUrl(url, { port: String(proxy.port) }), ...options });
  onTestFinished(async () => {
    await Promise.all([store.close(), beside.close()]);
    await proxy.close();
  });
  return { url, proxy, store, beside };
}

const textsOf = async (store: Store, id: string) => {
  const { messages } = await (await store.openSession(id)).context();
  return messages.map((message) => /text\d+/.exec(JSON.stringify(message))?.[0]);
};

describe("a connection that breaks at any message of an append", () => {
  test.each(["unsent", "unanswered", "late"] as const)("%s: the entry is written once, and acknowledged", async (cut) => {
    const { proxy, store, beside } = await cutStore({ connections: 1 });
    const session = await store.createSession();
    const texts: string[] = [];
    for (let at = 1; proxy.cuts === at - 1; at++) {
      proxy.armAt(cut, at);
      texts.push(`text${at}`);
      await session.append(userMessage(`text${at}`));
      await proxy.deliver();
      expect(await textsOf(beside, session.id)).toEqual(texts);
    }
    // The last one was not cut: an append has not so many messages.
    expect(proxy.cuts).toBeGreaterThan(0);
    expect(await findingsOf(beside)).toEqual([]);
  });
});

test("an append that expects a leaf and whose answer is lost does not take its own entry for that of another writer", async () => {
  const { proxy, store, beside } = await cutStore({ connections: 1 });
  const session = await store.createSession();
  const { id } = await session.append(userMessage("text1"));
  proxy.arm("unanswered", (message) => message.includes("text2"));
  await session.append(userMessage("text2"), { expectedLeafId: id });
  expect(proxy.cuts).toBe(1);
  expect(await textsOf(beside, session.id)).toEqual(["text1", "text2"]);
  await beside.openSession(session.id).then((other) => other.append(userMessage("text3")));
  proxy.arm("unsent", (message) => message.includes("text4"));
  const expected = { expectedLeafId: session.leafId };
  await expect(session.append(userMessage("text4"), expected)).rejects.toMatchObject({ code: "LEAF_MOVED" });
  expect(await textsOf(beside, session.id)).toEqual(["text1", "text2", "text3"]);
});

describe("a connection that breaks at any message of a creation", () => {
  test.each(["unsent", "unanswered", "late"] as const)("%s: the session is created once", async (cut) => {
    const { proxy, store, beside } = await cutStore({ connections: 1 });
    for (let at = 1; proxy.cuts === at - 1; at++) {
      proxy.armAt(cut, at);
      const session = await store.createSession({ id: `session${at}` });
      await proxy.deliver();
      expect((await beside.findSession(`session${at}`))?.id).toBe(session.id);
    }
    expect(proxy.cuts).toBeGreaterThan(0);
  });
});

describe("a connection that breaks at the end of a transaction", () => {
  test.each([
    ["unsent", "not committed, and done again"],
    ["unanswered", "committed, and not done again"],
    ["late", "not committed any more, however late the server gets it, and done again"],
  ] as const)("%s: it is %s", async (cut, _outcome) => {
    const { proxy, store, beside } = await cutStore();
    const session = await store.createSession();
    const entries = [];
    for (const text of ["a", "b", "c"]) entries.push((await session.append(userMessage(text))).id);
    const [first = null, second = null] = entries;
    await session.moveLeaf(second);
    await session.moveLeaf(first);
    proxy.arm(cut, COMMIT);
    // An undo that is done twice would go back to the third.
    await session.undoMove();
    await proxy.deliver();
    expect(proxy.cuts).toBe(1);
    expect((await beside.openSession(session.id)).leafId).toBe(second);
  });

  test.each(["unsent", "unanswered", "late"] as const)("%s: a condition on a value is not met by the own first attempt", async (cut) => {
    const { proxy, store } = await cutStore();
    const session = await store.createSession();
    await session.values.set("count", 1);
    proxy.arm(cut, COMMIT);
    await session.write([{ kind: "value", key: "count", value: 2, ifEquals: 1 }]);
    await proxy.deliver();
    expect(await session.values.get("count")).toBe(2);
  });
});

// With one connection: another one that is open already would still reach the server.
describe("a server that does not come back", () => {
  test("after a commit that it did not answer: it is not known whether the transaction was written", async () => {
    const { proxy, store } = await cutStore({ busyTimeoutMs: 2_000, connections: 1 });
    const session = await store.createSession();
    proxy.arm("unanswered", COMMIT);
    proxy.refuseAfterCut();
    await expect(store.renameSession(session.id, "New")).rejects.toMatchObject({
      code: "CONNECTION_LOST",
      written: "unknown",
      message: expect.stringMatching(/^The connection to \S+ was lost\. It is not known whether the operation was written\.$/),
    });
  });

  test("after an append that it did not answer: it is not known whether the entry was written", async () => {
    const { proxy, store, beside } = await cutStore({ busyTimeoutMs: 2_000, connections: 1 });
    const session = await store.createSession();
    await session.append({ ...userMessage("text0"), id: "first" });
    proxy.arm("unanswered", (message) => message.includes("second"));
    proxy.refuseAfterCut();
    const entry = { ...userMessage("text1"), id: "second" };
    await expect(session.append(entry)).rejects.toMatchObject({ code: "CONNECTION_LOST", written: "unknown" });
    proxy.accept();
    // Repeated with its id, it is written once.
    expect((await session.append(entry)).id).toBe("second");
    expect(await textsOf(beside, session.id)).toEqual(["text0", "text1"]);
  });

  test.each([
    ["an archiving", `"session" SET archived_at_ms`, (store: Store, id: string) => store.archiveSession(id)],
    [
      "a count of tokens",
      'INTO "bough"."entry_token_count"',
      async (store: Store, id: string) => (await store.openSession(id)).tokenCounts.save("c", new Map([["e", 5]])),
    ],
  ])("after %s that it did not answer: it is not known whether it was written", async (_what, text, write) => {
    const { proxy, store } = await cutStore({ busyTimeoutMs: 2_000, connections: 1 });
    const session = await store.createSession();
    await session.append({ ...userMessage("text0"), id: "e" });
    proxy.arm("unanswered", (message) => message.includes(text));
    proxy.refuseAfterCut();
    await expect(write(store, session.id)).rejects.toMatchObject({ code: "CONNECTION_LOST", written: "unknown" });
    proxy.accept();
    await write(store, session.id);
  });

  test("before it: nothing was written", async () => {
    const { proxy, store, beside } = await cutStore({ busyTimeoutMs: 2_000, connections: 1 });
    const session = await store.createSession({ title: "Old" });
    proxy.arm("unsent", (message) => message.includes("BEGIN"));
    proxy.refuseAfterCut();
    await expect(store.renameSession(session.id, "New")).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: expect.stringContaining("Nothing was written."),
    });
    expect((await beside.findSession(session.id))?.title).toBe("Old");
    proxy.accept();
    await store.renameSession(session.id, "New");
  });
});
