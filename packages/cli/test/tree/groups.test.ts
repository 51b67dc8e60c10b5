import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { textOfLine } from "../../src/terminal/line.js";
import { Folds } from "../../src/tree/folds.js";
import { Layout } from "../../src/tree/layout.js";
import { groupText } from "../../src/tree/row-text.js";
import type { LayoutOptions } from "../../src/tree/shown-rows.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { gutterText } from "../../src/tree/visible-row.js";
import { anyCase } from "./naive.js";
import { outline, type Sketch } from "./outlines.js";

const call = (id: string, parent: string, preview: string): Sketch => [id, parent, { role: "assistant", preview }];
const result = (id: string, parent: string, isError = false): Sketch => [id, parent, { role: "toolResult", preview: "x", isError }];

/** A question, four replies that only call tools with their results, and an answer. */
const CALLS: readonly Sketch[] = [
  ["ask", null],
  call("c1", "ask", "[read src/a.ts] [read src/b.ts]"),
  result("r1", "c1"),
  call("c2", "r1", "[bash npm test]"),
  result("r2", "c2", true),
  call("c3", "r2", "[edit src/a.ts]"),
  result("r3", "c3"),
  call("c4", "r3", "[bash ls] [+3: read 2, grep 1]"),
  result("r4", "c4"),
  ["done", "r4", { role: "assistant", preview: "It works." }],
];

class Drawn {
  readonly index: TreeIndex;
  readonly layout: Layout;

  constructor(sketches: readonly Sketch[], leafId: string, options: Partial<LayoutOptions> = {}) {
    this.index = TreeIndex.of(outline(...sketches));
    this.layout = new Layout(this.index, {
      filter: "default",
      leafId,
      leaves: [{ name: "main", entryId: leafId }],
      labeled: new Set(),
      foldsCalls: true,
      foldsBranches: true,
      ...options,
    });
  }

  lines(folds = Folds.none): readonly string[] {
    return this.layout.window(0, 100, folds).map((row) => {
      const sign = row.fold === "folded" ? "▸ " : row.fold === "foldable" ? "▾ " : "";
      const text = row.group === null ? this.index.idOf(row.at) : textOfLine(groupText(row.group, [this.index.idOf(row.at)]));
      return `${gutterText(row, 9, glyphsFor({})).padEnd(2)}${sign}${text}${row.hiddenBelow > 0 ? ` (+${row.hiddenBelow})` : ""}`;
    });
  }

  /** The folds after the fold key on a row, and what is then selected. */
  toggle(id: string, folds = Folds.none): { readonly folds: Folds; readonly id: string } {
    const step = this.layout.toggle(this.index.indexOf(id), folds);
    if (step === undefined) throw new Error(`nothing to fold at ${id}`);
    return { folds: step.folds, id: this.index.idOf(step.at) };
  }
}

describe("replies in a row that only call tools", () => {
  test("are one row that counts their calls by tool, and the failed ones", () => {
    expect(new Drawn(CALLS, "done").lines()).toEqual(["• ask", "• ▸ 8 calls: read 4, bash 2, edit 1, grep 1, 1 failed", "• done"]);
  });

  test("are rows of their own after the fold key, and one row again after it", () => {
    const drawn = new Drawn(CALLS, "done");
    const open = drawn.toggle("c4");
    expect(open.id).toBe("c1");
    expect(drawn.lines(open.folds)).toEqual(["• ask", "• ▾ c1", "• c2", "• c3", "• c4", "• done"]);
    const closed = drawn.toggle("c3", open.folds);
    expect(closed.id).toBe("c4");
    expect(drawn.lines(closed.folds)).toHaveLength(3);
  });

  test("stand for the last one, so that going there leaves none of them behind", () => {
    const { layout, index } = new Drawn(CALLS, "done");
    expect(index.idOf(layout.atPosition(1, Folds.none))).toBe("c4");
    for (const id of ["c1", "r1", "c2", "c4", "r4"]) expect(layout.positionOf(index.indexOf(id), Folds.none)).toBe(1);
  });

  test("are unfolded by a jump to one of them", () => {
    const drawn = new Drawn(CALLS, "done");
    expect(drawn.lines(drawn.layout.reveal(drawn.index.indexOf("c2"), Folds.none))).toHaveLength(6);
    expect(drawn.layout.reveal(drawn.index.indexOf("c4"), Folds.none)).toBe(Folds.none);
  });

  test("do not swallow a row with a label, of a leaf, of a branch point, or of a reply with text or an error", () => {
    const labeled = new Drawn(CALLS, "done", { labeled: new Set(["c2"]) });
    expect(labeled.lines().slice(0, 3)).toEqual(["• ask", "• c1", "• c2"]);
    expect(new Drawn(CALLS, "c3").lines()).toEqual(["• ask", "• ▸ 3 calls: read 2, bash 1, 1 failed", "• c3", "  c4", "  done"]);
    const branched = new Drawn([...CALLS, ["other", "r2"]], "done");
    expect(branched.lines()).toEqual(["• ask", "• c1", "• c2", "├─ other", "• c3", "• c4", "• done"]);
    const failed = new Drawn([...CALLS.slice(0, 5), ["c3", "r2", { role: "assistant", preview: "[edit a.ts]", isError: true }]], "c3");
    expect(failed.lines()).toEqual(["• ask", "• ▸ 3 calls: read 2, bash 1, 1 failed", "• c3"]);
  });

  test("are single rows under other filters, and if not asked for", () => {
    expect(new Drawn(CALLS, "done", { foldsCalls: false }).lines()).toHaveLength(6);
  });
});

/** A question with `branches` answers, each with `rows` rows, and one that goes on. */
function branches(count: number, rows: number): readonly Sketch[] {
  const sides = Array.from({ length: count }, (_, side) =>
    Array.from({ length: rows }, (_row, at): Sketch => [`b${side}.${at}`, at === 0 ? "ask" : `b${side}.${at - 1}`]),
  );
  return [["ask", null], ...sides.flat(), ["go", "ask"], ["leaf", "go"]];
}

describe("side branches", () => {
  test("are unfolded if they have few rows together", () => {
    expect(new Drawn(branches(2, 4), "leaf").lines()).toHaveLength(11);
  });

  test("start folded if they have many rows, each with its first words", () => {
    const drawn = new Drawn(branches(2, 5), "leaf");
    expect(drawn.lines()).toEqual(["• ask", "├─ ▸ b0.0 (+4)", "├─ ▸ b1.0 (+4)", "• go", "• leaf"]);
    expect(drawn.lines(drawn.toggle("b1.0").folds)).toHaveLength(9);
  });

  test("start as one row if there are many, which unfolds in place and folds again", () => {
    const drawn = new Drawn(branches(60, 2), "leaf");
    expect(drawn.lines()).toEqual(["• ask", "├─ ▸ 60 other branches: b0.0", "• go", "• leaf"]);
    const open = drawn.toggle("b0.0");
    expect(drawn.lines(open.folds).slice(0, 3)).toEqual(["• ask", "├─ ▸ b0.0 (+1)", "├─ ▸ b1.0 (+1)"]);
    expect(drawn.lines(open.folds)).toHaveLength(63);
    const back = drawn.layout.foldOrGoBack(drawn.index.indexOf("b7.0"), open.folds);
    expect(drawn.lines(back.folds)).toHaveLength(4);
  });

  test("are unfolded by a jump into them", () => {
    const drawn = new Drawn(branches(60, 2), "leaf");
    const folds = drawn.layout.reveal(drawn.index.indexOf("b9.1"), Folds.none);
    expect(drawn.lines(folds)).toContain("│  b9.1");
    expect(drawn.lines(folds)).toHaveLength(64);
  });

  test("are jumped to one after the other", () => {
    const { layout, index } = new Drawn(branches(60, 2), "leaf");
    expect(index.idOf(layout.siblingBranch(index.indexOf("leaf"), 1))).toBe("b0.0");
    expect(index.idOf(layout.siblingBranch(index.indexOf("b0.0"), -1))).toBe("go");
  });
});

describe("any tree with groups", () => {
  test("has each visible row at its position, shows any row after reveal, and is the same after two fold keys", () => {
    fc.assert(
      fc.property(anyCase, fc.boolean(), fc.boolean(), ({ rows, question, folds, at }, foldsCalls, foldsBranches) => {
        const layout = new Layout(TreeIndex.of(rows), { ...question, foldsCalls, foldsBranches });
        const visible = layout.window(0, rows.length, folds);
        expect(visible).toHaveLength(layout.visibleCount(folds));
        for (const { at: row, position } of visible) {
          expect([layout.atPosition(position, folds), layout.positionOf(row, folds)]).toEqual([row, position]);
        }
        if (visible.length === 0) return;
        const revealed = layout.reveal(at, folds);
        const shown = layout.atPosition(layout.positionOf(at, Folds.none), new Folds([]));
        if (question.hits === undefined && layout.rowsBetween(0, layout.visibleCount(folds), folds).includes(at))
          expect(layout.window(0, rows.length, revealed).map((row) => row.at)).toContain(at);
        const step = layout.toggle(shown, Folds.none);
        const back = step && layout.toggle(step.at, step.folds);
        if (back !== undefined) expect(layout.window(0, rows.length, back.folds)).toEqual(layout.window(0, rows.length, Folds.none));
      }),
      { numRuns: runs(300) },
    );
  });
});
