import { expect, test } from "vitest";
import { getTitle } from "../../src/recall/summarized.js";

const summary = (text: string, fields: object = {}) =>
  ({
    type: "branch_summary",
    id: "s",
    parentId: null,
    createdAtMs: 0,
    fromId: "x",
    summary: text,
    details: {},
    usage: undefined,
    ...fields,
  }) as unknown as Parameters<typeof getTitle>[0];

test.each([
  ["a title of its own", summary("text", { title: "Mending the parser" }), "Mending the parser"],
  [
    "a heading that says what it is about",
    summary("# Context Checkpoint: Coding Agent Refactoring\n\n## Goal\nMove it."),
    "Coding Agent Refactoring",
  ],
  ["the goal below a heading that says nothing", summary("# Context Checkpoint\n\n## Goal\nMove the parser. Fast."), "Move the parser."],
  ["a goal without the home directory", summary("## Goal\nContinue the refactor in /Users/ada/pi."), "Continue the refactor in ~/pi."],
  ["a short summary with a mark of a heading", summary("text", { shortSummary: "## Mending" }), "Mending"],
])("a summary is called by %s", (_what, entry, title) => {
  expect(getTitle(entry)).toBe(title);
});
