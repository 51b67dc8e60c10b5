import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAiSdk } from "../../../src/context/converters/ai-sdk.js";
import type { AiSdkMessage } from "../../../src/context/converters/ai-sdk-messages.js";
import { anyContext, assistant, call, contextOf, countCalls, image, PIXEL, result, text, textsIn, user } from "./contexts.js";

describe("a context as AI SDK model messages", () => {
  test("gives the instructions as `system`", () => {
    expect(toAiSdk(contextOf([user("hi")], "Be brief."))).toEqual({
      system: "Be brief.",
      messages: [{ role: "user", content: [text("hi")] }],
    });
  });

  test("gives calls as parts, and all their results in one tool message", () => {
    const context = contextOf([assistant([text("on it"), call("c1"), call("c2")]), result("c1", "r1"), result("c2", "r2", true)]);
    expect(toAiSdk(context).messages).toEqual([
      {
        role: "assistant",
        content: [
          text("on it"),
          { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a.ts" } },
          { type: "tool-call", toolCallId: "c2", toolName: "read", input: { path: "a.ts" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "r1" } },
          { type: "tool-result", toolCallId: "c2", toolName: "read", output: { type: "error-text", value: "r2" } },
        ],
      },
    ]);
  });

  test("gives images to the model in both places it can take them", () => {
    const context = contextOf([user([image()]), assistant([call("c1")]), result("c1", [text("here"), image()])]);
    const [first, , last] = toAiSdk(context).messages;
    expect(first?.content).toEqual([{ type: "image", image: PIXEL, mediaType: "image/png" }]);
    expect(last?.content).toEqual([
      {
        type: "tool-result",
        toolCallId: "c1",
        toolName: "read",
        output: { type: "content", value: [text("here"), { type: "image-data", data: PIXEL, mediaType: "image/png" }] },
      },
    ]);
  });

  test("carries the signature of Anthropic's thinking, and only the text of others'", () => {
    const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: "c2ln" };
    const { messages } = toAiSdk(contextOf([assistant([thinking, text("a")]), assistant([thinking, text("b")], "openai")]));
    expect(messages.map((message) => message.content[0])).toEqual([
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "c2ln" } } },
      { type: "reasoning", text: "hm" },
    ]);
  });

  test("has one result for each call, right behind the reply, in any context", () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const { messages } = toAiSdk(context);
        expect(pairedCalls(messages)).toBe(countCalls(context));
        expect(messages.every((message) => message.content.length > 0)).toBe(true);
      }),
    );
  });

  test("has no lone surrogate, in any context", () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const parts = toAiSdk(context).messages.flatMap((message): AiSdkMessage["content"][number][] => message.content);
        expect(textsIn(parts).every((one) => one.isWellFormed())).toBe(true);
      }),
    );
  });
});

function pairedCalls(messages: readonly AiSdkMessage[]): number {
  const ids: string[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "assistant") return;
    const calls = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    const next = messages[at + 1];
    const results = next?.role === "tool" ? next.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])) : [];
    expect(results).toEqual(calls);
    ids.push(...calls);
  });
  expect(new Set(ids).size).toBe(ids.length);
  return ids.length;
}
