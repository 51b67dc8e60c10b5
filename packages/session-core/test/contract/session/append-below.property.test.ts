import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { userMessage } from "../../../src/entry/builders.js";
import { EntryConflictError, EntryNotFoundError, InvalidEntryError, InvalidReferenceError } from "../../../src/errors/session-errors.js";
import type { Write } from "../../../src/port/writes.js";
import type { Session } from "../../../src/session/session.js";
import { childNames, contextNames, entryNamed, follow, grow, pathNames, plant, treeNames } from "../../world/grow.js";
import { findingsOf, lastingPlace, openedStore } from "../../world/stores.js";
import { steps, TreeModel } from "../../world/tree-model.js";

function below(parentId: string | null, word: string): Write {
  return { kind: "entry", entry: entryNamed(word), parentId };
}

function atLeaf(word: string): Write {
  return { kind: "entry", entry: entryNamed(word) };
}

describe("appending below a given parent", () => {
  test("makes the entry a child of that parent and leaves the leaf where it is", async () => {
    const { session } = await grow("u1 a1 u2 a2");
    await session.append(entryNamed("u3"), { parentId: "a1" });
    expect(await childNames(session, "a1")).toBe("u2 u3");
    expect(session.leafId).toBe("a2");
    expect(await session.refresh()).toBe("a2");
    expect(await pathNames(session, "u3")).toBe("u1 a1 u3");
  });

  test("with null makes a first entry", async () => {
    const { session } = await grow("u1 a1");
    await session.append(entryNamed("u2"), { parentId: null });
    expect(await childNames(session, null)).toBe("u1 u2");
    expect(session.leafId).toBe("a1");
  });

  test("below the leaf itself does not move the leaf either, so that the next append is a sibling", async () => {
    const { session } = await grow("u1");
    await session.append(entryNamed("a1"), { parentId: "u1" });
    await session.append(entryNamed("a2"));
    expect(await childNames(session, "u1")).toBe("a1 a2");
  });

  test("adds no leaf move, so that an undo undoes the last move that a person made", async () => {
    const { session } = await grow("u1 a1 u2 @a1 u3");
    await session.append(entryNamed("u4"), { parentId: "u1" });
    expect(await session.leafMoves()).toHaveLength(1);
    expect(await session.undoMove()).toBe(true);
    expect(session.leafId).toBe("u2");
    await session.append(entryNamed("u5"), { parentId: "u3" });
    expect(await session.redoMove()).toBe(true);
    expect(session.leafId).toBe("u3");
  });

  test("is no conflict where another writer has moved the leaf, and causes none for that writer", async () => {
    const { store, session } = await grow("u1 a1");
    const other = await store.openSession(session.id);
    await other.append(entryNamed("u2"));
    await session.append(entryNamed("u3"), { parentId: "a1" });
    await other.append(entryNamed("u4"));
    expect(await pathNames(other)).toBe("u1 a1 u2 u4");
    // The handle that has not seen the move still detects it in its next append at the leaf.
    await expect(session.append(entryNamed("u5"))).rejects.toMatchObject({ code: "LEAF_MOVED" });
  });

  test("still demands the leaf that `expectedLeafId` names", async () => {
    const { session } = await grow("u1 a1");
    const append = session.append(entryNamed("u2"), { parentId: "u1", expectedLeafId: "u1" });
    await expect(append).rejects.toMatchObject({ code: "LEAF_MOVED" });
    expect(await treeNames(session)).toBe(">u1 u1>a1");
  });

  test("applies the settings and the compaction of that parent, not of the leaf", async () => {
    const { session } = await grow("u1 m1 a1 u2 a2 c1:u2 m2");
    await session.append(entryNamed("u3"), { parentId: "a1" });
    expect(await contextNames(session, "u3")).toBe("u1 a1 u3");
    expect((await session.settings("u3")).model).toEqual({ provider: "p", modelId: "m1" });
    await session.append(entryNamed("u4"), { parentId: "m2" });
    expect(await contextNames(session, "u4")).toBe("c1 u2 a2 u4");
  });

  test("refuses a reference to an entry that is not on the path of that parent", async () => {
    const { session } = await grow("u1 a1 u2 a2");
    const append = session.append(entryNamed("c1:u2"), { parentId: "a1" });
    await expect(append).rejects.toBeInstanceOf(InvalidReferenceError);
  });

  test("refuses an unknown parent", async () => {
    const { session } = await grow("u1");
    await expect(session.append(entryNamed("a1"), { parentId: "nowhere" })).rejects.toBeInstanceOf(EntryNotFoundError);
    expect(await treeNames(session)).toBe(">u1");
  });

  test("refuses a parent of another session", async () => {
    const { store, session } = await grow("u1");
    const other = await grow("u2", { store });
    await expect(session.append(entryNamed("a1"), { parentId: "u2" })).rejects.toBeInstanceOf(EntryNotFoundError);
    expect(await treeNames(other.session)).toBe(">u2");
  });
});

describe("repeating an append below a parent", () => {
  test("writes nothing and is no error", async () => {
    const { session } = await grow("u1 a1 u2");
    const first = await session.append(entryNamed("u3"), { parentId: "a1" });
    await session.append(entryNamed("u4"), { parentId: "u3" });
    expect(await session.append(entryNamed("u3"), { parentId: "a1" })).toEqual(first);
    expect((await session.record()).entryCount).toBe(5);
  });

  test("refuses other content, and another parent", async () => {
    const { session } = await grow("u1 a1 u2");
    await session.append(entryNamed("u3"), { parentId: "a1" });
    const elsewhere = session.append(entryNamed("u3"), { parentId: "u1" });
    await expect(elsewhere).rejects.toThrow(EntryConflictError);
    await expect(elsewhere).rejects.toThrow("has an entry u3 that is not below u1");
    await expect(session.append(entryNamed("u3"), { parentId: null })).rejects.toThrow("that is not a first entry");
    await expect(session.append({ ...userMessage("other"), id: "u3" }, { parentId: "a1" })).rejects.toThrow("with other content");
  });
});

describe("a batch with entries below given parents", () => {
  test("can use an entry of the same batch as a parent", async () => {
    const { session } = await grow("u1");
    await session.write([below("u1", "a1"), below("a1", "u2"), below("a1", "u3")]);
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2 a1>u3");
    expect(session.leafId).toBe("u1");
  });

  test("continues the line of the leaf as if they were not there", async () => {
    const { session } = await grow("u1");
    await session.write([below("u1", "d1"), atLeaf("a1"), below("u1", "d2"), atLeaf("u2"), below(null, "d3")]);
    expect(await pathNames(session)).toBe("u1 a1 u2");
    expect(await treeNames(session)).toBe(">u1 u1>d1 u1>a1 u1>d2 a1>u2 >d3");
  });

  test("is written as a whole or not at all", async () => {
    const { session } = await grow("u1");
    await expect(session.write([below("u1", "a1"), atLeaf("a2"), below("nowhere", "u2")])).rejects.toBeInstanceOf(EntryNotFoundError);
    expect(await treeNames(session)).toBe(">u1");
  });

  test("keeps its parents where it has to wait for a write before it", async () => {
    const { session } = await grow("u1 a1 u2");
    await Promise.all([session.append(entryNamed("u3")), session.write([below("a1", "u4"), below(null, "u5")])]);
    expect(await childNames(session, "a1")).toBe("u2 u4");
    expect(await childNames(session, null)).toBe("u1 u5");
  });
});

describe("moving another leaf in a batch", () => {
  test("moves that leaf, and the batch goes on below its own", async () => {
    const { store, session } = await grow("u1 a1 u2");
    const worker = await store.openSession(session.id, { leaf: "worker" });
    await session.write([{ kind: "moveLeaf", to: "u1", leaf: "worker" }, atLeaf("a2")]);
    expect(await worker.refresh()).toBe("u1");
    expect(await pathNames(session)).toBe("u1 a1 u2 a2");
    expect(await worker.undoMove()).toBe(true);
    expect(worker.leafId).toBe("u2");
    expect(await session.leafMoves()).toEqual([]);
  });

  test("creates the leaf if it is missing, at an entry of the batch too", async () => {
    const { session } = await grow("u1");
    await session.write([below("u1", "a1"), { kind: "moveLeaf", to: "a1", leaf: "worker" }]);
    expect(await session.leaves()).toEqual([
      { name: "main", entryId: "u1" },
      { name: "worker", entryId: "a1" },
    ]);
  });

  test("refuses a name that no leaf can have", async () => {
    const { session } = await grow("u1");
    await expect(session.write([{ kind: "moveLeaf", to: "u1", leaf: "a\nb" }])).rejects.toBeInstanceOf(InvalidEntryError);
  });

  test("with the name of its own leaf is the same as without a name", async () => {
    const { session } = await grow("u1 a1");
    await session.write([{ kind: "moveLeaf", to: "u1", leaf: "main" }, atLeaf("a2")]);
    expect(await pathNames(session)).toBe("u1 a2");
  });
});

describe("any tree grown by given parents", () => {
  // Each number chooses the parent among the entries before it; 0 makes a first entry.
  const parents = fc.array(fc.nat(60), { maxLength: 40, size: "max" });

  test("is the tree that moves of the leaf would have grown, and the handle's context stays that of its leaf", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(parents, async (choices) => {
        const grown = await grow("u0 a0", { store });
        const moved = await grow("u0 a0", { store });
        const ids = ["u0", "a0"];
        for (const [at, choice] of choices.entries()) {
          const parentId = choice === 0 ? null : (ids[choice % ids.length] ?? null);
          const word = `${"uanmd"[choice % 5]}${at + 1}`;
          await grown.session.append(entryNamed(word), { parentId });
          await plant(moved.session, `@${parentId ?? ""} ${word}`);
          ids.push(word);
          if (at % 7 === 0) expect(await contextNames(grown.session)).toBe("u0 a0");
        }
        expect(await treeNames(grown.session)).toBe(await treeNames(moved.session));
        for (const id of ids) {
          expect(await contextNames(grown.session, id)).toBe(await contextNames(moved.session, id));
          expect(await grown.session.settings(id)).toEqual(await moved.session.settings(id));
        }
        expect(await grown.session.refresh()).toBe("a0");
        expect(await grown.session.leafMoves()).toEqual([]);
      }),
      { numRuns: runs(25) },
    );
    expect(await findingsOf(store)).toEqual([]);
  });
});

describe("appends below given parents between the steps of a person", () => {
  test("change no leaf, no move to undo or redo, and no context of the person's handle", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, fc.array(fc.nat(60), { minLength: 40, maxLength: 40 }), async (taken, places) => {
        const [plain, other] = [await grow("", { store }), await grow("", { store })];
        const host = await store.openSession(other.session.id);
        const [model, same] = [new TreeModel(), new TreeModel()];
        for (const [at, step] of taken.entries()) {
          await follow(plain.session, model, step);
          await follow(other.session, same, step);
          const ids = [...same.parents.keys()];
          await host.append(entryNamed(`d${1000 + at}`), { parentId: ids[(places[at] ?? 0) % (ids.length + 1)] ?? null });
          expect(other.session.leafId).toBe(plain.session.leafId);
          if (at % 5 === 0) expect((await other.session.context()).messages).toEqual((await plain.session.context()).messages);
        }
        const moves = (session: Session) => session.leafMoves().then((all) => all.map(({ from, to, state }) => ({ from, to, state })));
        expect(await moves(other.session)).toEqual(await moves(plain.session));
        expect(await pathNames(other.session)).toBe(await pathNames(plain.session));
        expect(await contextNames(other.session)).toBe(await contextNames(plain.session));
      }),
      { numRuns: runs(30) },
    );
    expect(await findingsOf(store)).toEqual([]);
  });

  test("of two handles at once conflict with neither", async () => {
    const place = lastingPlace();
    const { session } = await grow("u0", { store: await openedStore(place) });
    const host = await (await openedStore(place)).openSession(session.id);
    const numbers = Array.from({ length: 40 }, (_, at) => at + 1);
    await Promise.all(
      numbers.flatMap((at) => [session.append(entryNamed(`u${at}`)), host.append(entryNamed(`d${at}`), { parentId: "u0" })]),
    );
    expect(await pathNames(session)).toBe(["u0", ...numbers.map((at) => `u${at}`)].join(" "));
    expect((await session.tree.children("u0")).length).toBe(41);
  });
});
