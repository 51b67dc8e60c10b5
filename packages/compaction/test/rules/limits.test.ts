import { describe, expect, test } from "vitest";
import { limitsOf } from "../../src/rules/limits.js";
import { readSettings } from "../../src/settings/read-settings.js";

const gpt = { provider: "openai", modelId: "gpt-5" };

describe("the room that a model gives", () => {
  test("a reserve that the window cannot give becomes 15 % of it", () => {
    const limits = limitsOf(readSettings("pi"), 8_000, null);
    expect(limits.reserveTokens).toBe(1_200);
    expect(limits.thresholdTokens).toBe(6_800);
  });

  test("the window can be used in part, by share or by tokens", () => {
    expect(limitsOf(readSettings({ window: { limit: 0.5 } }), 200_000, null).limitTokens).toBe(100_000);
    expect(limitsOf(readSettings({ window: { limit: 60_000 } }), 200_000, null).limitTokens).toBe(60_000);
    expect(limitsOf(readSettings({ window: { limit: 60_000 } }), 50_000, null).limitTokens).toBe(50_000);
  });

  test("VS Code keeps a tenth of what the tools leave free, and nothing where there are no tools", () => {
    expect(limitsOf(readSettings("vscode"), 100_000, null, 20_000).thresholdTokens).toBe(20_000 + 72_000);
    expect(limitsOf(readSettings("vscode"), 100_000, null, 0).thresholdTokens).toBe(99_999);
  });

  test("a model has its own figures, each by itself: provider and model first, then the model", () => {
    const settings = readSettings({
      preset: "pi",
      perModel: { "gpt-5": { reserveTokens: 1_000, keepRecentTokens: 5_000 }, "openai/gpt-5": { reserveTokens: 2_000 } },
    });
    expect(limitsOf(settings, 100_000, gpt)).toMatchObject({ reserveTokens: 2_000, keepRecentTokens: 5_000 });
    expect(limitsOf(settings, 100_000, { ...gpt, provider: "azure" })).toMatchObject({ reserveTokens: 1_000 });
    expect(limitsOf(settings, 100_000, null)).toMatchObject({ reserveTokens: 16_384, keepRecentTokens: 20_000 });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("a window of %s is refused by name", (window) => {
    expect(() => limitsOf(readSettings(), window, null)).toThrow(
      expect.objectContaining({ code: "INVALID_SETTING", field: "contextWindow" }),
    );
  });
});
