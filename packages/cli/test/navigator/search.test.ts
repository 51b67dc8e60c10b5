import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { navigator } from "./branches.js";

beforeAll(loadExactWidths);

describe("The search", () => {
  const asked = () => {
    const search = navigator().press("/");
    search.wanted();
    return search;
  };

  it("types every letter into its field, those that act in the list too", () => {
    const letters = "qkjgGpnNlLmdfxcyurvTO?/[].KJ 123é日";
    const typed = asked().type(letters);
    expect(typed.model.search?.field.text).toBe(letters);
    expect([typed.dialog, typed.model.result, typed.at]).toEqual(["none", undefined, "right2"]);
  });

  it("asks at every change of the words, and not when the cursor moves", () => {
    const typed = asked().type("ab");
    expect(typed.wanted().map((effect) => effect.kind === "search" && effect.query)).toEqual(["a", "ab"]);
    expect(typed.press("left").wanted()).toEqual([]);
  });

  it("moves in the list while it is typed in", () => {
    expect(asked().press("up").at).toBe("right");
  });

  it("lets the letters act again after Enter, keeps the hits, and ends with Esc", () => {
    const found = asked().type("a").hits("ask", "left").press("enter");
    expect(found.model.search?.isTyping).toBe(false);
    expect(found.press("g").at).toBe("ask");
    expect(found.press("n").at).toBe("left");
    expect(found.press("escape").model.search).toBeNull();
    expect(found.model.result).toBeUndefined();
    expect(found.at).toBe("left");
  });

  it("takes an empty field away with Enter", () => {
    expect(asked().press("enter").model.search).toBeNull();
  });

  it("stays on the selected row where that is a hit, else goes to the hit nearest to it", () => {
    expect(asked().type("r").hits("ask", "right2").at).toBe("right2");
    expect(asked().type("l").hits("ask", "left2").at).toBe("left2");
  });

  it("drops answers to questions that were asked before", () => {
    const typed = asked().type("ab");
    typed.event({ kind: "hits", queryId: typed.queryId - 1, ids: ["ask"], total: 1, isMore: false });
    expect(typed.model.search?.hits).toBeNull();
  });

  it("drops the answer to an earlier search that was ended", () => {
    const first = asked().type("a");
    const late = { kind: "hits", queryId: first.queryId, ids: ["ask"], total: 1, isMore: false } as const;
    expect(first.press("escape", "/").type("z").event(late).model.search?.hits).toBeNull();
  });

  it("adds the next page of hits without moving the selection", () => {
    const found = asked().type("a").hits("left");
    found.event({ kind: "hits", queryId: found.queryId, ids: ["ask"], total: 2, isMore: true });
    expect([found.at, found.model.search?.hits]).toEqual(["left", [2, 0]]);
  });

  it("finds labels, also of entries whose rows have not come yet, without an error", () => {
    const named = navigator({ labels: { left: "Checkpoint", unknown: "Checkpoint too" } });
    expect(named.press("/").type("check").hits().at).toBe("left");
    expect(named.model.search?.hits).toEqual([2]);
  });

  it("says what is wrong with a query, and keeps what was found before", () => {
    const wrong = asked().type("a").hits("left").type('"');
    wrong.event({ kind: "badQuery", queryId: wrong.queryId, problem: "A quote is open." });
    expect(wrong.text).toContain("A quote is open.");
    expect(wrong.at).toBe("left");
  });

  it("shows a hit that is folded away, and goes to it with n", () => {
    const folded = navigator().press("g", "space", "/").type("left").hits("left", "left2");
    expect(folded.at).toBe("left");
    const later = navigator().press("/").type("left").hits("left", "left2").press("enter", "g", "space", "n");
    expect(later.at).toBe("left");
  });

  it("has the preview of the hit asked for, also where the filter alone would lead there", () => {
    const shown = navigator().press("v", "/").type("r");
    shown.wanted();
    expect(shown.hits("right").wanted()).toMatchObject([{ kind: "preview", entryId: "right" }]);
  });

  it("ends where a filter is chosen, and finds the row again after a search without hits", () => {
    const nothing = asked().type("zzz").hits();
    expect(nothing.at).toBeUndefined();
    expect(nothing.press("enter", "g", "j", "space", "enter").dialog).toBe("none");
    nothing.press("ctrl+a");
    expect([nothing.model.search, nothing.at]).toEqual([null, "right2"]);
  });
});
