import type { ImportProblem, Session } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import { describe, expect, test } from "vitest";
import { contextNames, entryNamed, grow, pathNames, treeNames } from "../../../../session-core/test/world/grow.js";
import { findingsOf, openedStore } from "../../../../session-core/test/world/stores.js";
import { imported, sourceOf } from "../../world/sources.js";

const label = (entryId: string, text: string | null): SourceRecord => ({ kind: "label", entryId, label: text, createdAtMs: 7 });
const leaf = (entryId: string | null, name = "main"): SourceRecord => ({ kind: "leaf", name, entryId });
const title = (text: string, source: "user" | "auto" = "auto"): SourceRecord => ({ kind: "title", title: text, source });

describe("importing a session", () => {
  test("brings its whole tree, its marks and where it came from", async () => {
    const store = await openedStore();
    const marks = [label("a1", "good"), title("Parser"), leaf("a1", "other"), leaf("u3"), { kind: "value", key: "k", value: [1] } as const];
    const result = await imported(store, sourceOf("u1 a1 u2 a1>u3", marks, { cwd: "/p", metadata: { v: 3 } }));
    expect(result).toEqual({
      sessionId: "s",
      claimedId: "s",
      outcome: "created",
      entriesAdded: 4,
      entriesKnown: 0,
      foreignAdded: 0,
      recordsMerged: 0,
      problems: [],
      problemCount: 0,
      problemCounts: {},
      heldUntilMs: null,
      leafKept: null,
    });
    const session = await store.openSession("s");
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u2 a1>u3");
    expect(session.leafId).toBe("u3");
    expect(await session.leaves()).toContainEqual({ name: "other", entryId: "a1" });
    expect(await session.labels.list()).toEqual([{ entryId: "a1", label: "good", createdAtMs: 7 }]);
    expect(await session.values.get("k")).toEqual([1]);
    expect(await session.record()).toMatchObject({
      title: "Parser",
      titleSource: "auto",
      cwd: "/p",
      metadata: { v: 3 },
      source: { format: "test", path: "/sessions/s.jsonl", id: "s" },
    });
    expect((await session.entry("a1")).createdAtMs).toBe(1_001);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that names itself as the session before it has none", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1", [], { parent: { sessionId: "s", entryId: "u1" } }));
    const session = await store.openSession("s");
    expect((await session.record()).parent).toBeNull();
    expect(await findingsOf(store)).toEqual([]);
  });

  test("stands at the last entry where the source says nothing of a leaf", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1 u2"));
    expect((await store.openSession("s")).leafId).toBe("u2");
  });

  test("again adds nothing and moves nothing", async () => {
    const store = await openedStore();
    const source = sourceOf("u1 a1 u2 a1>u3", [label("a1", "x"), leaf("u2")]);
    await imported(store, source);
    const before = await (await store.openSession("s")).record();
    expect(await imported(store, source)).toMatchObject({ sessionId: "s", outcome: "unchanged", entriesAdded: 0, entriesKnown: 4 });
    expect(await (await store.openSession("s")).record()).toEqual(before);
  });

  test("after it grew adds what is new, and the leaf goes on along its own path", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1"));
    expect(await imported(store, sourceOf("u1 a1 u2 a2"))).toMatchObject({ outcome: "extended", entriesAdded: 2, entriesKnown: 2 });
    expect(await pathNames(await store.openSession("s"))).toBe("u1 a1 u2 a2");
  });

  test("leaves the leaf below entries that a person appended meanwhile, and tells where the new end is", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1"));
    const session = await store.openSession("s");
    await session.append(entryNamed("u9"));
    const result = await imported(store, sourceOf("u1 a1 u2"));
    expect(await session.refresh()).toBe("u9");
    expect(await treeNames(session)).toBe(">u1 u1>a1 a1>u9 a1>u2");
    expect(result.leafKept).toEqual({ leafId: "u9", endId: "u2", reason: "other-branch" });
  });

  describe("whose leaf a person has placed", () => {
    const grown = async (place: (session: Session) => Promise<unknown>) => {
      const store = await openedStore();
      await imported(store, sourceOf("u1 a1 u2 a2"));
      const session = await store.openSession("s");
      await place(session);
      const result = await imported(store, sourceOf("u1 a1 u2 a2 u3 a3"));
      await session.refresh();
      return { store, session, result };
    };

    test("does not move it, and every position stays within reach of undo and redo", async () => {
      const { session, result } = await grown((session) => session.moveLeaf("a1"));
      expect(session.leafId).toBe("a1");
      expect(result.leafKept).toEqual({ leafId: "a1", endId: "a3", reason: "placed" });
      await session.undoMove();
      expect(session.leafId).toBe("a2");
      await session.redoMove();
      expect(session.leafId).toBe("a1");
      await session.moveLeaf("a3");
      await session.undoMove();
      expect(session.leafId).toBe("a1");
      expect((await session.leafMoves()).map(({ from, to, state }) => `${from}>${to} ${state}`)).toEqual(["a1>a3 undone", "a2>a1 done"]);
    });

    /** `undo` and `redo`, else the entry to move to. */
    const move = async (session: Session, ...steps: readonly (string | null)[]) => {
      for (const step of steps) {
        if (step === "undo") await session.undoMove();
        else if (step === "redo") await session.redoMove();
        else await session.moveLeaf(step);
      }
    };

    test.each([
      ["before the first entry", [null], null],
      ["by a redo", ["a1", "undo", "redo"], "a1"],
      ["on the way back by an undo", ["a1", "u1", "undo"], "a1"],
    ])("does not move it: %s", async (_name, steps, place) => {
      const { session } = await grown((session) => move(session, ...steps));
      expect(session.leafId).toBe(place);
    });

    test("follows it at the old end, however it came there, and an undo leads to the place before", async () => {
      const { session, result } = await grown((session) => move(session, "a1", "a2"));
      expect([session.leafId, result.leafKept]).toEqual(["a3", null]);
      await session.undoMove();
      expect(session.leafId).toBe("a1");
      await session.redoMove();
      expect(session.leafId).toBe("a3");
    });

    test("stays there at each further import, also after an undo to the old end, which is the end no more", async () => {
      const { store, session } = await grown((session) => session.moveLeaf("a1"));
      await session.undoMove();
      await imported(store, sourceOf("u1 a1 u2 a2 u3 a3 u4"));
      expect(await session.refresh()).toBe("a2");
    });
  });

  test("replaces no title and no label that a person gave since", async () => {
    const store = await openedStore();
    const source = (text: string) => sourceOf("u1 a1", [label("u1", text), title(text)]);
    await imported(store, source("theirs"));
    const session = await store.openSession("s");
    await store.renameSession("s", "mine");
    await session.labels.set("u1", "mine");
    await imported(store, source("theirs again"));
    expect((await session.record()).title).toBe("mine");
    expect((await session.labels.list()).map(({ label: text }) => text)).toEqual(["mine"]);
  });

  test("leaves an entry without a label where the source took its label away", async () => {
    const store = await openedStore();
    const label = (text: string | null): SourceRecord => ({ kind: "label", entryId: "u1", label: text });
    for (let times = 0; times < 2; times++) await imported(store, sourceOf("u1 a1", [label("draft"), label(null)]));
    expect(await (await store.openSession("s")).labels.list()).toEqual([]);
  });

  test("takes over a newer automatic title, and marks that were not there", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1", [title("first")]));
    await imported(store, sourceOf("u1 a1", [title("second"), label("a1", "new"), { kind: "value", key: "k", value: 1 }]));
    const session = await store.openSession("s");
    expect((await session.record()).title).toBe("second");
    expect(await session.labels.list()).toHaveLength(1);
    expect(await session.values.get("k")).toBe(1);
  });

  test("fills a session that was made before and is empty", async () => {
    const { store } = await grow("", { session: { id: "s" } });
    expect(await imported(store, sourceOf("u1 a1"))).toMatchObject({ sessionId: "s", entriesAdded: 2 });
  });
});

describe("a source that claims the id of another session", () => {
  test("becomes a session of its own, and again the same one with nothing new", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1"));
    const other = sourceOf("u7 a7");
    const first = await imported(store, other);
    expect(first).toMatchObject({ claimedId: "s", outcome: "created", entriesAdded: 2 });
    expect(first.sessionId).not.toBe("s");
    expect(await imported(store, other)).toMatchObject({ sessionId: first.sessionId, outcome: "unchanged", entriesAdded: 0 });
    expect(await treeNames(await store.openSession("s"))).toBe(">u1 u1>a1");
    expect(await treeNames(await store.openSession(first.sessionId))).toBe(">u7 u7>a7");
  });

  test("with an entry of one id and other content leaves the first as it was", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1"));
    const differing = sourceOf("u1 a1 u2");
    const records = [...differing.records()].map((record) =>
      record.kind === "entry" && record.id === "a1" ? { ...record, payload: { type: "model_change", modelId: "m" } } : record,
    );
    const result = await imported(store, { ...differing, records: () => records });
    expect(result).toMatchObject({ claimedId: "s", outcome: "created", entriesAdded: 3 });
    expect(await treeNames(await store.openSession("s"))).toBe(">u1 u1>a1");
    expect(await imported(store, { ...differing, records: () => records })).toMatchObject({ sessionId: result.sessionId, entriesAdded: 0 });
    expect(await findingsOf(store)).toEqual([]);
  });

  test("with entries that are partly the same merges into it", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1 a1 u2"));
    expect(await imported(store, sourceOf("u1 a1 u3"))).toMatchObject({
      sessionId: "s",
      outcome: "extended",
      entriesAdded: 1,
      entriesKnown: 2,
    });
    expect(await treeNames(await store.openSession("s"))).toBe(">u1 u1>a1 a1>u2 a1>u3");
  });
});

describe("what a source has that does not fit", () => {
  test("a parent that is not there is reported, and the entry goes under the one before it", async () => {
    const store = await openedStore();
    const { problems } = await imported(store, sourceOf("u1 a1 zz>u2"));
    expect(problems).toMatchObject([{ code: "missing-parent", line: 4, path: "/sessions/s.jsonl" }]);
    expect(await pathNames(await store.openSession("s"))).toBe("u1 a1 u2");
  });

  test("a record that is no entry is kept whole as a foreign one, also the next time", async () => {
    const store = await openedStore();
    const odd = {
      kind: "entry",
      line: 9,
      id: "odd",
      parentId: "u1",
      createdAtMs: 5,
      payload: { type: "message", message: { role: "robot" } },
    } as const;
    const source = sourceOf("u1", [odd]);
    const first = await imported(store, source);
    expect(first).toMatchObject({ entriesAdded: 2, foreignAdded: 1, problems: [{ code: "invalid-record", line: 9 }] });
    expect(await (await store.openSession("s")).entry("odd")).toMatchObject({ type: "foreign", originalType: "message", raw: odd.payload });
    expect(await imported(store, source)).toMatchObject({ outcome: "unchanged", entriesAdded: 0 });
  });

  test.each([
    ["nested deeper than the store keeps", `${"[".repeat(700)}${"]".repeat(700)}`],
    ["nested deeper than a stack reaches", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["with a number beyond the range of JSON", "[1e999, -1e999]"],
  ])("a record %s is kept, with text in place of what cannot be", async (_what, json) => {
    const store = await openedStore();
    const payload = { type: "custom", customType: "odd", beside: "kept", data: JSON.parse(json) as unknown };
    const record: SourceRecord = { kind: "entry", line: 3, id: "d1", parentId: "u1", createdAtMs: 1, payload };
    const source = sourceOf("u1", [record]);
    expect(await imported(store, source)).toMatchObject({ entriesAdded: 2, problems: [{ code: "invalid-record" }] });
    const kept = await (await store.openSession("s")).entry("d1");
    expect(kept).toMatchObject({ type: "foreign", originalType: "custom", raw: { type: "custom", beside: "kept" } });
    expect(JSON.stringify(kept)).toMatch(/\[\[\[|"Infinity","-Infinity"/);
    expect(await imported(store, source)).toMatchObject({ outcome: "unchanged" });
  });

  test("a second record of one id with other content gets an id of its own, also the next time", async () => {
    const store = await openedStore();
    const twin = { kind: "entry", line: 9, id: "u1", parentId: "u1", createdAtMs: 5, payload: entryNamed("u5") } as const;
    const source = sourceOf("u1", [twin]);
    const first = await imported(store, source);
    expect(first).toMatchObject({ sessionId: "s", entriesAdded: 2, problems: [{ code: "duplicate-id", line: 9 }] });
    expect(await imported(store, source)).toMatchObject({ sessionId: "s", entriesAdded: 0 });
  });

  test("a record that is there twice is written once", async () => {
    const store = await openedStore();
    const again = { kind: "entry", line: 9, id: "u1", parentId: null, createdAtMs: 5, payload: entryNamed("u1") } as const;
    expect(await imported(store, sourceOf("u1 a1", [again]))).toMatchObject({ entriesAdded: 2, entriesKnown: 1, problemCount: 0 });
  });

  test("a compaction whose first kept entry is not on its path keeps nothing, and says so", async () => {
    const store = await openedStore();
    const source = sourceOf("u1 a1 u1>u2 c1:a1 u3");
    expect((await imported(store, source)).problems).toMatchObject([{ code: "missing-kept-entry" }]);
    const session = await store.openSession("s");
    expect(await contextNames(session)).toBe("c1 u3");
    expect(await session.entry("c1")).toMatchObject({ firstKeptEntryId: null, originalFirstKeptEntryId: "a1" });
    expect(await imported(store, source)).toMatchObject({ outcome: "unchanged", entriesAdded: 0 });
  });

  test("a branch summary may hint at an entry that is not there", async () => {
    const store = await openedStore();
    expect(await imported(store, sourceOf("u1 b1:gone"))).toMatchObject({ entriesAdded: 2, problemCount: 0 });
    expect(await (await store.openSession("s")).entry("b1")).toMatchObject({ fromId: null, originalFromId: "gone" });
  });

  test("a label of an entry that is not there is no label", async () => {
    const store = await openedStore();
    await imported(store, sourceOf("u1", [label("zz", "x")]));
    expect(await (await store.openSession("s")).labels.list()).toEqual([]);
  });

  test("problems beyond a thousand of one code are counted, not kept, and hide none of another code", async () => {
    const store = await openedStore();
    const problem = (code: ImportProblem["code"]) => ({ kind: "problem", problem: { code, path: "p", line: 1, message: "m" } }) as const;
    const many = Array.from({ length: 1_500 }, () => problem("missing-blob"));
    const few = Array.from({ length: 50 }, () => problem("malformed-line"));
    const { problems, problemCount, problemCounts } = await imported(store, sourceOf("u1", [...many, ...few]));
    expect([problemCount, problemCounts]).toEqual([1_550, { "missing-blob": 1_500, "malformed-line": 50 }]);
    expect(problems.map(({ code }) => code)).toEqual([...Array(1_000).fill("missing-blob"), ...Array(50).fill("malformed-line")]);
  });

  test("problems quote no more of an id than a valid one has", async () => {
    const store = await openedStore();
    const long = "x".repeat(20_000);
    const source = sourceOf("u1", [{ kind: "entry", line: 3, id: "u2", parentId: long, createdAtMs: 1, payload: entryNamed("u2") }]);
    const { problems } = await imported(store, source);
    const parent = `${"x".repeat(127)}…`;
    const message = `the parent ${parent} of entry u2 is missing; attached to the entry before it`;
    expect(problems).toMatchObject([{ code: "missing-parent", message }]);
  });

  test("problems quote no more of a name than fits into a message", async () => {
    const payload = { ...entryNamed("u1"), ["k".repeat(20_000)]: Number.NaN };
    const source = sourceOf("", [{ kind: "entry", line: 2, id: "u1", parentId: null, createdAtMs: 1, payload }]);
    const [problem] = (await imported(await openedStore(), source)).problems;
    expect(problem?.code).toBe("invalid-record");
    expect(problem?.message.length).toBeLessThanOrEqual(500);
  });
});

describe("an import that fails in the middle", () => {
  test("leaves nothing of it: a session is one transaction", async () => {
    const { store, session } = await grow("u1", { session: { id: "before" } });
    const source = sourceOf("u1 a1");
    const torn = {
      ...source,
      *records() {
        yield* source.records();
        throw new TypeError("the disk went away");
      },
    };
    await expect(imported(store, torn)).rejects.toThrow("the disk went away");
    expect(await store.findSession("s")).toBeUndefined();
    await session.append(entryNamed("a1"));
    expect(await findingsOf(store)).toEqual([]);
  });

  test("tells how far it is on the way", async () => {
    const store = await openedStore();
    const told: number[] = [];
    const words = Array.from({ length: 600 }, (_, at) => `u${at}`).join(" ");
    await store.storage.importSession(sourceOf(words), { format: "test", path: "p", onRecords: (records) => told.push(records) });
    expect(told).toEqual([250, 500]);
  });
});
