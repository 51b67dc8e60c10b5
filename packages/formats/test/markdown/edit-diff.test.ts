import { describe, expect, test } from "vitest";
import { additions, editsDiff } from "../../src/markdown/call-section.js";

describe("edits as a diff", () => {
  test("show what changed with three lines around it", () => {
    const before = ["1", "2", "3", "4", "old", "5", "6", "7", "8"].join("\n");
    expect(editsDiff([{ before, after: before.replace("old", "new\nnewer") }])).toBe(" 2\n 3\n 4\n-old\n+new\n+newer\n 5\n 6\n 7");
  });

  test("are kept apart", () => {
    expect(
      editsDiff([
        { before: "a", after: "b" },
        { before: "c", after: "" },
      ]),
    ).toBe("-a\n+b\n@@\n-c");
  });

  test("of a new file add each line", () => {
    expect(additions("a\n\nb\n")).toBe("+a\n+\n+b");
  });
});
