import type { AssistantBlock, ContextMessage, ThinkingBlock } from "@bough/session-core";
import { toAnthropic } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { CLAUDE, type Given, GPT, messageAt, names, shape } from "./conversation.js";

const thought = (thinking: string): ThinkingBlock => ({ type: "thinking", thinking, thinkingSignature: `Sig+/=${thinking}` });
const words = (text: string): AssistantBlock => ({ type: "text", text });

/** u1 · a1, which thinks "old" · u2 · a2, which does not think. */
function talk(reply: Partial<Extract<ContextMessage, { role: "assistant" }>> = {}) {
  const messages: ContextMessage[] = [
    { role: "user", content: "x".repeat(100) },
    { role: "assistant", content: [thought("older"), words("x".repeat(100)), thought("old")], provider: "anthropic" },
    { role: "user", content: "x".repeat(100) },
    { role: "assistant", content: [words("x".repeat(50))], provider: "anthropic", ...reply },
  ];
  return { messages, entries: ["u1", "a1", "u2", "a2"] };
}

/** A limit under which a1 is dropped. */
const TIGHT: Given = { limit: 300, model: CLAUDE };

describe("the last thinking block that was left out", () => {
  test("comes back before the first reply that is still there, byte for byte", () => {
    const shaped = shape(talk(), TIGHT);
    expect(names(shaped)).toBe("u1 u2 a2");
    expect(messageAt(shaped, "a2")).toMatchObject({ content: [thought("old"), words("x".repeat(50))] });
    expect(shaped.changes.at(-1)).toEqual({ kind: "reattached-thinking", entry: "a2", tokens: 3 });
    expect(shaped.totalTokens).toBe(253);
    const context = { ...shaped, model: CLAUDE, thinkingLevel: null, system: null, compaction: null };
    expect(toAnthropic(context).messages.at(-1)?.content[0]).toEqual({ type: "thinking", thinking: "old", signature: "Sig+/=old" });
  });

  test("is that of the compaction, where nothing newer was left out", () => {
    const { messages, entries } = talk();
    const later = { messages: messages.slice(2), entries: entries.slice(2) };
    const shaped = shape(later, { model: CLAUDE, leftOutThinking: thought("summarized") });
    expect(messageAt(shaped, "a2")).toMatchObject({ content: [thought("summarized"), words("x".repeat(50))] });
    const both = shape(talk(), { ...TIGHT, leftOutThinking: thought("summarized") });
    expect(messageAt(both, "a2")).toMatchObject({ content: [thought("old"), words("x".repeat(50))] });
  });

  test("stays away where the reply starts with its own", () => {
    const own = [thought("own"), words("x".repeat(50))];
    expect(messageAt(shape(talk({ content: own }), TIGHT), "a2")).toMatchObject({ content: own });
  });

  test("stays away where it would make the request too long", () => {
    const shaped = shape(talk(), { model: CLAUDE, limit: 252, settings: { targetShare: 1 } });
    expect(messageAt(shaped, "a2")).toMatchObject({ content: [words("x".repeat(50))] });
    expect(shaped).toMatchObject({ totalTokens: 250, fits: true });
  });

  test("stays away where every reply is still there, and where none is", () => {
    expect(shape(talk(), { model: CLAUDE }).changes).toEqual([]);
    const { messages, entries } = talk();
    const prompt = { messages: messages.slice(0, 3), entries: entries.slice(0, 3) };
    expect(shape(prompt, { ...TIGHT, limit: 250 }).changes).toMatchObject([{ kind: "removed-messages" }]);
  });

  test.each([
    ["auto", CLAUDE, {}, true],
    ["auto", { provider: "amazon-bedrock", modelId: "us.anthropic.claude-sonnet-4" }, {}, true],
    ["auto", GPT, {}, false],
    ["auto", null, {}, false],
    ["auto", CLAUDE, { provider: "openai", model: "gpt-5" }, false],
    ["auto", CLAUDE, { provider: undefined }, true],
    ["always", GPT, { provider: "openai" }, true],
    ["never", CLAUDE, {}, false],
  ] as const)("with the setting %s, the model %o and a reply of %o: %s", (reattachThinking, model, reply, comes) => {
    const shaped = shape(talk(reply), { ...TIGHT, model, settings: { reattachThinking } });
    expect(shaped.changes.some(({ kind }) => kind === "reattached-thinking")).toBe(comes);
  });

  test("stays away without a signature, which Anthropic refuses", () => {
    const unsigned: ThinkingBlock = { type: "thinking", thinking: "cut off" };
    const { messages, entries } = talk();
    const later = { messages: messages.slice(2), entries: entries.slice(2) };
    expect(shape(later, { model: CLAUDE, leftOutThinking: unsigned }).changes).toEqual([]);
  });
});
