import { describe, expect, test } from "vitest";
import { promptTokensOf, ratioOf } from "../../src/tokens/calibration.js";

describe("what a provider reported of the prompt", () => {
  test.each([
    [{ input: 900, cacheRead: 14_000, cacheWrite: 100, output: 50 }, 15_000],
    [{ totalTokens: 1_000, output: 200 }, 800],
    [{ input: 0, output: 0, totalTokens: 0 }, undefined],
    [{ output: 50 }, undefined],
    [{}, undefined],
  ])("%j is %s tokens", (usage, tokens) => {
    expect(promptTokensOf(usage)).toBe(tokens);
  });
});

describe("the ratio of reported to estimated", () => {
  test("raises an estimate that is too low, and never lowers one", () => {
    expect(ratioOf(1_300, 1_000)).toBe(1.3);
    expect(ratioOf(700, 1_000)).toBe(1);
    expect(ratioOf(50, 0)).toBe(50);
  });
});
