import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type OpenAiChatMessage, toOpenAiChat } from "../../../src/context/converters/openai-chat.js";
import { anyContext, assistant, call, contextOf, countCalls, foreign, image, PIXEL, result, text, textsIn, user } from "./contexts.js";

describe("a context as OpenAI chat messages", () => {
  test("starts with the instructions", () => {
    expect(toOpenAiChat(contextOf([user("hi")], "Be brief."))).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
    ]);
  });

  test("has no system message without instructions", () => {
    expect(toOpenAiChat(contextOf([user("hi")], " "))).toEqual([{ role: "user", content: "hi" }]);
  });

  test("gives a call's arguments as JSON text, and its result as a tool message behind it", () => {
    const context = contextOf([assistant([text("Looking."), call("c1")]), result("c1", "const a = 1")]);
    expect(toOpenAiChat(context)).toEqual([
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a.ts"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "const a = 1" },
    ]);
  });

  test("sends images of the person as data URLs", () => {
    expect(toOpenAiChat(contextOf([user([text("this"), image()])]))).toEqual([
      { role: "user", content: [text("this"), { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }] },
    ]);
  });

  test("moves the images of results behind the whole batch", () => {
    const context = contextOf([assistant([call("c1"), call("c2")]), result("c1", [image()]), result("c2", "text")]);
    const [, ...rest] = toOpenAiChat(context);
    expect(rest).toEqual([
      { role: "tool", tool_call_id: "c1", content: "(see the image that follows)" },
      { role: "tool", tool_call_id: "c2", content: "text" },
      {
        role: "user",
        content: [text("Image returned by the tool read:"), { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }],
      },
    ]);
  });

  test("leaves thinking out, and a reply of nothing else too", () => {
    const thinking = { type: "thinking" as const, thinking: "hm", thinkingSignature: "s" };
    expect(toOpenAiChat(contextOf([user("a"), assistant([thinking]), assistant([thinking, text("b")])]))).toEqual([
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ]);
  });

  test("names a block of another program by its type", () => {
    const context = contextOf([user([foreign({ type: "document" })])]);
    expect(toOpenAiChat(context)).toEqual([{ role: "user", content: "[A block of type document that cannot be shown here]" }]);
  });

  test("shortens ids to the 40 characters the API takes, the same in call and result", () => {
    const long = `call_${"x".repeat(80)}`;
    const [reply, tool] = toOpenAiChat(contextOf([assistant([call(long)]), result(long)]));
    const id = reply?.role === "assistant" ? reply.tool_calls?.[0]?.id : undefined;
    expect(id).toHaveLength(40);
    expect(tool).toEqual({ role: "tool", tool_call_id: id, content: "done" });
  });

  test("keeps every call with its result, in any context", () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const messages = toOpenAiChat(context);
        expect(pairedCalls(messages)).toBe(countCalls(context));
        expect(textsIn(messages).every((one) => one.isWellFormed())).toBe(true);
      }),
    );
  });
});

/** Counts the calls, and fails unless exactly their results follow each reply. */
function pairedCalls(messages: readonly OpenAiChatMessage[]): number {
  const ids: string[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "assistant") return;
    const calls = message.tool_calls ?? [];
    const results = messages.slice(at + 1, at + 1 + calls.length);
    expect(results.map((one) => (one.role === "tool" ? one.tool_call_id : one.role))).toEqual(calls.map((one) => one.id));
    expect(message.content !== null || calls.length > 0).toBe(true);
    ids.push(...calls.map((one) => one.id));
  });
  expect(messages.filter((message) => message.role === "tool")).toHaveLength(ids.length);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => /^[a-zA-Z0-9_-]{1,40}$/.test(id))).toBe(true);
  return ids.length;
}
