import { describe, expect, test } from "vitest";
import { messageBudget, renderedRatio, utilisation } from "../../src/shrink/request/message-budget.js";

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

describe("how full a window is", () => {
  test("as Copilot CLI counts: messages and tools against the limit", () => {
    expect(utilisation(70_000, 10_000, 100_000)).toBe(0.8);
    expect(utilisation(190_000, 10_000, 100_000)).toBe(2);
  });

  test("as VS Code counts: the larger of what was rendered and what was reported", () => {
    expect(renderedRatio(60_000, 10_000, 80_000, 100_000)).toBe(0.8);
    expect(renderedRatio(60_000, 10_000, 50_000, 100_000)).toBe(0.7);
    expect(renderedRatio(60_000, 10_000, undefined, 100_000)).toBe(0.7);
  });
});
