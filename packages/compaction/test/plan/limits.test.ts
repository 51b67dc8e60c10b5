import { describe, expect, test } from "vitest";
import { limitsOf } from "../../src/plan/limits.js";
import { readSettings } from "../../src/settings/read-settings.js";

const gpt = { provider: "openai", modelId: "gpt-5" };

describe("the limits of a model", () => {
  test("a reserve in tokens takes at most a quarter of the window", () => {
    expect(limitsOf(readSettings("pi"), 65_536, null)).toMatchObject({ reserveTokens: 16_384, thresholdTokens: 49_152 });
    expect(limitsOf(readSettings("pi"), 65_537, null)).toMatchObject({ reserveTokens: 16_384, thresholdTokens: 49_153 });
    expect(limitsOf(readSettings("pi"), 8_000, null)).toMatchObject({ reserveTokens: 2_000, thresholdTokens: 6_000 });
  });

  test("a reserve as a share of the window is used if it is larger", () => {
    expect(limitsOf(readSettings(), 200_000, null).reserveTokens).toBe(30_000);
    expect(limitsOf(readSettings({ trigger: { reserveShare: 0.4 } }), 10_000, null).reserveTokens).toBe(4_000);
  });

  test("the kept tail and its summary share the tokens that system prompt and tools leave under the threshold", () => {
    const fixed = { systemTokens: 1_500, toolTokens: 400, unseenTokens: 100 };
    expect(limitsOf(readSettings("pi"), 8_000, null, fixed)).toMatchObject({
      thresholdTokens: 6_000,
      roomTokens: 4_000,
      keepRecentTokens: 1_600,
      mostKeptTokens: 1_600,
      summaryTokens: 800,
    });
  });

  test("the window can be used in part, by share or by tokens", () => {
    expect(limitsOf(readSettings({ window: { limit: 0.5 } }), 200_000, null).limitTokens).toBe(100_000);
    expect(limitsOf(readSettings({ window: { limit: 60_000 } }), 200_000, null).limitTokens).toBe(60_000);
    expect(limitsOf(readSettings({ window: { limit: 60_000 } }), 50_000, null).limitTokens).toBe(50_000);
  });

  test("VS Code keeps a tenth of what the tools leave free, and nothing without tools", () => {
    expect(limitsOf(readSettings("vscode"), 100_000, null, { systemTokens: 0, toolTokens: 20_000, unseenTokens: 0 }).thresholdTokens).toBe(
      20_000 + 72_000,
    );
    expect(limitsOf(readSettings("vscode"), 100_000, null).thresholdTokens).toBe(99_999);
  });

  test("each limit can be set per model: by provider and model first, then by model", () => {
    const settings = readSettings({
      preset: "pi",
      perModel: { "gpt-5": { reserveTokens: 1_000, keepRecentTokens: 5_000 }, "openai/gpt-5": { reserveTokens: 2_000 } },
    });
    expect(limitsOf(settings, 100_000, gpt)).toMatchObject({ reserveTokens: 2_000, keepRecentTokens: 5_000 });
    expect(limitsOf(settings, 100_000, { ...gpt, provider: "azure" })).toMatchObject({ reserveTokens: 1_000 });
    expect(limitsOf(settings, 100_000, null)).toMatchObject({ reserveTokens: 16_384, keepRecentTokens: 20_000 });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("a window of %s is rejected, and the error names it", (window) => {
    expect(() => limitsOf(readSettings(), window, null)).toThrow(
      expect.objectContaining({ code: "INVALID_SETTING", field: "contextWindow" }),
    );
  });
});
