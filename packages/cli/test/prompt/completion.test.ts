import { describe, expect, it } from "vitest";
import { applyCompletion, type CompletedCommand, findCompletions } from "../../src/prompt/completion.js";
import { marked, shown } from "./typing.js";

const COMMANDS: readonly CompletedCommand[] = [
  { name: "retree", args: "", help: "again" },
  { name: "trees", args: "", help: "all of them" },
  { name: "tree", args: "", help: "the navigator" },
  { name: "label", args: "<text>", help: "name this place", values: ["alpha", "beta"] },
];

/** What is offered where the cursor is marked. */
function offered(text: string): readonly string[] {
  const { text: whole, cursor } = marked(text);
  return findCompletions(whole, cursor, COMMANDS).map((one) => one.display);
}

describe("completions", () => {
  it.each([
    ["/|", ["/retree", "/trees", "/tree", "/label <text>"]],
    ["/tr|", ["/trees", "/tree", "/retree"]],
    ["/tree|", ["/tree", "/trees", "/retree"]],
    ["/TR|", ["/trees", "/tree", "/retree"]],
    ["/l|xyz", ["/label <text>"]],
    ["/x|", []],
    ["|/tr", []],
    ["", []],
    ["tr|", []],
    [" /tr|", []],
    ["/tr|\nmore", []],
    ["/label |", ["alpha", "beta"]],
    ["/label  a|", ["alpha"]],
    ["/label a| x", ["alpha"]],
    ["/label alpha|", []],
    ["/tree a|", []],
    ["/other a|", []],
  ])("of %s are %j", (text, expected) => {
    expect(offered(text)).toEqual(expected);
  });
});

describe("completing", () => {
  it.each([
    ["/tr|", "/tree", "/tree|"],
    ["/t|re x", "/tree", "/tree| x"],
    ["/la|", "/label ", "/label |"],
    ["/la| x", "/label ", "/label |x"],
    ["/label a|", "alpha", "/label alpha|"],
    ["/label a|l rest", "alpha", "/label alpha| rest"],
    ["/label |", "alpha", "/label alpha|"],
  ])("%s with %j makes %s", (text, insert, expected) => {
    expect(shown(applyCompletion(marked(text), { insert, display: insert, help: "" }))).toBe(expected);
  });

  it("inserts the completion", () => {
    const editor = marked("/lab|");
    const [first] = findCompletions(editor.text, editor.cursor, COMMANDS);
    expect(first && shown(applyCompletion(editor, first))).toBe("/label |");
  });
});
