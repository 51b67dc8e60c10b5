import { compactionSummaryText } from "@bough/session-core/wire";
import { describe, expect, test } from "vitest";
import { CALL_TOKENS, MESSAGE_TOKENS, messageTokens, toolTokens } from "../../src/tokens/message-tokens.js";
import type { TokenCounter } from "../../src/tokens/token-counter.js";

/** Counts words: what is expected can be counted by eye. */
const words: TokenCounter = { name: "words", count: (text) => text.split(/\s+/).filter((word) => word !== "").length };

describe("tokens of a message", () => {
  test("are its texts and a constant per message", () => {
    expect(messageTokens(words, { role: "user", content: "one two three" })).toBe(MESSAGE_TOKENS + 3);
    const blocks = [
      { type: "text", text: "one two" },
      { type: "text", text: "three" },
    ] as const;
    expect(messageTokens(words, { role: "user", content: [...blocks] })).toBe(MESSAGE_TOKENS + 3);
  });

  test("count thoughts, and the name and arguments of each call", () => {
    const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a b" } } as const;
    const thinking = { type: "thinking", thinking: "well then" } as const;
    // The arguments as JSON are two words: {"path":"a and b"}.
    expect(messageTokens(words, { role: "assistant", content: [thinking, call] })).toBe(MESSAGE_TOKENS + 2 + CALL_TOKENS + 1 + 2);
  });

  test("of a hidden thinking block are those of its signature", () => {
    const hidden = { type: "thinking", thinking: "", thinkingSignature: "x".repeat(400), redacted: true } as const;
    expect(messageTokens(words, { role: "assistant", content: [hidden] })).toBe(MESSAGE_TOKENS + 100);
  });

  test("of a result are its text and the frame of a call", () => {
    const result = { role: "toolResult", toolCallId: "c1", content: "ok then", isError: false } as const;
    expect(messageTokens(words, result)).toBe(MESSAGE_TOKENS + CALL_TOKENS + 2);
  });

  test("of a summary are those of its template with it", () => {
    const summary = { role: "compactionSummary", summary: "short and good" } as const;
    expect(messageTokens(words, summary)).toBe(MESSAGE_TOKENS + words.count(compactionSummaryText("short and good")));
  });

  test("of a command excluded from the context are those of an empty message", () => {
    const command = { role: "bashExecution", command: "ls", output: "a b c", excludeFromContext: true } as const;
    expect(messageTokens(words, command)).toBe(MESSAGE_TOKENS);
    expect(messageTokens(words, { ...command, excludeFromContext: false })).toBeGreaterThan(MESSAGE_TOKENS + 3);
  });
});

describe("tokens of tool definitions", () => {
  test("are those of their JSON", () => {
    expect(toolTokens(words, [])).toBe(0);
    expect(toolTokens(words, [{ name: "read a file" }, { name: "write" }])).toBe(2 * CALL_TOKENS + 3 + 1);
  });
});
