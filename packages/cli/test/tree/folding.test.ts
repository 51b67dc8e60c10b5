import { describe, expect, test } from "vitest";

import { Folds } from "../../src/tree/folds.js";
import { type FoldStep, Layout } from "../../src/tree/layout.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { outline } from "../tree/outlines.js";

//  a - b ┬ c - d ┬ e - f
//        │       └ g
//        └ h - i
const index = TreeIndex.of(
  outline(["a", null], ["b", "a"], ["c", "b"], ["d", "c"], ["e", "d"], ["f", "e"], ["g", "d"], ["h", "b"], ["i", "h"]),
);
const layout = new Layout(index, { filter: "all", leafId: null, leaves: [], labeled: new Set() });

const foldsOf = (ids: string) => new Folds([...ids].map((id) => index.indexOf(id)));
const shown = ({ at, folds }: FoldStep) => [
  index.row(at).id,
  [...folds.folded]
    .map((row) => index.row(row).id)
    .sort()
    .join(""),
];
const left = (id: string, folded = "") => shown(layout.foldOrGoBack(index.indexOf(id), foldsOf(folded)));
const right = (id: string, folded = "") => shown(layout.unfoldOrGoOn(index.indexOf(id), foldsOf(folded)));
const visible = (folded: string) =>
  layout.window(0, 100, foldsOf(folded)).map(({ at, hiddenBelow }) => `${index.row(at).id}${hiddenBelow === 0 ? "" : `+${hiddenBelow}`}`);

describe("to the left", () => {
  test("folds the segment of the row and selects its start", () => {
    expect(left("f")).toEqual(["e", "e"]);
    expect(left("d")).toEqual(["c", "c"]);
    expect(left("b")).toEqual(["a", "a"]);
    expect(left("h", "c")).toEqual(["h", "ch"]);
  });

  test("goes to the start of the segment above if it is folded already", () => {
    expect(left("e", "e")).toEqual(["c", "e"]);
    expect(left("c", "c")).toEqual(["a", "c"]);
  });

  test("goes there too if there is nothing to fold", () => {
    expect(left("g")).toEqual(["c", ""]);
  });

  test("changes nothing at the very top", () => {
    expect(left("a", "a")).toEqual(["a", "a"]);
  });
});

describe("to the right", () => {
  test("unfolds a folded row and stays there", () => {
    expect(right("c", "ch")).toEqual(["c", "h"]);
  });

  test("goes to the next visible segment start", () => {
    expect(right("a")).toEqual(["c", ""]);
    expect(right("c")).toEqual(["e", ""]);
    expect(right("e")).toEqual(["g", ""]);
    expect(right("g")).toEqual(["h", ""]);
    expect(right("b", "c")).toEqual(["c", "c"]);
  });

  test("ignores a fold with nothing below it", () => {
    expect(right("g", "g")).toEqual(["h", "g"]);
  });

  test("goes to the last row after the last segment start, and stays there", () => {
    expect(right("h")).toEqual(["i", ""]);
    expect(right("i")).toEqual(["i", ""]);
  });
});

describe("folds", () => {
  test("hide all rows below, counted once", () => {
    expect(visible("")).toEqual([..."abcdefghi"]);
    expect(visible("c")).toEqual(["a", "b", "c+4", "h", "i"]);
    expect(visible("ce")).toEqual(["a", "b", "c+4", "h", "i"]);
    expect(visible("eh")).toEqual(["a", "b", "c", "d", "e+1", "g", "h+1"]);
    expect(visible("a")).toEqual(["a+8"]);
    expect(visible("fi")).toEqual([..."abcdefghi"]);
  });

  test("are immutable", () => {
    const one = Folds.none.fold(3);
    expect([[...one.folded], [...Folds.none.folded]]).toEqual([[3], []]);
    const both = one.fold(5).unfold([3]);
    expect([[...both.folded], [...both.unfolded]]).toEqual([[5], [3]]);
    expect(both.unfold([3])).toBe(both);
    expect([...both.fold(3).unfolded]).toEqual([]);
  });
});
