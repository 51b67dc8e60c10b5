import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { navigator } from "./branches.js";
import { hitsEvent } from "./driven.js";

beforeAll(loadExactWidths);

describe("The search", () => {
  const asked = () => {
    const search = navigator().press("/");
    search.wanted();
    return search;
  };

  it("types every letter into its field, also those that are keys of the list", () => {
    const letters = "qkjgGpnNlLmdfxcyurvTO?/[].KJ 123é日";
    const typed = asked().type(letters);
    expect(typed.model.search?.field.text).toBe(letters);
    expect([typed.dialog, typed.model.result, typed.at]).toEqual(["none", undefined, "right2"]);
  });

  it("starts a query at every change of the text, and not when the cursor moves", () => {
    const typed = asked().type("ab");
    expect(typed.wanted().map((effect) => effect.kind === "search" && effect.query)).toEqual(["a", "ab"]);
    expect(typed.press("left").wanted()).toEqual([]);
  });

  it("moves in the list while the field has the focus", () => {
    expect(asked().press("up").at).toBe("right");
  });

  it("shows hits inside folds, with their ancestors too, and folds again when it ends", () => {
    const folded = navigator().press("g", "space");
    expect(folded.text).toContain("(+5)");
    folded.press("/").type("le").hits("left", "right").press("enter");
    expect(folded.text).not.toContain("(+");
    folded.press("a");
    expect(folded.text).toContain("/4 of 7 entries");
    for (const id of ["ask", "asst", "left"]) expect(folded.text).toContain(id);
    expect(folded.text).not.toContain("(+");
    folded.press("g", "escape");
    expect(folded.text).toContain("(+5)");
  });

  it("makes letters keys of the list again after Enter, keeps the hits, and ends with Esc", () => {
    const found = asked().type("a").hits("ask", "left").press("enter");
    expect(found.model.search?.isTyping).toBe(false);
    expect(found.press("g").at).toBe("ask");
    expect(found.press("n").at).toBe("left");
    expect(found.press("escape").model.search).toBeNull();
    expect(found.model.result).toBeUndefined();
    expect(found.at).toBe("left");
  });

  it("marks a number that a narrow screen cuts, which would be another one without the mark", () => {
    const found = asked().type("a");
    found.event(hitsEvent(found.queryId, ["left"], { total: 437 }));
    for (const columns of [20, 22, 23, 24, 25, 26, 40]) {
      found.resize(columns, 20);
      expect(found.lines.find((line) => line.startsWith("/ a"))).toMatch(/(of 437 \(1 shown\)|…)$/);
    }
  });

  it("has half of a narrow line for what is typed, and no more than it needs", () => {
    const found = asked().type("a word and another one");
    found.event(hitsEvent(found.queryId, ["left"], { total: 437 })).resize(40, 20);
    expect(found.lines.find((line) => line.startsWith("/ "))).toBe("/ ord and another one  hit 1 of 437 (1 …");
    const short = asked().type("word").hits("left").resize(20, 20);
    expect(short.lines.find((line) => line.startsWith("/ "))).toBe("/ word   hit 1 of 1");
  });

  it("removes an empty field with Enter", () => {
    expect(asked().press("enter").model.search).toBeNull();
  });

  it("stays on the selected row if it is a hit, else goes to the nearest hit", () => {
    expect(asked().type("r").hits("ask", "right2").at).toBe("right2");
    expect(asked().type("l").hits("ask", "left2").at).toBe("left2");
  });

  it("drops hits of earlier queries", () => {
    const typed = asked().type("ab");
    typed.event(hitsEvent(typed.queryId - 1, ["ask"]));
    expect(typed.model.search?.hits).toBeNull();
  });

  it("drops hits of an earlier search that was ended", () => {
    const first = asked().type("a");
    const late = hitsEvent(first.queryId, ["ask"]);
    expect(first.press("escape", "/").type("z").event(late).model.search?.hits).toBeNull();
  });

  it("adds the next page of hits without moving the selection", () => {
    const found = asked().type("a").hits("left");
    found.event(hitsEvent(found.queryId, ["ask"], { total: 2, isMore: true }));
    expect([found.at, found.model.search?.hits]).toEqual(["left", [2, 0]]);
  });

  it("finds labels, also of entries whose rows were not read yet", () => {
    const named = navigator({ labels: { left: "Checkpoint", unknown: "Checkpoint too" } });
    expect(named.press("/").type("check").hits().at).toBe("left");
    expect(named.model.search?.hits).toEqual([2]);
  });

  it("shows why a query is invalid, and keeps the earlier hits", () => {
    const wrong = asked().type("a").hits("left").type('"');
    wrong.event({ kind: "badQuery", queryId: wrong.queryId, problem: "A quote is open." });
    expect(wrong.text).toContain("A quote is open.");
    expect(wrong.at).toBe("left");
  });

  it("goes to a hit inside a fold with n", () => {
    const folded = navigator().press("g", "space", "/").type("left").hits("left", "left2");
    expect(folded.at).toBe("left");
    const later = navigator().press("/").type("left").hits("left", "left2").press("enter", "g", "space", "n");
    expect(later.at).toBe("left2");
  });

  it("requests the preview of the hit, also if the filter hides it", () => {
    const shown = navigator().press("v", "/").type("r");
    shown.wanted();
    expect(shown.hits("right").wanted()).toMatchObject([{ kind: "preview", entryId: "right" }]);
  });

  it("ends when a filter is chosen, and selects the same row again after a search without hits", () => {
    const nothing = asked().type("zzz").hits();
    expect(nothing.at).toBeUndefined();
    expect(nothing.press("enter", "g", "j", "space", "enter").dialog).toBe("none");
    nothing.press("ctrl+a");
    expect([nothing.model.search, nothing.at]).toEqual([null, "right2"]);
  });
});
