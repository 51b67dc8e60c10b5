import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAnthropic } from "../../../src/context/converters/anthropic.js";
import type { AnthropicMessage } from "../../../src/context/converters/anthropic-messages.js";
import { createCallIdMapper } from "../../../src/context/converters/sanitize.js";
import type { AssistantBlock } from "../../../src/entry/message.js";
import { anyContext, assistant, call, contextOf, countCalls, foreign, image, PIXEL, result, text, textsIn, user } from "./contexts.js";

const signed: AssistantBlock = { type: "thinking", thinking: "hm ", thinkingSignature: "c2ln+/=" };
const pixel = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };

function messagesOf(...given: Parameters<typeof contextOf>[0]): AnthropicMessage[] {
  return toAnthropic(contextOf(given)).messages;
}

describe("a context as an Anthropic request", () => {
  test("gives the instructions beside the messages", () => {
    expect(toAnthropic(contextOf([user("hi")], "Be brief."))).toEqual({
      system: "Be brief.",
      messages: [{ role: "user", content: [text("hi")] }],
    });
  });

  test("puts all results of a reply first in one user message, what the person said behind them", () => {
    const messages = messagesOf(user("go"), assistant([call("c1"), call("c2")]), result("c1", "r1"), user("and"), result("c2", "r2"));
    expect(messages.at(-1)).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: [text("r1")] },
        { type: "tool_result", tool_use_id: "c2", content: [text("r2")] },
        text("and"),
      ],
    });
  });

  test("joins what one role says in a row", () => {
    expect(messagesOf(user("a"), user("b"), assistant([text("c")]), assistant([text("d")]), user("e"))).toEqual([
      { role: "user", content: [text("a"), text("b")] },
      { role: "assistant", content: [text("c"), text("d")] },
      { role: "user", content: [text("e")] },
    ]);
  });

  test("opens with the user where the context opens with a reply", () => {
    expect(messagesOf(assistant([text("a")]), user("b"))[0]).toEqual({ role: "user", content: [text("(The conversation continues.)")] });
  });

  test("keeps signed thinking of Anthropic's models byte for byte", () => {
    const [, reply] = messagesOf(user("a"), assistant([signed, text("b")]));
    expect(reply?.content[0]).toEqual({ type: "thinking", thinking: "hm ", signature: "c2ln+/=" });
  });

  test("leaves out signed thinking with a lone surrogate: the API takes neither it nor another text", () => {
    const [torn, options] = ["hm\ud800", { anthropic: { signature: "c2ln" } }];
    const blocks: AssistantBlock[] = [
      { type: "thinking", thinking: torn, thinkingSignature: "c2ln" },
      { type: "thinking", thinking: torn, providerOptions: options },
      { type: "thinking", thinking: torn, thinkingSignature: "ZGF0YQ==", redacted: true },
      text("b"),
    ];
    expect(messagesOf(user("a"), assistant(blocks))[1]?.content).toEqual([{ type: "redacted_thinking", data: "ZGF0YQ==" }, text("b")]);
  });

  test("gives redacted thinking back as such", () => {
    const redacted: AssistantBlock = { type: "thinking", thinking: "[redacted]", thinkingSignature: "ZGF0YQ==", redacted: true };
    const [, reply] = messagesOf(user("a"), assistant([redacted, text("b")]));
    expect(reply?.content[0]).toEqual({ type: "redacted_thinking", data: "ZGF0YQ==" });
  });

  test("drops thinking that is another provider's, or not signed", () => {
    const unsigned: AssistantBlock = { type: "thinking", thinking: "hm" };
    expect(messagesOf(user("a"), assistant([signed, text("b")], "openai"), user("c"), assistant([unsigned, text("d")]), user("e"))).toEqual(
      [
        { role: "user", content: [text("a")] },
        { role: "assistant", content: [text("b")] },
        { role: "user", content: [text("c")] },
        { role: "assistant", content: [text("d")] },
        { role: "user", content: [text("e")] },
      ],
    );
  });

  test("drops a reply that broke off while thinking, and joins its neighbours", () => {
    expect(messagesOf(user("a"), assistant([signed]), user("b"))).toEqual([{ role: "user", content: [text("a"), text("b")] }]);
  });

  test("drops blank texts and empty replies", () => {
    const failed = { ...assistant([]), stopReason: "error", errorMessage: "overloaded" };
    expect(messagesOf(user("a"), failed, assistant([text(" \n"), text("b")]), user(""))).toEqual([
      { role: "user", content: [text("a")] },
      { role: "assistant", content: [text("b")] },
    ]);
  });

  test("says what a failed call said, with its images behind the results", () => {
    const last = messagesOf(user("a"), assistant([call("c1")]), result("c1", [text("no"), image()], true)).at(-1);
    expect(last?.content).toEqual([{ type: "tool_result", tool_use_id: "c1", content: [text("no")], is_error: true }, pixel]);
  });

  test("never gives an empty result", () => {
    const last = messagesOf(user("a"), assistant([call("c1"), call("c2")]), result("c1", ""), result("c2", [], true)).at(-1);
    expect(last?.content).toEqual([
      { type: "tool_result", tool_use_id: "c1", content: [text("(no output)")] },
      { type: "tool_result", tool_use_id: "c2", content: [text("(failed without output)")], is_error: true },
    ]);
  });

  test("renames ids the API refuses, alike in call and result, and apart where two would meet", () => {
    const [, reply, answer] = messagesOf(user("a"), assistant([call("a.b"), call("a:b")]), result("a:b", "second"), result("a.b", "first"));
    expect(reply?.content.map((block) => ("id" in block ? block.id : undefined))).toEqual(["a_b", "a_b_2"]);
    expect(answer?.content).toEqual([
      { type: "tool_result", tool_use_id: "a_b", content: [text("first")] },
      { type: "tool_result", tool_use_id: "a_b_2", content: [text("second")] },
    ]);
  });

  test("tells apart calls of different replies that share an id", () => {
    const messages = messagesOf(
      user("a"),
      assistant([call("call_0")]),
      result("call_0", "1"),
      assistant([call("call_0")]),
      result("call_0", "2"),
    );
    expect(messages.at(-1)?.content).toEqual([{ type: "tool_result", tool_use_id: "call_0_2", content: [text("2")] }]);
  });

  test("gives 120,000 calls of one id ids of their own (work that grows with its square would pass the time limit of any test)", () => {
    const drawId = createCallIdMapper();
    const drawn = Array.from({ length: 120_000 }, () => drawId("call_0"));
    expect([drawn[0], drawn[1], drawn.at(-1)]).toEqual(["call_0", "call_0_2", "call_0_120000"]);
    expect(["call_0_2", "call_0"].map(drawId)).toEqual(["call_0_2_2", "call_0_120001"]);
  });

  test("gives documents and server tools back as they came", () => {
    const document = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" }, title: "t" };
    const use = { type: "server_tool_use", id: "srv1", name: "web_search", input: { query: "q" } };
    const found = { type: "web_search_tool_result", tool_use_id: "srv1", content: [] };
    expect(messagesOf(user([foreign(document)]), assistant([foreign(use), foreign(found), text("b")]))).toEqual([
      { role: "user", content: [document] },
      { role: "assistant", content: [use, found, text("b")] },
    ]);
  });

  test("leaves out server tools of another provider, and those broken off", () => {
    const use = foreign({ type: "server_tool_use", id: "srv1", name: "web_search", input: {} });
    const found = foreign({ type: "web_search_tool_result", tool_use_id: "srv1", content: [] });
    expect(messagesOf(user("a"), assistant([use, text("b")]), user("c"), assistant([use, found, text("d")], "openai"))).toEqual([
      { role: "user", content: [text("a")] },
      { role: "assistant", content: [text("b")] },
      { role: "user", content: [text("c")] },
      { role: "assistant", content: [text("d")] },
    ]);
  });

  test("names an image type that the API refuses instead of sending it", () => {
    expect(messagesOf(user([image("image/svg+xml")]))).toEqual([
      { role: "user", content: [text("[An image (image/svg+xml) that cannot be shown here]")] },
    ]);
  });

  test("ends without white space when it ends with the assistant", () => {
    const use = foreign({ type: "server_tool_use", id: "srv1", name: "web_search", input: {} });
    const before = [assistant([text("b \n")])];
    for (const behind of [[], [assistant([image()])], [assistant([signed])], [assistant([use])], [assistant([])]])
      expect(messagesOf(user("a"), ...before, ...behind).at(-1)).toEqual({ role: "assistant", content: [text("b")] });
  });

  test("is a request the API takes, for any context", () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const { messages } = toAnthropic(context);
        expectAlternation(messages);
        expect(pairedCalls(messages)).toBe(countCalls(context));
        for (const block of messages.flatMap((message): AnthropicMessage["content"][number][] => message.content)) {
          if (block.type === "text") expect(String(block["text"]).trim()).not.toBe("");
          expect(textsIn(block).every((one) => one.isWellFormed())).toBe(true);
        }
        const end = messages.at(-1)?.content.at(-1);
        if (messages.at(-1)?.role === "assistant" && end?.type === "text") expect(String(end["text"])).toMatch(/\S$/);
      }),
    );
  });
});

function expectAlternation(messages: readonly AnthropicMessage[]): void {
  messages.forEach((message, at) => {
    expect(message.role).toBe(at % 2 === 0 ? "user" : "assistant");
    expect(message.content.length).toBeGreaterThan(0);
    if (message.role === "assistant") expect(message.content.at(-1)?.type).not.toMatch(/thinking/);
  });
}

/** Counts the calls, and fails unless their results are the first blocks of the message behind. */
function pairedCalls(messages: readonly AnthropicMessage[]): number {
  const ids: string[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "assistant") return;
    const calls = message.content.flatMap((block) => (block.type === "tool_use" ? [String(block["id"])] : []));
    const answers = messages[at + 1]?.content.slice(0, calls.length) ?? [];
    expect(answers.map((block) => (block.type === "tool_result" ? block["tool_use_id"] : block.type))).toEqual(calls);
    ids.push(...calls);
  });
  const results = messages
    .flatMap((message): AnthropicMessage["content"][number][] => message.content)
    .filter((block) => block.type === "tool_result");
  expect(results).toHaveLength(ids.length);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true);
  return ids.length;
}
