import type { Entry } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeCoverage } from "../../src/recall/coverage.js";

const place = { seq: 1, parentId: null, createdAtMs: 0 } as const;

function compaction(id: string, firstKeptEntryId: string | null, covers?: unknown): Entry {
  return { ...place, id, type: "compaction", summary: id, firstKeptEntryId, ...(covers === undefined ? {} : { covers }) };
}

function edit(id: string, targetId: string, replacement: { readonly content: string } | null = null): Entry {
  return { ...place, id, type: "context_edit", targetId, replacement };
}

/** Each compaction with the entries that it covers, as words. */
function told(words: string, ...marks: readonly Entry[]): readonly string[] {
  const path = words.split(" ");
  return computeCoverage(path, marks).ranges.map(({ entry, from, to }) => `${entry.id}: ${path.slice(from, to + 1).join(" ")}`);
}

describe("the range of a compaction", () => {
  test.each<[string, string, readonly Entry[], readonly string[]]>([
    ["is what is above the first entry that it keeps", "u1 a1 u2 a2 c1", [compaction("c1", "u2")], ["c1: u1 a1"]],
    ["is all above it, where it keeps nothing", "u1 a1 c1 u2", [compaction("c1", null)], ["c1: u1 a1"]],
    ["is all above it, where what it keeps is nowhere on the path", "u1 a1 c1", [compaction("c1", "gone")], ["c1: u1 a1"]],
    ["is all above it, where what it keeps comes after it", "u1 a1 c1 u2", [compaction("c1", "u2")], ["c1: u1 a1"]],
    [
      "starts where the one before it stopped, so that what that one kept is in it",
      "u1 a1 u2 a2 c1 u3 a3 c2",
      [compaction("c1", "u2"), compaction("c2", "u3")],
      ["c1: u1 a1", "c2: u2 a2 c1"],
    ],
    [
      "is nothing where it keeps all that the one before it kept",
      "u1 u2 c1 c2",
      [compaction("c1", "u2"), compaction("c2", "u2")],
      ["c1: u1", "c2: "],
    ],
    ["is nothing where it keeps the first entry", "u1 a1 c1", [compaction("c1", "u1")], ["c1: "]],
    [
      "is what the engine wrote, where it did",
      "m1 u1 a1 u2 c1",
      [compaction("c1", "u2", { fromEntryId: "u1", toEntryId: "a1", entries: 2, messages: 2 })],
      ["c1: u1 a1"],
    ],
    [
      "is not what the entry says where that is on another path",
      "u1 a1 u2 c1",
      [compaction("c1", "u2", { fromEntryId: "x1", toEntryId: "a1", entries: 2 })],
      ["c1: u1 a1"],
    ],
    [
      "is not what the entry says where that is the wrong way round, or below it",
      "u1 a1 u2 c1 u3 c2 u4",
      [compaction("c1", "u2", { fromEntryId: "a1", toEntryId: "u1" }), compaction("c2", "u3", { fromEntryId: "u2", toEntryId: "u4" })],
      ["c1: u1 a1", "c2: u2 c1"],
    ],
    ["is not what the entry says where that is no range at all", "u1 u2 c1", [compaction("c1", "u2", ["u1"])], ["c1: u1"]],
  ])("%s", (_name, words, marks, expected) => {
    expect(told(words, ...marks)).toEqual(expected);
  });

  test("is empty after an undo, and the next compaction covers both ranges", () => {
    const marks = [compaction("c1", "u2"), edit("e1", "c1"), compaction("c2", "u3")];
    expect(told("u1 u2 c1 e1 u3 c2", ...marks)).toEqual(["c2: u1 u2 c1 e1"]);
  });

  test("comes back with a replacement of the compaction that was undone", () => {
    const marks = [compaction("c1", "u2"), edit("e1", "c1"), edit("e2", "c1", { content: "again" })];
    expect(told("u1 u2 c1 e1 e2", ...marks)).toEqual(["c1: u1"]);
  });

  test("is not changed by an edit of anything else, which is remembered as edited", () => {
    const coverage = computeCoverage("u1 r1 u2 c1 e1".split(" "), [compaction("c1", "u2"), edit("e1", "r1", { content: "pruned" })]);
    expect(coverage.ranges).toHaveLength(1);
    expect([...coverage.edited]).toEqual(["r1"]);
    expect([...coverage.omitted]).toEqual([]);
  });
});

describe("what a context has itself", () => {
  test.each<[string, string, readonly Entry[], number]>([
    ["is all, where nothing was compacted", "u1 u2", [], 0],
    ["starts at the first entry that the newest compaction keeps", "u1 u2 c1 u3 c2", [compaction("c1", "u2"), compaction("c2", "u3")], 3],
    ["starts at the newest compaction, where that keeps nothing", "u1 c1 u2", [compaction("c1", null)], 1],
    ["is all, where the only compaction was undone", "u1 u2 c1 e1", [compaction("c1", "u2"), edit("e1", "c1")], 0],
  ])("%s", (_name, words, marks, expected) => {
    expect(computeCoverage(words.split(" "), marks).keptFrom).toBe(expected);
  });
});

describe("consecutive compactions that keep anything", () => {
  // A step: so many entries, then a compaction that keeps so many of all above it.
  const steps = fc.array(fc.record({ entries: fc.nat(4), keeps: fc.nat(8) }), { minLength: 1, maxLength: 6 });

  function grown(all: readonly { readonly entries: number; readonly keeps: number }[]) {
    const path: string[] = [];
    const marks: Entry[] = [];
    for (const { entries, keeps } of all) {
      for (let more = 0; more < entries; more += 1) path.push(`m${path.length}`);
      const mark = compaction(`c${path.length}`, keeps === 0 ? null : (path.at(-keeps) ?? path[0] ?? null));
      path.push(mark.id);
      marks.push(mark);
    }
    return { path, marks };
  }

  test("cover each entry at most once, and together all entries that are not in the context", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { path, marks } = grown(all);
        const { ranges, keptFrom } = computeCoverage(path, marks);
        const times = path.map((_id, at) => ranges.filter(({ from, to }) => from <= at && at <= to).length);
        expect(Math.max(...times)).toBeLessThanOrEqual(1);
        expect(times.slice(0, keptFrom).every((count) => count === 1)).toBe(true);
      }),
    );
  });

  test("each cover only entries above them", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { path, marks } = grown(all);
        for (const { entry, to } of computeCoverage(path, marks).ranges) expect(to).toBeLessThan(path.indexOf(entry.id));
      }),
    );
  });
});
