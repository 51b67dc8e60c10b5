import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Calibration, calibrate, promptTokensOf, UNCALIBRATED } from "../../src/tokens/calibration.js";

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

describe("the calibration of our counts", () => {
  const windowTokens = 200_000;

  test.each<[string, { reported: number; estimated: number; knowsFixed: boolean }, Calibration]>([
    ["raises counts that are too low", { reported: 13_000, estimated: 10_000, knowsFixed: true }, { ratio: 1.3, unseenTokens: 0 }],
    ["never lowers them", { reported: 7_000, estimated: 10_000, knowsFixed: true }, { ratio: 1, unseenTokens: 0 }],
    [
      "takes what the host did not tell for its system prompt and tools",
      { reported: 12_000, estimated: 7, knowsFixed: false },
      { ratio: 1, unseenTokens: 11_993 },
    ],
    ["compares no proportions of next to nothing", { reported: 900, estimated: 7, knowsFixed: true }, { ratio: 1, unseenTokens: 893 }],
    [
      "takes no miscount for more than twice",
      { reported: 30_000, estimated: 10_000, knowsFixed: true },
      { ratio: 2, unseenTokens: 10_000 },
    ],
    ["leaves half of the window in any case", { reported: 190_000, estimated: 10, knowsFixed: false }, { ratio: 1, unseenTokens: 100_000 }],
  ])("%s", (_name, { reported, estimated, knowsFixed }, expected) => {
    expect(calibrate(UNCALIBRATED, { reportedTokens: reported, estimatedTokens: estimated, knowsFixed, windowTokens })).toEqual(expected);
  });

  test("ignores a count above the window, which is the sum of several calls", () => {
    const before = { ratio: 1.2, unseenTokens: 500 };
    expect(calibrate(before, { reportedTokens: 900_000, estimatedTokens: 20_000, knowsFixed: true, windowTokens })).toBe(before);
  });

  test("matches what was reported, and never leaves less than a quarter of the window", () => {
    fc.assert(
      fc.property(fc.nat(200_000), fc.nat(200_000), fc.boolean(), (reportedTokens, estimatedTokens, knowsFixed) => {
        const { ratio, unseenTokens } = calibrate(UNCALIBRATED, { reportedTokens, estimatedTokens, knowsFixed, windowTokens });
        expect((windowTokens - unseenTokens) / ratio).toBeGreaterThanOrEqual(windowTokens / 4);
        if (unseenTokens < windowTokens / 2) expect(ratio * estimatedTokens + unseenTokens).toBeGreaterThanOrEqual(reportedTokens - 1);
      }),
    );
  });
});
