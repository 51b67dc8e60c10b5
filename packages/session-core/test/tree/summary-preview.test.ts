import { describe, expect, test } from "vitest";
import { previewOf } from "../../src/entry/text.js";

const note = "<branch-note>\nThe user went back.\n</branch-note>";

describe("the preview of a summary", () => {
  test.each([
    [`${note}\n\n## Goal\nTabs in the lexer`, "## Goal Tabs in the lexer"],
    ["## Goal\nTabs", "## Goal Tabs"],
    [note, "<branch-note> The user went back. </branch-note>"],
    ["<b>not ours</c> text", "<b>not ours</c> text"],
  ])("%j is %j", (summary, preview) => {
    expect(previewOf({ type: "branch_summary", summary, fromId: null })).toBe(preview);
  });

  test("of a compaction is its title where it has one", () => {
    expect(previewOf({ type: "compaction", title: "The lexer", summary: note, firstKeptEntryId: null })).toBe("The lexer");
  });
});
