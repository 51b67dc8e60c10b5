import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import type { EntryPayload } from "../../src/entry/entry.js";
import type { AssistantMessage } from "../../src/entry/message.js";
import { costText, PRICES_DATE, PriceList, sumCosts, viewEntry } from "../../src/view.js";

const prices = new PriceList();
const MILLION = { inputTokens: 1e6, outputTokens: 1e6, cacheReadTokens: 1e6, cacheWriteTokens: 1e6, costUsd: 0 };
const NONE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };

describe("the price of a model", () => {
  test.each([
    ["anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["anthropic", "claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["amazon-bedrock", "anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"],
    ["google-vertex", "claude-opus-4-1@20250805", "claude-opus-4-1"],
    ["openrouter", "anthropic/claude-opus-4.5", "claude-opus-4-5"],
    ["cursor", "claude-4.5-sonnet-thinking", "claude-sonnet-4-5"],
    ["github-copilot", "claude-sonnet-4", "claude-sonnet-4"],
    ["anthropic", "claude-opus-4-20250514", "claude-opus-4"],
    ["anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"],
    ["openai", "gpt-5.1-codex-max", "gpt-5.1-codex-max"],
    ["openai", "gpt-5-2025-08-07", "gpt-5"],
    ["openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"],
    ["openai", "gpt-5-codex-high", "gpt-5-codex"],
    ["google", "models/gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"],
    ["google", "gemini-2.0-flash-001", "gemini-2.0-flash"],
    ["mistral", "mistral-medium-2508", "mistral-medium-2508"],
  ])("is found for %s/%s as that of %s", (provider, model, listed) => {
    expect(prices.find(provider, model)?.models).toContain(listed);
  });

  test.each([
    ["openai", "gpt-5-huge"],
    ["openai", "gpt-55"],
    ["anthropic", "claude-sonnet-4-5-fast"],
    ["openrouter", "openai/gpt-5:free"],
    ["ollama", "gpt-5"],
    ["", "sonnet"],
    ["", ""],
  ])("is unknown for %s/%s", (provider, model) => {
    expect(prices.find(provider, model)).toBeUndefined();
  });

  test("is found under each name of the table, which lists none twice", () => {
    const names = prices.rows.flatMap(({ models }) => models);
    expect(new Set(names).size).toBe(names.length);
    for (const row of prices.rows) for (const name of row.models) expect(prices.find("", name)).toBe(row);
  });

  test("in the table costs no more from the cache than anew, and more to write than to read", () => {
    expect(PRICES_DATE).toMatch(/^\d{4}-\d\d-\d\d$/);
    for (const { input, output, cacheRead = input } of prices.rows) {
      expect(input).toBeGreaterThan(0);
      expect(output).toBeGreaterThanOrEqual(input);
      expect(cacheRead).toBeLessThanOrEqual(input);
    }
  });

  test("of the caller overrides the table, by model or by provider and model, also for a local one", () => {
    const own = new PriceList({
      "gpt-5": { input: 1, output: 2 },
      "work/claude-opus-4-5": { input: 3, output: 4 },
      "my.model": { input: 0.5, output: 1 },
    });
    expect(own.find("openai", "gpt-5-2025-08-07")).toMatchObject({ input: 1, output: 2, maker: null });
    expect(own.find("work", "claude-opus-4-5")).toMatchObject({ input: 3 });
    expect(own.find("anthropic", "claude-opus-4-5")).toMatchObject({ input: prices.find("", "claude-opus-4-5")?.input });
    expect(own.find("ollama", "my.model")).toMatchObject({ input: 0.5 });
  });
});

describe("the cost of replies", () => {
  test("is the stored one, whatever the table says", () => {
    expect(prices.cost({ provider: "", model: "gpt-5", ...MILLION, costUsd: 0.25 })).toEqual({ storedUsd: 0.25, estimatedUsd: 0 });
  });

  test("is estimated from the four kinds of tokens where none is stored; a token of the cache without a price costs as one of input", () => {
    const own = new PriceList({ full: { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 }, short: { input: 1, output: 10 } });
    expect(own.cost({ provider: "", model: "full", ...MILLION })).toEqual({ storedUsd: 0, estimatedUsd: 1 + 10 + 0.1 + 2 });
    expect(own.cost({ provider: "", model: "short", ...MILLION })).toEqual({ storedUsd: 0, estimatedUsd: 1 + 10 + 1 + 1 });
  });

  test("is unknown without tokens or without a price", () => {
    expect(prices.cost({ provider: "", model: "gpt-5", ...NONE })).toBeNull();
    expect(prices.cost({ provider: "", model: "no-such-model", ...MILLION })).toBeNull();
  });

  test("adds up: the estimate of a sum is the sum of the estimates", () => {
    const count = fc.integer({ min: 0, max: 1e7 });
    const used = fc.record({ inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count });
    fc.assert(
      fc.property(fc.constantFrom(...prices.rows), fc.array(used, { maxLength: 5 }), ({ models: [model = ""] }, list) => {
        const all = list.map((one) => ({ provider: "", model, costUsd: 0, ...one }));
        const sum = all.reduce(
          (a, b) => ({ ...b, ...Object.fromEntries(Object.keys(NONE).map((key) => [key, Reflect.get(a, key) + Reflect.get(b, key)])) }),
          { provider: "", model, ...NONE },
        );
        expect(prices.total(all)?.estimatedUsd ?? 0).toBeCloseTo(prices.cost(sum)?.estimatedUsd ?? 0, 6);
      }),
      { numRuns: runs(100) },
    );
  });

  test("of which a part is estimated has ~ before it", () => {
    const stored = { storedUsd: 1.5, estimatedUsd: 0 };
    expect(costText(stored)).toBe("$1.5000");
    expect(costText({ storedUsd: 0, estimatedUsd: 1.2 })).toBe("~$1.20");
    expect(costText({ storedUsd: 0, estimatedUsd: 0.0123 })).toBe("~$0.0123");
    expect(costText({ storedUsd: 0, estimatedUsd: 0.00002 })).toBe("<$0.0001");
    expect(costText({ storedUsd: 0.00002, estimatedUsd: 0 })).toBe("<$0.0001");
    expect(costText({ storedUsd: 0.00002, estimatedUsd: 0.00003 })).toBe("~$0.0001");
    expect(costText({ storedUsd: 0, estimatedUsd: 0 })).toBe("$0.0000");
    const mixed = sumCosts([stored, null, { storedUsd: 0, estimatedUsd: 0.5 }]);
    expect(mixed === null ? "" : costText(mixed)).toBe("~$2.00");
    expect(sumCosts([null, null])).toBeNull();
  });
});

describe("the usage of an entry", () => {
  const reply = (more: Partial<AssistantMessage>): EntryPayload => ({
    type: "message",
    message: { role: "assistant", content: [], ...more },
  });
  const usageOf = (cost: number | undefined, list?: PriceList) =>
    viewEntry(
      reply({
        model: "gpt-5",
        usage: { input: 1_000_000, output: 1000, ...(cost === undefined ? {} : { cost: { total: cost } }) },
      }),
      { prices: list },
    ).fields.find(({ name }) => name === "usage")?.value;

  test("has the stored cost, or else an estimate by the given prices, or else by the table", () => {
    expect(usageOf(0.5)).toBe("1,000,000 in, 1,000 out, $0.5000");
    expect(usageOf(undefined, new PriceList({ "gpt-5": { input: 7, output: 0 } }))).toBe("1,000,000 in, 1,000 out, ~$7.00");
    expect(usageOf(undefined)).toMatch(/, ~\$\d+\.\d\d$/);
  });
});
