import { describe, expect, test } from "vitest";
import { findContextWindow } from "../../src/tokens/known-models.js";

describe("the window of a model", () => {
  test.each([
    ["claude-sonnet-4-5-20250929", 200_000],
    ["anthropic/claude-opus-4.1", 200_000],
    ["us.anthropic.claude-3-5-haiku-20241022-v1:0", 200_000],
    ["claude-sonnet-4[1m]", 1_000_000],
    ["gpt-4o-mini", 128_000],
    ["gpt-4.1-nano", 1_047_576],
    ["gpt-4", 8_192],
    ["gpt-4-0613", 8_192],
    ["gpt-4-turbo-2024-04-09", 128_000],
    ["GPT-5-Codex", 400_000],
    ["o3", 200_000],
    ["o4-mini-2025-04-16", 200_000],
    ["o1-mini", 128_000],
    ["models/gemini-2.5-pro", 1_048_576],
  ])("of %s is %i tokens", (name, tokens) => {
    expect(findContextWindow(name)).toBe(tokens);
  });

  test.each([["my-model"], [""], ["qwen3:8b"], ["gpt-4.9"], ["foo1"], ["o30"], ["turbo1"]])("of %j is not known", (name) => {
    expect(findContextWindow(name)).toBeUndefined();
  });
});
