import { describe, expect, test } from "vitest";
import { assistantMessage, userMessage } from "../../../src/entry/builders.js";
import type { SessionFilter } from "../../../src/port/records.js";
import type { Store } from "../../../src/store/store.js";
import { openedStore } from "../../world/stores.js";

async function spoken(store: Store, id: string, atMs: number, given: object = {}): Promise<void> {
  const session = await store.createSession({ id, createdAtMs: 1, ...given });
  await session.append({ ...userMessage(`said in ${id}`), createdAtMs: atMs });
}

async function listed(store: Store, filter: SessionFilter): Promise<string> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.listSessions({ ...filter, cursor, limit: 2 });
    ids.push(...page.items.map(({ id }) => id));
    if (page.next === null) return ids.join(" ");
    cursor = page.next;
  }
}

describe("a list of sessions", () => {
  test("has those of a directory and below it, and of no directory that only begins like it", async () => {
    const store = await openedStore();
    const places = { root: "/w/app", sub: "/w/app/src", deep: "/w/app/src/a", like: "/w/app2", dash: "/w/app-x", above: "/w" };
    for (const [at, [id, cwd]] of Object.entries(places).entries()) await spoken(store, id, 100 + at, { cwd });
    await spoken(store, "nowhere", 200);
    expect(await listed(store, { under: ["/w/app"] })).toBe("deep sub root");
    expect(await listed(store, { under: ["/w/app/"] })).toBe("deep sub root");
    expect(await listed(store, { under: ["/w/app", "/w/app/"] })).toBe("deep sub root");
    expect(await listed(store, { under: ["/w/app/src", "/w/app2"] })).toBe("like deep sub");
    expect(await listed(store, { under: ["/w/app", "/w/app/src", "/w/app"] })).toBe("deep sub root");
    expect(await listed(store, { under: ["/"] })).toBe("above dash like deep sub root");
    expect(await listed(store, { under: ["/w/app"], kind: "all", archived: "all", empty: true })).toBe("deep sub root");
    await spoken(store, "top", 50, { cwd: "/" });
    expect(await listed(store, { under: ["/"] })).toBe("above dash like deep sub root top");
    expect(await listed(store, { under: ["/", "/w/app"] })).toBe("above dash like deep sub root top");
    expect(await listed(store, { under: [] })).toBe("");
  });

  test("has those of any number of directories, page by page", async () => {
    const store = await openedStore();
    for (let at = 0; at < 5; at += 1) await spoken(store, `s${at}`, 100 + at, { cwd: `/w/${at * 20}/src`, metadata: { owner: "ada" } });
    const under = Array.from({ length: 70 }, (_, at) => `/w/${at}`);
    expect(await listed(store, { under })).toBe("s3 s2 s1 s0");
    expect(await listed(store, { under, kind: "all", archived: "all", empty: true })).toBe("s3 s2 s1 s0");
    expect(await listed(store, { under, metadata: { owner: "ada" } })).toBe("s3 s2 s1 s0");
  });

  test("has those of a Windows directory and below it", async () => {
    const store = await openedStore();
    await spoken(store, "root", 1, { cwd: "C:\\app" });
    await spoken(store, "sub", 2, { cwd: "C:\\app\\src" });
    await spoken(store, "like", 3, { cwd: "C:\\app2" });
    expect(await listed(store, { under: ["C:\\app"] })).toBe("sub root");
    expect(await listed(store, { under: ["C:\\app\\src", "C:\\app", "C:\\app\\"] })).toBe("sub root");
  });

  test("has those that were active at or after a time, and before another one", async () => {
    const store = await openedStore();
    for (const at of [10, 20, 30, 40]) await spoken(store, `s${at}`, at);
    expect(await listed(store, { sinceMs: 20 })).toBe("s40 s30 s20");
    expect(await listed(store, { untilMs: 30 })).toBe("s20 s10");
    expect(await listed(store, { sinceMs: 20, untilMs: 40, under: ["/"] })).toBe("");
    expect(await listed(store, { sinceMs: 20, untilMs: 40 })).toBe("s30 s20");
  });

  test("has those of an agent; sessions made here are Bough's", async () => {
    const store = await openedStore();
    await spoken(store, "own", 1);
    expect(await listed(store, { agent: "bough" })).toBe("own");
    expect(await listed(store, { agent: "pi" })).toBe("");
  });

  test("combines a directory with members of the metadata", async () => {
    const store = await openedStore();
    await spoken(store, "one", 1, { cwd: "/w/app/src", metadata: { gitBranch: "main" } });
    await spoken(store, "two", 2, { cwd: "/w/app", metadata: { gitBranch: "try" } });
    await spoken(store, "three", 3, { cwd: "/w", metadata: { gitBranch: "main" } });
    expect(await listed(store, { under: ["/w/app"], metadata: { gitBranch: "main" } })).toBe("one");
    expect(await listed(store, { under: [], metadata: { gitBranch: "main" } })).toBe("");
  });
});

describe("the totals of sessions", () => {
  test("are their branches and what their models used, once for a fork", async () => {
    const store = await openedStore();
    const session = await store.createSession({ id: "s" });
    const { id } = await session.append({ ...userMessage("Hello"), id: "u1" });
    const usage = { input: 10, output: 2, cost: { total: 0.5 } };
    await session.append(assistantMessage("One", { provider: "p", model: "m", usage }));
    await session.moveLeaf(id);
    await session.append(assistantMessage("Two", { provider: "p", model: "m", usage }));
    const fork = await store.forkSession("s", { id: "f" });
    await fork.append(userMessage("More"));
    const totals = await store.totalsOf(["s", "f", "none"]);
    const used = { provider: "p", model: "m", cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(Object.fromEntries(totals)).toEqual({
      s: {
        branches: 2,
        usage: [{ ...used, replies: 2, inputTokens: 20, outputTokens: 4, costUsd: 1, recordedReplies: 2 }],
        inheritedUsage: [],
        inheritedEntries: 0,
      },
      f: {
        branches: 1,
        usage: [],
        inheritedUsage: [{ ...used, replies: 1, inputTokens: 10, outputTokens: 2, costUsd: 0.5, recordedReplies: 1 }],
        inheritedEntries: 2,
      },
      none: { branches: 0, usage: [], inheritedUsage: [], inheritedEntries: 0 },
    });
  });
});
