import { describe, expect, test } from "vitest";
import type { TreeFilter } from "../../src/tree/filter-names.js";
import { Layout } from "../../src/tree/layout.js";
import { type LayoutOptions, leafRow, shownRows } from "../../src/tree/shown-rows.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { outline } from "../tree/outlines.js";

const rows = outline(
  ["system", null, { role: "system" }],
  ["question", "system", { role: "user" }],
  ["call", "question", { role: "assistant", preview: "[read src/a.ts]" }],
  ["failedCall", "call", { role: "assistant", preview: "[read src/a.ts]", isError: true }],
  ["result", "call", { role: "toolResult" }],
  ["answer", "result", { role: "assistant", preview: "done [read b.ts]" }],
  ["shell", "answer", { role: "bashExecution" }],
  ["reminder", "shell", { role: "custom" }],
  ["compaction", "shell", { type: "compaction", role: null }],
  ["summary", "compaction", { type: "branch_summary", role: null }],
  ["note", "summary", { type: "custom_message", role: null }],
  ["model", "note", { type: "model_change", role: null }],
  ["thinking", "model", { type: "thinking_level_change", role: null }],
  ["edit", "thinking", { type: "context_edit", role: null }],
  ["custom", "edit", { type: "custom", role: null }],
  ["foreign", "custom", { type: "foreign", role: null }],
);

function shown(question: Partial<LayoutOptions> & { filter: TreeFilter }): readonly string[] {
  const index = TreeIndex.of(rows);
  const bits = shownRows(index, { leafId: null, leaves: [], labeled: new Set(), ...question });
  return rows.filter((_, at) => bits[at] === 1).map(({ id }) => id);
}

const conversation = ["system", "question", "call", "failedCall", "answer", "shell", "compaction", "summary", "note"];

describe("a filter", () => {
  test.each<[TreeFilter, readonly string[]]>([
    ["all", rows.map(({ id }) => id)],
    ["default", conversation],
    ["no-tools", conversation.filter((id) => id !== "call")],
    ["user", ["question"]],
    ["labeled", []],
    ["summaries", ["compaction", "summary"]],
  ])("%s shows its kinds of entries", (filter, ids) => {
    expect(shown({ filter })).toEqual(ids);
  });

  test.each<[TreeFilter, readonly string[]]>([
    ["default", [...conversation.slice(0, 4), "result", ...conversation.slice(4), "model"]],
    ["no-tools", ["system", "question", "failedCall", "result", ...conversation.slice(4), "model"]],
    ["user", ["question", "model"]],
    ["labeled", ["result", "model"]],
    ["summaries", ["compaction", "summary", "model"]],
    ["all", rows.map(({ id }) => id)],
  ])("%s shows of leaves and labels what the person needs", (filter, ids) => {
    const leaves = [
      { name: "main", entryId: "edit" },
      { name: "other", entryId: "foreign" },
      { name: "fresh", entryId: null },
    ];
    expect(
      shown({
        filter,
        leafId: "edit",
        leaves,
        labeled: new Map([
          ["result", "x"],
          ["model", "y"],
          ["gone", "z"],
        ]),
      }),
    ).toEqual(ids);
  });

  test("shows all leaves and labels under every filter if asked to", () => {
    const leaves = [{ name: "other", entryId: "foreign" }];
    const marks = { leafId: "edit", leaves, labeled: new Set(["model"]), showsAllMarks: true };
    expect(shown({ filter: "user", ...marks })).toEqual(["question", "model"]);
    expect(shown({ filter: "summaries", ...marks })).toEqual(["compaction", "summary", "model"]);
  });

  test("draws a leaf at the last row above it that it shows, or at its own if there is none", () => {
    const marks = { filter: "default", leafId: "foreign", labeled: new Set<string>() } as const;
    const index = TreeIndex.of(rows);
    expect(index.idOf(leafRow(index, "foreign", marks))).toBe("note");
    expect(index.idOf(leafRow(index, "foreign", { ...marks, labeled: new Set(["edit"]) }))).toBe("edit");
    expect(index.idOf(leafRow(index, "foreign", { ...marks, filter: "all" }))).toBe("foreign");
    expect(leafRow(index, null, marks)).toBe(-1);
    const bare = TreeIndex.of(rows.slice(-1));
    expect(leafRow(bare, rows.at(-1)?.id ?? null, marks)).toBe(0);
  });

  test("shows all hits of a search, and those of their ancestors that the filter shows", () => {
    const hits = [4, 11];
    expect(shown({ filter: "user", hits })).toEqual(["question", "result", "model"]);
    expect(shown({ filter: "default", hits: [4], leafId: "foreign" })).toEqual(["system", "question", "call", "result"]);
    expect(shown({ filter: "all", hits: [5] })).toEqual(["system", "question", "call", "result", "answer"]);
    expect(shown({ filter: "all", hits: [], leafId: "foreign" })).toEqual([]);
  });
});

describe("an unknown hit", () => {
  test("is ignored", () => {
    const layout = new Layout(TreeIndex.of(rows), { filter: "all", leafId: null, leaves: [], labeled: new Set(), hits: [-1, 0, 99] });
    expect([layout.shownCount, layout.hitNumber(0), layout.nextHit(0, 1)]).toEqual([1, 1, -1]);
  });
});
