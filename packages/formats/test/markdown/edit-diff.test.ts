import { describe, expect, test } from "vitest";
import { editDiff } from "../../src/markdown/edit-diff.js";

describe("an edit as a diff", () => {
  test.each([
    { oldText: "a", newText: "b" },
    { old_string: "a", new_string: "b", replace_all: true },
    { oldString: "a", newString: "b" },
    { old_str: "a", new_str: "b" },
    { edits: [{ oldText: "a", newText: "b" }] },
  ])("is made of %j", (args) => {
    expect(editDiff(args)?.diff).toBe("-a\n+b");
  });

  test("shows what changed with three lines around it", () => {
    const before = ["1", "2", "3", "4", "old", "5", "6", "7", "8"].join("\n");
    expect(editDiff({ oldText: before, newText: before.replace("old", "new\nnewer") })?.diff).toBe(
      " 2\n 3\n 4\n-old\n+new\n+newer\n 5\n 6\n 7",
    );
  });

  test("keeps several edits apart", () => {
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "" },
    ];
    expect(editDiff({ edits })?.diff).toBe("-a\n+b\n@@\n-c");
  });

  test("is the patch itself where the call has one", () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n-a\n+b\n*** End Patch";
    expect(editDiff({ input: patch })).toEqual({ diff: patch, shown: ["input"] });
    expect(editDiff({ command: ["apply_patch", patch] })?.diff).toBe(patch);
  });

  test("is none for arguments of another shape, or when one edit is", () => {
    expect(editDiff({ path: "a.ts" })).toBe(undefined);
    expect(editDiff({ edits: [{ oldText: "a", newText: "b" }, { range: 3 }] })).toBe(undefined);
  });
});
