import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { chain, outline } from "../tree/outlines.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

const NAMES = ["begin", ...Array.from({ length: 99 }, (_, at) => `line ${at + 1}`)];
const ROWS = outline(...chain(100).map(([id, parent], at) => [id, parent, { preview: NAMES[at] ?? "" }] as const));
const LEAF = ROWS.at(-1)?.id ?? "";

/** A navigator of 80 × 23 that has only the last 40 rows of `ROWS`. */
function begun(): Driven {
  const tree = {
    index: TreeIndex.of(ROWS.slice(-40)),
    labels: new Map(),
    leaves: [{ name: "main", entryId: LEAF }],
    leafName: "main",
    leafId: LEAF,
    isHeld: false,
  };
  return new Driven().event({ kind: "begun", tree, total: 100 });
}

describe("a navigator that has only the end of the path", () => {
  test("shows it from the leaf upwards, and says that it still reads", () => {
    const at = begun();
    expect(at.at).toBe(LEAF);
    expect(at.text).toContain("line 99");
    expect(at.text).toContain("line 80");
    expect(at.lines[0]).toContain("reading 40 of 100 entries");
    expect(at.event({ kind: "progress", done: 70 }).lines[0]).toContain("reading 70 of 100 entries");
  });

  test("moves within it, and closes", () => {
    const at = begun().press("up", "up", "pageup", "down");
    expect(at.text).toContain("line 76");
    expect(at.lines[0]).toContain("reading 40 of 100 entries");
    expect(at.press("q").model.result).toEqual({ kind: "closed" });
  });

  test("holds other keys, and those after them, until all rows are there", () => {
    const at = begun().press("g", "down", "space", "l", "x");
    expect(at.dialog).toBe("none");
    expect(at.lines[0]).toContain("5 keys waiting");
    expect(at.wanted().map(({ kind }) => kind)).toEqual(["load"]);
    at.loaded(ROWS);
    expect(at.at).toBe(ROWS[1]?.id);
    expect(at.dialog).toBe("label");
    expect(at.model.dialog).toMatchObject({ field: { text: "x" } });
    expect(at.lines[0]).not.toContain("reading");
  });

  test("holds a move past its first row, which other rows follow", () => {
    const at = begun().press(...Array.from({ length: 45 }, () => "up"));
    expect(at.lines[0]).toContain("6 keys waiting");
    expect(at.loaded(ROWS).at).toBe(ROWS[99 - 45]?.id);
  });

  test("keeps every row on its line when the rest arrives", () => {
    const at = begun().press("up", "up", "up");
    const before = at.lines.slice(1);
    expect(at.loaded(ROWS).lines.slice(1)).toEqual(before);
  });

  test("ends where the same keys lead in a tree that is there at once", () => {
    const keys = fc.array(fc.constantFrom("up", "down", "pageup", "pagedown", "g", "G", "space", "/", "a", "v", "ctrl+o", "l", "enter"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(keys, fc.nat(12), (pressed, split) => {
        const waiting = begun()
          .press(...pressed.slice(0, split))
          .loaded(ROWS)
          .press(...pressed.slice(split));
        const atOnce = new Driven().loaded(ROWS);
        atOnce.press(...pressed);
        expect([waiting.at, waiting.dialog, waiting.model.filter]).toEqual([atOnce.at, atOnce.dialog, atOnce.model.filter]);
      }),
    );
  });
});
