import { describe, expect, test } from "vitest";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { Folds } from "../../src/tree/folds.js";
import { Layout } from "../../src/tree/layout.js";
import { pathDifference, TreeIndex } from "../../src/tree/tree-index.js";
import { type GutterPlace, gutterText } from "../../src/tree/visible-row.js";
import { chain, outline, type Sketch } from "../tree/outlines.js";
import { seen } from "./naive.js";

const SIZE = 100_000;
const question = { filter: "all", leafId: null, leaves: [], labeled: new Set<string>() } as const;

describe("100,000 entries", () => {
  test("may form a chain", () => {
    const index = TreeIndex.of(outline(...chain(SIZE)));
    const layout = new Layout(index, question);
    expect(layout.window(SIZE - 2, 10, Folds.none).map(({ at, level }) => [at, level])).toEqual([
      [SIZE - 2, 0],
      [SIZE - 1, 0],
    ]);
    const { at, folds } = layout.foldOrGoBack(SIZE - 1, Folds.none);
    expect([at, layout.visibleCount(folds), layout.positionOf(SIZE - 1, folds)]).toEqual([0, 1, 0]);
    expect(layout.unfoldOrGoOn(0, Folds.none).at).toBe(SIZE - 1);
    expect(pathDifference(index, 0, SIZE - 1).onlyB).toHaveLength(SIZE - 1);
    expect(index.depthOf(SIZE - 1)).toBe(SIZE - 1);
  });

  test("may all be folded, each inside the other", () => {
    const layout = new Layout(TreeIndex.of(outline(...chain(SIZE))), question);
    const folds = new Folds(Array.from({ length: SIZE }, (_, at) => at));
    expect(layout.window(0, 10, folds).map(({ hiddenBelow }) => hiddenBelow)).toEqual([SIZE - 1]);
    expect(layout.reveal(SIZE - 1, folds).folded.size).toBe(1);
  });

  test("may be children of one entry", () => {
    const star = Array.from({ length: SIZE }, (_, at): Sketch => [`s${at}`, at === 0 ? null : "s0"]);
    const index = TreeIndex.of(outline(...star));
    const layout = new Layout(index, { ...question, leafId: "s500" });
    expect(layout.window(0, 3, Folds.none).map(({ at }) => at)).toEqual([0, 1, 2]);
    expect(layout.window(SIZE - 2, 9, Folds.none).map(({ at, level }) => [at, level])).toEqual([
      [SIZE - 1, 1],
      [500, 0],
    ]);
    expect(layout.nextSegment(SIZE - 2, Folds.none)).toBe(SIZE - 1);
    expect([layout.siblingBranch(500, 1), layout.siblingBranch(500, -1)]).toEqual([1, SIZE - 1]);
  });

  test("may branch at every second entry, 50,000 levels deep", () => {
    const comb = Array.from({ length: SIZE }, (_, at): Sketch => [`s${at}`, at < 2 ? null : `s${at % 2 === 0 ? at - 2 : at - 3}`]);
    const index = TreeIndex.of(outline(...comb));
    const layout = new Layout(index, { ...question, leafId: `s${SIZE - 2}` });
    const rows = layout.window(0, SIZE, Folds.none);
    expect(rows.filter(({ isOnPath }) => isOnPath)).toHaveLength(SIZE / 2);
    expect(rows.every(({ level, isOnPath }) => level === (isOnPath ? 0 : 1))).toBe(true);
    // Every second row is folded: each hides all that is below it, so only the first level is left.
    const folds = new Folds(Array.from({ length: SIZE / 2 }, (_, at) => at * 2));
    expect(
      layout
        .window(0, 9, folds)
        .map(seen)
        .map(({ gutter }) => gutter),
    ).toEqual(["┌─ ", "•"]);
  });

  test("may hang off each other, 50,000 levels deep", () => {
    // Each side branch has an older row with a side branch of its own.
    const stairs = Array.from({ length: SIZE / 2 }, (_, at): Sketch => [`s${at}`, at === 0 ? null : `s${at - 1}`]);
    const ends = stairs.map(([id], at): Sketch => [`end${at}`, stairs[stairs.length - 1 - at]?.[0] ?? id]);
    const index = TreeIndex.of(outline(...stairs, ...ends));
    const [deepest] = new Layout(index, question).window(SIZE / 2 - 1, 1, Folds.none);
    expect([deepest?.at, deepest?.level]).toEqual([SIZE / 2 - 1, SIZE / 2 - 1]);
    expect(gutterText(deepest as GutterPlace, 3, glyphsFor({}))).toBe("…  │  ├─ ");
  });

  test("may all be hits, or hidden", () => {
    const index = TreeIndex.of(outline(...chain(SIZE)));
    const hits = Array.from({ length: SIZE }, (_, at) => at);
    const layout = new Layout(index, { ...question, hits });
    expect([layout.hitNumber(SIZE - 1), layout.nextHit(-1, -1)]).toEqual([SIZE, SIZE - 1]);
    expect(new Layout(index, { ...question, filter: "summaries", hits: [SIZE - 1] }).shownCount).toBe(1);
  });
});
