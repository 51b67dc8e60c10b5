import { describe, expect, test } from "vitest";
import type { PathItem } from "../../src/plan/span.js";
import { selectNewest } from "../../src/summary/summarize.js";

const item = (id: string, tokens: number, type: PathItem["type"] = "message"): PathItem => ({ id, type, messages: [], tokens });
const names = (items: readonly PathItem[]) => items.map(({ id }) => id).join(" ");

describe("the newest part of a branch", () => {
  const branch = [item("a", 40), item("b", 40), item("c", 40)];

  test.each([
    ["all of it where it fits", 220, 100, "a b c"],
    ["its newest entries where it does not", 200, 100, "b c"],
    ["at least the newest entry, however large", 30, 10, "c"],
    ["half of a window that the reserve would fill", 160, 1_000, "b c"],
  ])("is %s", (_what, windowTokens, reserveTokens, kept) => {
    expect(names(selectNewest(branch, windowTokens, reserveTokens))).toBe(kept);
  });

  test("takes a summary along that does not fit, unless the budget is nearly full", () => {
    const summary = item("s", 90, "branch_summary");
    expect(names(selectNewest([item("a", 1), summary, item("c", 80)], 200, 100))).toBe("s c");
    expect(names(selectNewest([item("a", 1), summary, item("c", 95)], 200, 100))).toBe("c");
  });
});
