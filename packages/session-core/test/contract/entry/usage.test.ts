import { describe, expect, test } from "vitest";
import { assistantMessage, InvalidEntryError, normalizeUsage } from "../../../src/index.js";
import { grow } from "../../world/grow.js";

/** What providers and frameworks report for one call: 900 uncached, 100 from the cache, 50 out of which 20 are thinking. */
const SHAPES: readonly (readonly [whose: string, usage: object, own: object])[] = [
  [
    "AI SDK 6 and 7",
    {
      inputTokens: 1000,
      inputTokenDetails: { noCacheTokens: 900, cacheReadTokens: 100, cacheWriteTokens: undefined },
      outputTokens: 50,
      outputTokenDetails: { textTokens: 30, reasoningTokens: 20 },
      totalTokens: 1050,
      raw: { prompt_tokens: 1000 },
    },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050, reasoning: 20 },
  ],
  [
    "AI SDK 5",
    { inputTokens: 1000, outputTokens: 50, totalTokens: 1050, reasoningTokens: 20, cachedInputTokens: 100 },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050, reasoning: 20 },
  ],
  [
    "AI SDK 5 with Anthropic, which counts the cache apart",
    { inputTokens: 9, outputTokens: 50, totalTokens: 59, cachedInputTokens: 100 },
    { input: 9, output: 50, cacheRead: 100, totalTokens: 59 },
  ],
  [
    "a provider of the AI SDK",
    { inputTokens: { total: 1000, noCache: 900, cacheRead: 100, cacheWrite: undefined }, outputTokens: { total: 50, reasoning: 20 } },
    { input: 900, output: 50, cacheRead: 100, reasoning: 20 },
  ],
  ["AI SDK 4", { promptTokens: 900, completionTokens: 50, totalTokens: 950 }, { input: 900, output: 50, totalTokens: 950 }],
  [
    "OpenAI chat completions",
    {
      prompt_tokens: 1000,
      completion_tokens: 50,
      total_tokens: 1050,
      prompt_tokens_details: { cached_tokens: 100, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050, reasoning: 20 },
  ],
  [
    "OpenRouter, with the cost",
    { prompt_tokens: 900, completion_tokens: 50, total_tokens: 950, cost: 0.012 },
    { input: 900, output: 50, totalTokens: 950, cost: { total: 0.012 } },
  ],
  [
    "OpenAI responses",
    {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 100 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 1050,
    },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050, reasoning: 20 },
  ],
  [
    "OpenAI Agents SDK",
    {
      requests: 1,
      inputTokens: 1000,
      outputTokens: 50,
      totalTokens: 1050,
      inputTokensDetails: [{ cached_tokens: 100 }],
      outputTokensDetails: [],
    },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050 },
  ],
  [
    "Anthropic, which counts the cache apart",
    { input_tokens: 900, output_tokens: 50, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, service_tier: "standard" },
    { input: 900, output: 50, cacheRead: 100, cacheWrite: 7 },
  ],
  ["Anthropic without a cache", { input_tokens: 900, output_tokens: 50, cache_read_input_tokens: null }, { input: 900, output: 50 }],
  [
    "Google, whose output is apart from its thoughts",
    { promptTokenCount: 1000, cachedContentTokenCount: 100, candidatesTokenCount: 30, thoughtsTokenCount: 20, totalTokenCount: 1050 },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050, reasoning: 20 },
  ],
  [
    "LangChain",
    { input_tokens: 1000, output_tokens: 50, total_tokens: 1050, input_token_details: { cache_read: 100 } },
    { input: 900, output: 50, cacheRead: 100, totalTokens: 1050 },
  ],
];

describe("a usage", () => {
  test.each(SHAPES)("of %s has the names of Bough", (_whose, usage, own) => {
    expect(normalizeUsage(usage)).toEqual(own);
  });

  test.each(SHAPES)("of %s is counted, by the builder and at the gate", async (_whose, usage, own) => {
    const { session } = await grow("u1");
    await session.append(assistantMessage("x", { usage }));
    // JavaScript callers, and rows of frameworks, are not held by the type.
    const message: object = { role: "assistant", content: "y", usage };
    await session.append({ type: "message", message } as Parameters<typeof session.append>[0]);
    const { input, output, cacheRead = 0 } = own as Record<string, number>;
    expect((await session.statistics()).usage).toMatchObject([
      { replies: 2, inputTokens: 2 * (input ?? 0), outputTokens: 2 * (output ?? 0), cacheReadTokens: 2 * cacheRead },
    ]);
  });

  test("of Bough is stored as it is, with its other members", () => {
    const own = { input: 3, output: 0, reasoning: 1, service: { tier: "flex" } };
    expect(normalizeUsage(own)).toBe(own);
  });

  test.each([[{}], [{ inputTokens: undefined, outputTokens: undefined }], [{ service_tier: "standard" }]])(
    "without a number is empty: %j",
    (usage) => {
      expect(Object.values(normalizeUsage(usage)).filter((value) => typeof value === "number")).toEqual([]);
    },
  );

  test.each([[{ tokensIn: 12, tokensOut: 3 }], [{ metered: { tokens: 12 } }]])(
    "with numbers under names that are not known is refused: %j",
    async (usage) => {
      const expected =
        /^Not a valid entry: message\.usage: none of its counts is known \(.*\), so it would count as nothing; give \{ input, output, .*\.$/;
      expect(() => assistantMessage("x", { usage })).toThrow(expected);
      const { session } = await grow("u1");
      await expect(session.append({ type: "message", message: { role: "assistant", content: "x", usage } })).rejects.toThrow(expected);
      await expect(session.append({ type: "compaction", summary: "s", firstKeptEntryId: null, usage })).rejects.toThrow(InvalidEntryError);
      expect((await session.statistics()).entries).toBe(1);
    },
  );
});
