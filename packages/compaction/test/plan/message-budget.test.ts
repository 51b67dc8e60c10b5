import { describe, expect, test } from "vitest";
import { messageBudget } from "../../src/plan/limits.js";

describe("the budget for messages", () => {
  const input = { windowTokens: 128_000, limitTokens: 100_000, toolTokens: 20_000, toolMarginShare: 0.1 };

  test("is what the tools leave of the smaller of limit and window, less a tenth", () => {
    expect(messageBudget(input)).toBe(72_000);
    expect(messageBudget({ ...input, limitTokens: 200_000 })).toBe(97_200);
  });

  test("has no margin without tools", () => {
    expect(messageBudget({ ...input, toolTokens: 0 })).toBe(100_000);
  });

  test("is whole tokens, at least 1", () => {
    expect(messageBudget({ ...input, limitTokens: 20_005 })).toBe(4);
    expect(messageBudget({ ...input, toolTokens: 150_000 })).toBe(1);
  });
});
