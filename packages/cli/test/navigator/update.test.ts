import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { navigator, ROWS } from "./branches.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

const mark = (entryId: string, endId = entryId) => ({ entryId, endId });

describe("Keys in the list", () => {
  // The branch of the leaf comes last: ask, asst, left, left2, right, right2.
  it.each<[keys: string, at: string]>([
    ["", "right2"],
    ["up", "right"],
    ["k k", "left2"],
    ["down", "ask"],
    ["j j", "asst"],
    ["g", "ask"],
    ["g up", "right2"],
    ["G", "right2"],
    ["G down", "ask"],
    ["home", "ask"],
    ["end", "right2"],
    ["pageup", "ask"],
    ["pageup pageup", "ask"],
    ["pagedown", "right2"],
    ["right right left left", "ask"],
    ["g .", "right2"],
    ["[", "asst"],
    ["g ]", "asst"],
    ["g n", "asst"],
    ["p", "asst"],
    ["}", "left"],
    ["{", "left"],
    ["} }", "right"],
    ["k k {", "right"],
    ["alt+up", "right"],
    ["alt+up alt+up alt+up alt+down", "left"],
  ])("%j selects %s", (keys, at) => {
    expect(navigator().press(...keys.split(" ").filter(Boolean)).at).toBe(at);
  });

  it.each<[keys: string, at: string, rows: number]>([
    ["g space", "ask", 1],
    ["g space space", "ask", 6],
    ["space", "right2", 6],
    ["ctrl+left", "right", 5],
    ["alt+left alt+left", "ask", 5],
    ["ctrl+left ctrl+right", "right", 6],
    ["g ctrl+right", "left", 6],
    ["ctrl+right", "right2", 6],
    ["k k k space", "left", 5],
    ["k k k k space", "asst", 2],
    ["ctrl+left g space", "ask", 1],
    ["g space .", "right2", 6],
  ])("%j folds and unfolds: %s is selected, %i rows are seen", (keys, at, rows) => {
    const folded = navigator().press(...keys.split(" "));
    expect([folded.at, folded.model.layout?.visibleCount(folded.model.folds)]).toEqual([at, rows]);
  });

  it.each<[keys: string, filter: string, at: string]>([
    ["ctrl+u", "user", "right2"],
    ["ctrl+u ctrl+u", "default", "right2"],
    ["ctrl+u ctrl+d", "default", "right2"],
    ["ctrl+a", "all", "right2"],
    ["k ctrl+s", "summaries", "right2"],
    ["ctrl+l", "labeled", "right2"],
    ["ctrl+t", "no-tools", "right2"],
    ["ctrl+o", "no-tools", "right2"],
    ["O", "all", "right2"],
    ["ctrl+shift+o ctrl+o", "default", "right2"],
  ])("%j shows the rows of %s", (keys, filter, at) => {
    const filtered = navigator().press(...keys.split(" "));
    expect([filtered.model.filter, filtered.at]).toEqual([filter, at]);
  });

  it("goes from a row that a filter hides to its nearest shown ancestor", () => {
    const all = navigator().press("ctrl+a", "k");
    expect(all.at).toBe("tool");
    expect(all.press("ctrl+d").at).toBe("right");
  });

  it("has two marks at most; a third replaces the first, and the same key removes one", () => {
    const marked = navigator().press("m", "k", "m", "g", "m");
    expect(marked.model.marks).toEqual(["right", "ask"]);
    expect(marked.press("m").model.marks).toEqual(["right"]);
  });

  it("compares two marked entries, or a marked one with the selected one", () => {
    const marked = navigator().press("m", "k", "k");
    marked.wanted();
    expect(marked.press("d").wanted()).toEqual([{ kind: "compare", marks: [mark("right2"), mark("left2")], width: 76 }]);
    expect(navigator().press("d").text).toContain("Mark an entry first");
    expect(navigator().press("m", "d").text).toContain("Mark or select another entry");
  });

  it("compares whole branches if their first entries are marked, folded or not", () => {
    const compared = (at: ReturnType<typeof navigator>) =>
      at
        .press("d")
        .wanted()
        .filter(({ kind }) => kind === "compare");
    const branches = navigator().press("k", "m", "k", "k", "m");
    expect(branches.model.marks).toEqual(["right", "left"]);
    branches.wanted();
    expect(compared(branches)).toMatchObject([{ marks: [mark("right", "right2"), mark("left", "left2")] }]);
    const folded = navigator().press("k", "k", "k", "space", "m", "G", "m");
    expect([folded.model.marks, folded.text.includes("left2")]).toEqual([["left", "right2"], false]);
    folded.wanted();
    expect(compared(folded)).toMatchObject([{ marks: [mark("left", "left2"), mark("right2")] }]);
    const within = navigator().press("g", "m", "G", "m");
    within.wanted();
    expect(compared(within)).toMatchObject([{ marks: [mark("ask"), mark("right2")] }]);
  });

  it("requests effects for the selected entry", () => {
    const at = navigator();
    at.wanted();
    expect(at.press("u", "r", "f", "n", "x", "enter", "y", "Y").wanted()).toEqual([
      { kind: "undo", redo: false },
      { kind: "undo", redo: true },
      { kind: "fork", entryId: "right2", opens: false },
      { kind: "export", entryId: "right2", path: expect.stringMatching(/^bough-.*-right2\.md$/) },
      { kind: "copy", entryId: "right2" },
      { kind: "copyBranch", entryId: "right2" },
    ]);
  });

  it("ignores pasted text", () => {
    const pasted = navigator().event({ kind: "paste", text: "qqq" });
    expect(pasted.model.result).toBeUndefined();
  });

  it.each(["q", "escape", "ctrl+c"])("closes with %s", (key) => {
    expect(navigator().press(key).model.result).toEqual({ kind: "closed" });
  });

  it("can be given other keys, which help then shows", () => {
    const own = new Driven({ preferences: { keys: { up: ["e"] } } }).loaded(ROWS);
    expect(own.press("e").at).toBe("right");
    expect(own.press("k").at).toBe("right");
    expect(own.press("?").text).toMatch(/^ {2}e +previous row/m);
  });
});
