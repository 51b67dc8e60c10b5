import { describe, expect, test } from "vitest";
import { EntryNotFoundError } from "../../../src/errors/session-errors.js";
import { openStore } from "../../../src/store/open-store.js";
import { childNames, entryNamed, grow, names, pathNames, treeNames } from "../../world/grow.js";
import { findingsOf, lastingPlace, openedStore } from "../../world/stores.js";

describe("going back to an earlier entry", () => {
  test("makes the next append its child, a sibling of the branch left behind", async () => {
    const { session } = await grow("u1 a1 u2 a2 @a1 u3");
    expect(await pathNames(session)).toBe("u1 a1 u3");
    expect(await childNames(session, "a1")).toBe("u2 u3");
  });

  test("leaves the branch left behind whole", async () => {
    const { session } = await grow("u1 a1 u2 a2 @a1 u3");
    expect(await pathNames(session, "a2")).toBe("u1 a1 u2 a2");
  });

  test("before the first entry starts another first branch", async () => {
    const { session } = await grow("u1 a1 @ u2");
    expect(await childNames(session, null)).toBe("u1 u2");
    expect(await pathNames(session)).toBe("u2");
    expect(await session.entry("u2")).toMatchObject({ parentId: null });
  });

  test("to an entry of any type is allowed", async () => {
    const { session } = await grow("u1 m1 h1 s1 n1 d1 k1 r1:k1 c1:u1 b1 x1:u1");
    for (const { id } of await session.path()) {
      await session.moveLeaf(id);
      expect(session.leafId).toBe(id);
    }
  });

  test("to an entry that is not there moves nothing", async () => {
    const { session } = await grow("u1 a1");
    await expect(session.moveLeaf("zz")).rejects.toThrow(EntryNotFoundError);
    expect(await session.refresh()).toBe("a1");
  });

  test("is on disk at once: reopened, the session stands there without an append", async () => {
    const place = lastingPlace();
    const store = await openStore(place);
    const { session } = await grow("u1 a1 u2", { store });
    await session.moveLeaf("u1");
    await store.close();
    const again = await (await openedStore(place)).openSession(session.id);
    expect(again.leafId).toBe("u1");
  });

  test("costs one row: nothing is copied", async () => {
    const { session } = await grow("u1 a1 u2 a2");
    await session.moveLeaf("u1");
    await session.append(entryNamed("a3"));
    expect((await session.record()).entryCount).toBe(5);
  });
});

describe("undoing a move", () => {
  test("puts the leaf back to where it stood", async () => {
    const { session } = await grow("u1 a1 u2 @u1");
    expect(await session.undoMove()).toBe(true);
    expect(session.leafId).toBe("u2");
  });

  test("keeps what was appended since on its branch, and a redo comes back to its end", async () => {
    const { session } = await grow("u1 a1 u2 @u1 a3 u3");
    await session.undoMove();
    expect(session.leafId).toBe("u2");
    await session.redoMove();
    expect(session.leafId).toBe("u3");
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2 u1>a3 a3>u3");
  });

  test("goes back move by move, and says when none is left", async () => {
    const { session } = await grow("u1 a1 u2 @a1 @u1 @");
    const stands = [];
    while (await session.undoMove()) stands.push(session.leafId);
    expect(stands).toEqual(["u1", "a1", "u2"]);
    while (await session.redoMove()) stands.push(session.leafId);
    expect(stands.slice(3)).toEqual(["a1", "u1", null]);
    expect(await session.redoMove()).toBe(false);
  });

  test("is followed by a new move: what was undone can no longer be redone", async () => {
    const { session } = await grow("u1 a1 u2 @a1 @u1");
    await session.undoMove();
    await session.moveLeaf("u2");
    expect(await session.redoMove()).toBe(false);
    await session.undoMove();
    expect(session.leafId).toBe("a1");
  });

  test("works after the store was closed: the log of moves is kept", async () => {
    const place = lastingPlace();
    const store = await openStore(place);
    const { session } = await grow("u1 a1 @u1", { store });
    await store.close();
    const again = await (await openedStore(place)).openSession(session.id);
    expect(await again.undoMove()).toBe(true);
    expect(again.leafId).toBe("a1");
  });

  test("of a leaf that was put where it stands already has nothing to undo", async () => {
    const { session } = await grow("u1 a1 @a1");
    expect(await session.undoMove()).toBe(false);
  });

  test("is told by the log, newest first", async () => {
    const { session } = await grow("u1 a1 @u1 @");
    await session.undoMove();
    expect(await session.leafMoves()).toMatchObject([
      { from: "u1", to: null, state: "undone" },
      { from: "a1", to: "u1", state: "done" },
    ]);
    expect(await session.leafMoves(1)).toHaveLength(1);
  });
});

describe("named leaves", () => {
  test("let two agents grow two branches of one tree at once", async () => {
    const { store, session } = await grow("u1 a1");
    const reviewer = await store.openSession(session.id, { leaf: "reviewer" });
    await session.append(entryNamed("u2"));
    await reviewer.append(entryNamed("u3"));
    await session.append(entryNamed("a2"));
    await reviewer.append(entryNamed("a3"));
    expect(await pathNames(session)).toBe("u1 a1 u2 a2");
    expect(await pathNames(reviewer)).toBe("u1 a1 u3 a3");
    expect(await session.leaves()).toEqual([
      { name: "main", entryId: "a2" },
      { name: "reviewer", entryId: "a3" },
    ]);
  });

  test("start where main stands, and stay where they were when opened again", async () => {
    const { store, session } = await grow("u1 a1");
    await store.openSession(session.id, { leaf: "other" });
    await session.append(entryNamed("u2"));
    expect((await store.openSession(session.id, { leaf: "other" })).leafId).toBe("a1");
  });

  test("have moves of their own to undo", async () => {
    const { store, session } = await grow("u1 a1 @u1");
    const other = await store.openSession(session.id, { leaf: "other" });
    expect(await other.undoMove()).toBe(false);
    await other.moveLeaf("a1");
    expect(await other.undoMove()).toBe(true);
    expect(session.leafId).toBe("u1");
  });

  test("can be taken away, their entries stay; main cannot", async () => {
    const { store, session } = await grow("u1");
    const other = await store.openSession(session.id, { leaf: "other" });
    await other.append(entryNamed("a1"));
    await store.deleteLeaf(session.id, "other");
    expect(await session.leaves()).toEqual([{ name: "main", entryId: "u1" }]);
    expect(await childNames(session, "u1")).toBe("a1");
    await expect(other.append(entryNamed("u2"))).rejects.toMatchObject({ code: "LEAF_NOT_FOUND" });
    await expect(store.deleteLeaf(session.id, "other")).rejects.toMatchObject({ code: "LEAF_NOT_FOUND" });
    await expect(store.deleteLeaf(session.id, "main")).rejects.toMatchObject({ code: "MAIN_LEAF" });
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that are taken away and made again have nothing of the old one to undo", async () => {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id, { leaf: "other" });
    await other.moveLeaf("u1");
    await store.deleteLeaf(session.id, "other");
    const again = await store.openSession(session.id, { leaf: "other" });
    expect(await again.undoMove()).toBe(false);
    expect(await again.redoMove()).toBe(false);
  });

  test.each(["", " ", "two\nlines", " padded ", "\u001b[2J"])("cannot be named %j", async (leaf) => {
    const { store, session } = await grow("u1");
    await expect(store.openSession(session.id, { leaf })).rejects.toMatchObject({ code: "INVALID_ENTRY" });
    expect(await session.leaves()).toHaveLength(1);
  });
});

describe("when another writer moved the leaf", () => {
  async function twoWriters() {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id);
    await other.append(entryNamed("u2"));
    return { store, session, other };
  }

  test("an append is refused, and nothing is written", async () => {
    const { session } = await twoWriters();
    const append = session.append(entryNamed("u3"));
    await expect(append).rejects.toMatchObject({ code: "LEAF_MOVED", leafName: "main", expected: "a1", actual: "u2" });
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2");
  });

  test("it is refused again until the handle looks", async () => {
    const { session } = await twoWriters();
    await expect(session.append(entryNamed("u3"))).rejects.toMatchObject({ code: "LEAF_MOVED" });
    await expect(session.append(entryNamed("u3"))).rejects.toMatchObject({ code: "LEAF_MOVED" });
    expect(await session.refresh()).toBe("u2");
    await session.append(entryNamed("u3"));
    expect(await pathNames(session)).toBe("u1 a1 u2 u3");
  });

  test("`follow` appends under the new leaf", async () => {
    const { session } = await twoWriters();
    await session.append(entryNamed("u3"), { onConflict: "follow" });
    expect(await pathNames(session)).toBe("u1 a1 u2 u3");
  });

  test("`branch` appends under the old one, as a sibling, and an undo leads back to the other's branch", async () => {
    const { session } = await twoWriters();
    await session.append(entryNamed("u3"), { onConflict: "branch" });
    expect(await pathNames(session)).toBe("u1 a1 u3");
    expect(await childNames(session, "a1")).toBe("u2 u3");
    await session.undoMove();
    expect(session.leafId).toBe("u2");
    await session.redoMove();
    expect(session.leafId).toBe("u3");
  });

  test("`branch` drops what could be redone, as every move does", async () => {
    const { session, other } = await twoWriters();
    await other.moveLeaf("u1");
    await other.undoMove();
    await session.append(entryNamed("u3"), { onConflict: "branch" });
    expect(await session.redoMove()).toBe(false);
  });

  test("nothing else is refused: labels, values and moves say where they go", async () => {
    const { session } = await twoWriters();
    await session.labels.set("u1", "start");
    await session.values.set("k", 1);
    await expect(session.append(entryNamed("u3"))).rejects.toMatchObject({ code: "LEAF_MOVED" });
    await session.moveLeaf("u1");
    expect(session.leafId).toBe("u1");
    await session.undoMove();
    expect(session.leafId).toBe("u2");
  });

  test("the first of two appends of the same parent wins, the second is told", async () => {
    const { store, session } = await grow("u1");
    const other = await store.openSession(session.id);
    const both = await Promise.allSettled([session.append(entryNamed("a1")), other.append(entryNamed("a2"))]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await session.record()).entryCount).toBe(2);
  });
});

describe("where branches meet and end", () => {
  const TREE = "u1 a1 u2 a2 @a1 u3 @ u4 a4";

  test("branch points are the entries with more than one child", async () => {
    const { session } = await grow(TREE);
    expect(names(await session.tree.branchPoints())).toBe("a1");
  });

  test("tips are the entries without a child", async () => {
    const { session } = await grow(TREE);
    expect(names(await session.tree.tips())).toBe("a2 u3 a4");
  });

  test("siblings are the other children of the parent, also of a first entry", async () => {
    const { session } = await grow(TREE);
    expect(names(await session.tree.siblings("u2"))).toBe("u3");
    expect(names(await session.tree.siblings("u1"))).toBe("u4");
    expect(names(await session.tree.siblings("a2"))).toBe("");
  });

  test.each([
    ["a2", "u3", "a1"],
    ["u1", "a2", "u1"],
    ["a2", "a2", "a2"],
    ["a2", "a4", null],
  ])("the common ancestor of %s and %s is %s", async (a, b, ancestor) => {
    const { session } = await grow(TREE);
    expect(await session.tree.commonAncestor(a, b)).toBe(ancestor);
    expect(await session.tree.commonAncestor(b, a)).toBe(ancestor);
  });

  test("an unknown entry has none of these", async () => {
    const { session } = await grow(TREE);
    for (const ask of [
      () => session.tree.children("zz"),
      () => session.tree.siblings("zz"),
      () => session.tree.commonAncestor("zz", "u1"),
      () => session.entry("zz"),
    ])
      await expect(ask()).rejects.toThrow(EntryNotFoundError);
  });
});
