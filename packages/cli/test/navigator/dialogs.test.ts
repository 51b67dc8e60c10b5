import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { chain, outline } from "../tree/outlines.js";
import { leaving, navigator, ROWS } from "./branches.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

describe("Going to an entry", () => {
  it("asks nothing if no entry is left", () => {
    const at = navigator({ leafId: "asst" });
    at.wanted();
    expect(at.press("j", "enter").wanted()).toEqual([{ kind: "move", entryId: "left", summarize: false, focus: null }]);
    expect(at.dialog).toBe("working");
  });

  it("shows a notice if it is the current position already", () => {
    expect(navigator().press("enter").text).toContain("current position already");
  });

  it("offers three choices about the branch that is left", () => {
    const question = leaving();
    expect(question.text).toContain("Leaving 3 entries behind.");
    expect(question.lines.slice(-4, -1)).toEqual([
      "› 1 No summary",
      "  2 A summary of the branch you leave",
      "  3 A summary with a focus …",
    ]);
  });

  it("counts a message that returns to the prompt as left", () => {
    expect(navigator().press("k", "enter").text).toContain("Leaving 3 entries behind.");
  });

  it.each<[keys: string, summarize: boolean, choice: number]>([
    ["enter", false, 0],
    ["1", false, 0],
    ["2", true, 1],
    ["j enter", true, 1],
    ["down up enter", false, 0],
    ["tab enter", true, 1],
    ["up k enter", true, 1],
  ])("%j answers it, and the answer is remembered", (keys, summarize, choice) => {
    const question = leaving();
    question.wanted();
    expect(question.press(...keys.split(" ")).wanted()).toEqual([
      { kind: "move", entryId: "left2", summarize, focus: null },
      { kind: "remember", choice },
    ]);
    expect([question.dialog, question.model.lastChoice]).toEqual(["working", choice]);
  });

  it("returns to the same row with Esc", () => {
    const back = leaving().press("escape");
    expect([back.dialog, back.at, back.model.result]).toEqual(["none", "left2", undefined]);
    expect(back.wanted().map(({ kind }) => kind)).toEqual(["load"]);
  });

  it("asks for the focus; every letter is text there, and Esc returns to the choices", () => {
    const focus = leaving().press("3").type("q: the lexer?");
    expect(focus.text).toContain("Focus of the summary: q: the lexer?");
    expect(focus.press("escape").dialog).toBe("leaving");
    expect(focus.model.dialog).toMatchObject({ choice: 2, entryId: "left2" });
    expect(focus.press("escape").dialog).toBe("none");
    expect(focus.at).toBe("left2");
  });

  it("moves with the focus, or without one if none was typed", () => {
    const move = (text: string) => {
      const focus = leaving().press("3").type(text);
      focus.wanted();
      return focus.press("enter").wanted()[0];
    };
    expect(move(" lexer ")).toEqual({ kind: "move", entryId: "left2", summarize: true, focus: "lexer" });
    expect(move("")).toEqual({ kind: "move", entryId: "left2", summarize: true, focus: null });
  });

  it("is not asked if the key or the setting decides", () => {
    expect(navigator().press("k", "k", "s").wanted().at(-1)).toMatchObject({ kind: "move", summarize: true });
    for (const [preference, summarize] of [
      ["no-summary", false],
      ["summary", true],
    ] as const) {
      const settled = new Driven({ preferences: { leaving: preference } }).loaded(ROWS).press("k", "k", "enter");
      expect(settled.wanted().at(-1)).toMatchObject({ kind: "move", summarize });
    }
  });

  it("preselects the last choice", () => {
    const question = new Driven({ preferences: { lastChoice: 1 } }).loaded(ROWS).press("k", "k", "enter");
    expect(question.text).toContain("› 2 A summary");
  });
});

describe("Work that takes time", () => {
  it("counts its seconds from its start", () => {
    const working = leaving().press("2");
    const began = working.model.nowMs + 600_000;
    expect(working.event({ kind: "tick", nowMs: began }).text).toContain("0 s  Esc cancels");
    expect(working.event({ kind: "tick", nowMs: began + 3000 }).text).toContain("3 s  Esc cancels");
  });

  it("accepts no key but Esc, which cancels it; the dialog stays until the work has ended", () => {
    const working = leaving().press("2");
    working.wanted();
    expect(working.press("q", "j", "enter", "?").wanted()).toEqual([]);
    expect(working.press("escape").wanted()).toEqual([{ kind: "cancel" }]);
    expect(working.text).toContain("Cancelling");
    const ended = working.event({ kind: "workEnded", text: "Cancelled.", isError: false });
    expect([ended.dialog, ended.at, ended.lines.at(-1)]).toEqual(["none", "left2", "Cancelled."]);
  });

  it("closes the navigator with its result", () => {
    const result = { kind: "moved", leafId: "asst", text: "said", summaryEntryId: null } as const;
    expect(leaving().press("1").event({ kind: "finished", result }).model.result).toEqual(result);
  });

  it("needs a confirmation if it is a compaction", () => {
    const question = navigator().press("c");
    expect(question.text).toContain("Summarize the 4 entries before this one?");
    expect(navigator().press("c", "n").dialog).toBe("none");
    expect(navigator().press("c", "escape").at).toBe("right2");
    question.wanted();
    expect(question.press("y").wanted()).toEqual([{ kind: "compact", entryId: "right2" }]);
    expect(navigator().press("k", "k", "c").text).toContain("Only the current branch");
    expect(navigator().press("g", "c").text).toContain("nothing before this entry");
  });
});

describe("The label field", () => {
  it("begins with the current label, takes every letter, and saves it with Enter", () => {
    const field = navigator({ labels: { right2: "old" } }).press("l");
    field.wanted();
    expect(field.type(" q?").press("enter").wanted()).toEqual([{ kind: "label", entryId: "right2", label: "old q?" }]);
  });

  it("removes the label if it is emptied, and keeps it with Esc", () => {
    const field = navigator({ labels: { right2: "old" } }).press("l", "ctrl+u");
    field.wanted();
    expect(field.press("enter").wanted()).toEqual([{ kind: "label", entryId: "right2", label: "" }]);
    expect(
      navigator()
        .press("l")
        .type("x")
        .press("escape")
        .wanted()
        .map(({ kind }) => kind),
    ).toEqual(["load"]);
  });

  it("belongs to the entry it was opened for, whatever events arrive meanwhile", () => {
    const field = navigator().press("l").type("mine");
    field.changed(outline(...chain(9)).slice(7), { leafId: "ask" }).event({ kind: "notice", text: "busy", isError: true });
    field.wanted();
    expect(field.press("enter").wanted()).toEqual([{ kind: "label", entryId: "right2", label: "mine" }]);
  });

  it("joins pasted lines", () => {
    const field = navigator().press("l").event({ kind: "paste", text: "one\n two" });
    expect(field.text).toContain("Label: one two");
  });
});

describe("Help and long texts", () => {
  it("shows every key, is scrolled within its lines, and closes", () => {
    const help = navigator().press("?");
    const first = help.text;
    for (let page = 0; page < 20; page += 1) help.press("pagedown");
    expect(help.lines.at(-2)).toBe("Esc closes");
    const last = help.text;
    expect(help.press("up").text).not.toBe(last);
    expect(help.press("home").text).toBe(first);
    expect(help.press("G").text).toBe(last);
    expect(help.press("?").dialog).toBe("none");
  });

  it("show how to close them while a search is shown below", () => {
    const help = navigator().press("/").type("a").hits("ask").press("enter", "?");
    expect(help.text).toContain("Esc closes");
    help.press("escape");
    expect([help.dialog, help.model.search?.field.text]).toEqual(["none", "a"]);
  });

  it("keeps an open dialog if a comparison arrives late", () => {
    const compared = { kind: "compared", lines: [["what differs"]] } as const;
    expect(navigator().event(compared).text).toContain("what differs");
    expect(navigator().press("l").type("mine").event(compared).text).toContain("Label: mine");
  });
});
