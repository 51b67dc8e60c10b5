import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { assistantMessage } from "../../../src/entry/builders.js";
import type { Session } from "../../../src/session/session.js";
import { childNames, contextNames, entryNamed, follow, grow, names, pathNames, plant, treeNames } from "../../world/grow.js";
import { collected, findingsOf, openedStore, raw, storePath } from "../../world/stores.js";
import { steps, TreeModel } from "../../world/tree-model.js";

/** All that a session holds, without row numbers. */
async function contentOf(session: Session) {
  const rows = await session.tree.outline();
  const idOf = new Map(rows.map(({ seq, id }) => [seq, id]));
  const ids = rows.map(({ id }) => id);
  const paths = await Promise.all(
    ids.map(async (id) => ({
      path: await pathNames(session, id),
      context: await session.context({ leafId: id }),
      settings: await session.settings(id),
      files: await session.fileOperations({ toId: id }),
    })),
  );
  return {
    entries: (await collected(session.entries())).map(({ seq: _, ...entry }) => entry),
    outline: rows.map(({ seq: _, parentSeq, ...row }) => ({ ...row, parent: idOf.get(parentSeq ?? 0) })),
    paths,
    tips: names(await session.tree.tips()),
    branchPoints: names(await session.tree.branchPoints()),
    leaves: await session.leaves(),
    labels: await session.labels.list(),
    values: await session.values.list(),
    counts: [...(await session.tokenCounts.get("c", ids))],
  };
}

describe("a fork of a whole tree", () => {
  test("has all branches with their ids, and all leaves", async () => {
    const { store, session } = await grow("u1 a1 u2 @a1 u3 a3 @u1");
    await (await store.openSession(session.id, { leaf: "worker" })).moveLeaf("u2");
    const fork = await store.forkSession(session.id, { tree: true });
    expect(await treeNames(fork)).toBe(">u1 u1>a1 a1>u2 a1>u3 u3>a3");
    expect(fork.leafId).toBe("u1");
    expect(await fork.leaves()).toEqual(await session.leaves());
    expect(await fork.record()).toMatchObject({
      parent: { sessionId: session.id, entryId: "u1" },
      entryCount: 5,
      messageCount: 5,
      firstText: "u1",
    });
  });

  test("begins at another entry with `at`", async () => {
    const { store, session } = await grow("u1 a1 u2 @a1 u3");
    const fork = await store.forkSession(session.id, { tree: true, at: "u2" });
    expect(fork.leafId).toBe("u2");
    expect(await treeNames(fork)).toBe(await treeNames(session));
    await expect(store.forkSession(session.id, { tree: true, at: "nowhere" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });

  test("and its source change apart from each other", async () => {
    const { store, session } = await grow("u1 a1");
    const fork = await store.forkSession(session.id, { tree: true });
    await plant(fork, "u2 @u1 a2");
    await plant(session, "u9");
    expect(await treeNames(fork)).toBe(">u1 u1>a1 a1>u2 u1>a2");
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u9");
    await fork.labels.set("u1", "fork");
    expect(await session.labels.list()).toEqual([]);
    await store.deleteSession(session.id);
    expect(await contextNames(fork)).toBe("u1 a2");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("keeps the branch that a branch summary tells of", async () => {
    const { store, session } = await grow("u1 a1 u2 @a1 b1:u2");
    const fork = await store.forkSession(session.id, { tree: true });
    expect(await fork.entry("b1")).toMatchObject({ fromId: "u2", parentId: "a1" });
    expect(await fork.entry("b1")).not.toHaveProperty("originalFromId");
  });

  test("has the values, small and large, unless they are not wanted", async () => {
    const { store, session } = await grow("u1");
    await session.values.set("a", 1);
    await session.values.set("b", "x".repeat(100_000));
    const without = ({ key, value }: { key: string; value: unknown }) => ({ key, value });
    const values = (await session.values.list()).map(without);
    const fork = await store.forkSession(session.id, { tree: true });
    expect((await fork.values.list()).map(without)).toEqual(values);
    await fork.values.set("b", 2);
    expect((await session.values.list()).map(without)).toEqual(values);
    expect(await (await store.forkSession(session.id, { tree: true, values: false })).values.list()).toEqual([]);
    expect(await (await store.forkSession(session.id)).values.list()).toEqual([]);
    expect((await (await store.forkSession(session.id, { values: true })).values.list()).map(without)).toEqual(values);
  });

  test("has the title, directory and metadata of its source unless others are given", async () => {
    const { store, session } = await grow("u1", { session: { title: "Parser", cwd: "/p", metadata: { owner: "u7" } } });
    const fork = await store.forkSession(session.id, { tree: true });
    expect(await fork.record()).toMatchObject({ title: "Parser, fork 1", cwd: "/p", metadata: { owner: "u7" } });
    const other = await store.forkSession(session.id, { tree: true, title: "Other", cwd: "/q", metadata: { owner: "u8" } });
    expect(await other.record()).toMatchObject({ title: "Other", cwd: "/q", metadata: { owner: "u8" } });
    const owned = await store.listSessions({ metadata: { owner: "u7" } });
    expect(owned.items.map(({ id }) => id).sort()).toEqual([session.id, fork.id].sort());
  });

  test("counts the usage of its replies as inherited, also in a fork of it, and that of new replies as its own", async () => {
    const { store, session } = await grow("u1");
    const reply = (id: string) => ({ ...assistantMessage("x", { model: "m", usage: { input: 10, output: 5 } }), id });
    await session.append(reply("a1"));
    const fork = await store.forkSession(session.id, { tree: true });
    await fork.append(reply("a2"));
    const second = await store.forkSession(fork.id, { tree: true });
    expect((await fork.statistics()).usage).toMatchObject([{ replies: 1, inputTokens: 10 }]);
    expect((await fork.statistics()).inheritedUsage).toMatchObject([{ replies: 1, inputTokens: 10 }]);
    expect((await second.statistics()).usage).toEqual([]);
    expect((await second.statistics()).inheritedUsage).toMatchObject([{ replies: 2, inputTokens: 20 }]);
    expect((await store.statistics()).usage).toMatchObject([{ replies: 2, inputTokens: 20 }]);
  });

  test("is found by search, before and after the index has caught up", async () => {
    const { store, session } = await grow("u1 a1 @u1 a2");
    await store.catchUpSearch();
    const fork = await store.forkSession(session.id, { tree: true });
    expect((await fork.search({ query: "a2" })).hits).toMatchObject([{ sessionId: fork.id, entryId: "a2" }]);
    expect(await store.catchUpSearch()).toBe(0);
    expect((await fork.search({ query: "a2" })).hits).toMatchObject([{ sessionId: fork.id, entryId: "a2" }]);
    expect(await store.search({ query: "a2" })).toMatchObject({
      total: 1,
      hits: [{ sessionId: session.id, copies: [{ sessionId: fork.id, entryId: "a2" }] }],
    });
  });

  test("keeps what a person kept out of the context out of searches", async () => {
    const { store, session } = await grow("u1");
    const message = { role: "bashExecution", command: "echo secretzebra", output: "secretzebra", excludeFromContext: true } as const;
    await session.append({ type: "message", message });
    const fork = await store.forkSession(session.id, { tree: true });
    expect((await fork.search({ query: "secretzebra" })).total).toBe(0);
    await store.catchUpSearch();
    expect((await fork.search({ query: "secretzebra" })).total).toBe(0);
    expect((await fork.search({ query: "secretzebra", includePrivate: true })).total).toBe(1);
  });

  test("does not undo what was moved in its source", async () => {
    const { store, session } = await grow("u1 a1 @u1");
    const fork = await store.forkSession(session.id, { tree: true });
    expect(await fork.undoMove()).toBe(false);
    expect(await fork.leafMoves()).toEqual([]);
  });

  test("of an empty session is empty, and can be written to", async () => {
    const { store, session } = await grow("");
    const fork = await store.forkSession(session.id, { tree: true });
    await fork.append(entryNamed("u1"));
    expect(await treeNames(fork)).toBe(">u1");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("is made with its first writes in one transaction, or not at all", async () => {
    const { store, session } = await grow("u1 a1");
    const writes = [
      { kind: "entry", entry: entryNamed("u2") } as const,
      { kind: "value", key: "run", value: 2, ifEquals: undefined } as const,
    ];
    const fork = await store.forkSession(session.id, { tree: true, writes });
    expect(await pathNames(fork)).toBe("u1 a1 u2");
    expect(await fork.values.get("run")).toBe(2);
    const failing = store.forkSession(session.id, {
      tree: true,
      id: "failed",
      writes: [{ kind: "label", entryId: "nowhere", label: "x" }],
    });
    await expect(failing).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    expect(await store.findSession("failed")).toBeUndefined();
    expect(await pathNames(await store.forkSession(session.id, { at: "u1", writes }))).toBe("u1 u2");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("copies payloads that are packed, those that are not, and every column of an entry", async () => {
    const path = storePath();
    const { store, session } = await grow("u1 a1 k1 d1", { store: await openedStore({ path }) });
    await plant((await grow("u1", { store })).session, "a1 u2");
    await plant(session, "r1:k1 c1:a1 n1");
    await store.pack({ scope: "all" });
    await plant(session, "u2 x1:a1 @u1 a3");
    const fork = await store.forkSession(session.id, { tree: true });
    expect((await contentOf(fork)).entries).toEqual((await contentOf(session)).entries);
    const [one, other] = raw(path, (file) =>
      [session.id, fork.id].map((id) =>
        file
          .prepare("SELECT * FROM entry WHERE session_seq = (SELECT seq FROM session WHERE id = ?) ORDER BY seq")
          .all(id)
          .map((row) => withoutRowNumbers(row as Record<string, unknown>)),
      ),
    );
    // A copy refers to its original.
    expect(other).toEqual(one?.map((row) => ({ ...row, origin: `${session.id} ${row["id"]}` })));
    expect(await findingsOf(store)).toEqual([]);
  });

  test("is equal to its source, whatever the tree, and both verify", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(40), fc.boolean(), async (taken, at, packs) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        for (const [index, step] of taken.entries()) {
          await follow(session, model, step);
          if (index === at) await grow("u1 a1", { store });
        }
        const ids = [...model.parents.keys()];
        const marked = ids[at % Math.max(1, ids.length)];
        if (marked !== undefined) {
          await session.labels.set(marked, "mark");
          await session.tokenCounts.save("c", new Map([[marked, at]]));
          await (await store.openSession(session.id, { leaf: "worker" })).moveLeaf(marked);
        }
        if (packs) await store.pack({ scope: "all" });
        const fork = await store.forkSession(session.id, { tree: true });
        expect(await contentOf(fork)).toEqual(await contentOf(session));
        const next = await fork.append(entryNamed("u999"));
        expect(await childNames(fork, session.leafId)).toContain(next.id);
      }),
      { numRuns: runs(40) },
    );
    expect(await findingsOf(store)).toEqual([]);
  });
});

/** A row of `entry` with the distance to the entries that it refers to, instead of their row numbers. */
function withoutRowNumbers(row: Record<string, unknown>): Record<string, unknown> {
  const seq = Number(row["seq"]);
  const relative = Object.entries(row).map(([name, value]) => [
    name,
    name.endsWith("_seq") && value !== null ? seq - Number(value) : value,
  ]);
  return { ...Object.fromEntries(relative), seq: 0, session_seq: 0, inherited: 0 };
}
