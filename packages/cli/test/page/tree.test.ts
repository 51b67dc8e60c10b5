import { expect, test } from "vitest";
import { BranchShape } from "../../src/page/branches.js";
import { mergeCalls, type TreeRow, treeHtml } from "../../src/page/tree-nav.js";

const row = (step: number, calls?: readonly string[]): TreeRow => ({
  ...{ step, id: `e${step}`, kind: "assistant", text: calls === undefined ? `said ${step}` : "[read]", label: undefined, isLeaf: false },
  ...(calls === undefined ? {} : { calls }),
});

test("an entry may have 200,000 branches", () => {
  const branches = 200_000;
  const shape = new BranchShape(
    Int32Array.from({ length: branches + 1 }, (_, at) => (at === 0 ? -1 : 0)),
    branches,
  );
  const lines = shape.lines();
  expect(lines).toHaveLength(branches);
  expect(lines[0]?.segments.map(({ rows }) => rows)).toEqual([[0], [branches]]);
});

test("200,000 replies that only call tools may follow each other", () => {
  const merged = mergeCalls(Array.from({ length: 200_000 }, (_, at) => row(at, [at % 4 === 0 ? "edit" : "read"])));
  expect(merged.map(({ step, text }) => [step, text])).toEqual([[0, "200,000 calls: read 150000, edit 50000"]]);
});

test("replies with a label, at the leaf or with text are rows of their own", () => {
  const merged = mergeCalls([
    row(0, ["a"]),
    row(1, ["b"]),
    { ...row(2, ["c"]), label: "x" },
    row(3),
    { ...row(4, ["d"]), isLeaf: true },
    row(5, ["e"]),
  ]);
  expect(merged.map(({ step, text, isLeaf }) => [step, text, isLeaf])).toEqual([
    [0, "2 calls: a 1, b 1", false],
    [2, "[read]", false],
    [3, "said 3", false],
    [4, "[read]", true],
    [5, "[read]", false],
  ]);
});

test("the rows of each tree of a session with several first entries are in blocks", () => {
  const rows = 500;
  const parents = Int32Array.from({ length: 2 * rows }, (_, at) => (at % rows === 0 ? -1 : at - 1));
  const html = [...treeHtml(new BranchShape(parents, rows - 1).lines(), ({ rows: own }) => own.map((at) => row(at)))].map(
    ({ text }) => text,
  );
  const sizes = html
    .join("")
    .split('<div role="none" class="rows">')
    .map((block) => block.split('role="treeitem"').length - 1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(101);
});
