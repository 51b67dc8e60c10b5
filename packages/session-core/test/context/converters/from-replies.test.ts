import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as core from "../../../src/index.js";
import { contextOf, PIXEL } from "./contexts.js";

function messageOf(given: core.EntryInput | readonly core.EntryInput[]): core.AssistantMessage {
  const [entry, ...others] = "type" in given ? [given] : given;
  if (entry === undefined || others.length > 0) throw new Error("not one entry");
  if (entry.type !== "message" || entry.message.role !== "assistant" || !Array.isArray(entry.message.content)) throw new Error("no reply");
  return { ...entry.message, content: entry.message.content } as core.AssistantMessage;
}

const name = fc.constantFrom("read", "add_2", "web-search");
const id = fc.integer({ min: 0, max: 1e6 }).map((at) => `call_${at}`);
const words = fc.string({ unit: "grapheme-ascii", minLength: 1 }).filter((text) => text.trim() !== "");
const args = fc.dictionary(
  fc.string().filter((key) => key !== "__proto__"),
  fc.oneof(fc.string(), fc.integer(), fc.boolean()),
);
const calls = fc.uniqueArray(fc.record({ id, name, args }), { selector: ({ id: one }) => one, maxLength: 3 });

describe("a reply, read and sent again", () => {
  test("is the message of the chat completion", () => {
    fc.assert(
      fc.property(words, calls, (content, made) => {
        const tool_calls = made.map((call) => ({
          id: call.id,
          type: "function",
          function: { name: call.name, arguments: JSON.stringify(call.args) },
        }));
        const message = { role: "assistant", content, ...(made.length === 0 ? {} : { tool_calls }) };
        const reply = messageOf(core.fromOpenAiChat({ choices: [{ message, finish_reason: "stop" }] }));
        expect(core.toOpenAiChat(contextOf([reply]))[0]).toEqual(message);
      }),
    );
  });

  test("is the output of the response", () => {
    fc.assert(
      fc.property(words, calls, fc.array(words, { maxLength: 3 }), (text, made, summary) => {
        const output = [
          { type: "reasoning", id: "rs_1", summary: summary.map((one) => ({ type: "summary_text", text: one })), encrypted_content: "e" },
          {
            type: "message",
            role: "assistant",
            id: "msg_1",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [] }],
          },
          ...made.map((call) => ({
            type: "function_call",
            id: `fc_${call.id}`,
            call_id: call.id,
            name: call.name,
            arguments: JSON.stringify(call.args),
          })),
        ];
        const { input } = core.toOpenAiResponses(contextOf([messageOf(core.fromOpenAiResponses({ status: "completed", output }))]));
        expect(input.slice(0, output.length)).toEqual(output);
      }),
    );
  });

  test("is the output of the response with a call of a custom tool, whose input is a text", () => {
    const output = [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" },
      { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "apply_patch", namespace: "files", input: "*** Begin Patch" },
    ];
    const reply = messageOf(core.fromOpenAiResponses({ status: "completed", output }));
    const context = contextOf([reply, { role: "toolResult", toolCallId: "call_1", content: "Done", isError: false }]);
    const answer = { type: "custom_tool_call_output", call_id: "call_1", output: "Done" };
    expect(core.toOpenAiResponses(context).input).toEqual([...output, answer]);
    const elsewhere = core.toOpenAiResponses({ ...context, model: { provider: "xai", modelId: "grok-5" } });
    expect(elsewhere.input).toEqual([
      { type: "function_call", call_id: "call_1", name: "apply_patch", arguments: '{"input":"*** Begin Patch"}' },
      { type: "function_call_output", call_id: "call_1", output: "Done" },
    ]);
  });

  test("has no id that the API refuses for the type of its item", () => {
    const reasoning = { itemId: "rs_1", reasoningEncryptedContent: "e" };
    const content: core.AssistantBlock[] = [
      { type: "thinking", thinking: "", providerOptions: { openai: reasoning } },
      { type: "toolCall", id: "call_1", name: "local_shell", arguments: { input: "ls" }, providerOptions: { openai: { itemId: "lsh_1" } } },
    ];
    const { input } = core.toOpenAiResponses(contextOf([{ role: "assistant", provider: "openai", content }]));
    expect(input[1]).toEqual({ type: "function_call", call_id: "call_1", name: "local_shell", arguments: '{"input":"ls"}' });
  });

  test("is the content of Anthropic's message", () => {
    fc.assert(
      fc.property(words, words, calls, (thinking, text, made) => {
        const content = [
          { type: "thinking", thinking, signature: "sig" },
          { type: "redacted_thinking", data: "hidden" },
          { type: "text", text },
          { type: "server_tool_use", id: "srv", name: "web_search", input: {} },
          { type: "web_search_tool_result", tool_use_id: "srv", content: [] },
          ...made.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.args })),
          { type: "text", text: "end" },
        ];
        const { messages } = core.toAnthropic(contextOf([{ role: "user", content: "q" }, messageOf(core.fromAnthropic({ content }))]));
        expect(messages[1]).toEqual({ role: "assistant", content });
      }),
    );
  });
});

describe("a chat completion", () => {
  const read = (message: object, rest: object = {}) => messageOf(core.fromOpenAiChat({ choices: [{ message, ...rest }] }));

  test("gives model, usage, stop reason and id", () => {
    const reply = {
      id: "chatcmpl-1",
      model: "gpt-4o-2024-11-20",
      choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "length" }],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
    };
    expect(core.fromOpenAiChat(reply)).toEqual({
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "text", text: "hi" }],
        provider: "openai",
        model: "gpt-4o-2024-11-20",
        usage: { input: 9, output: 2, totalTokens: 11 },
        stopReason: "length",
        responseId: "chatcmpl-1",
      },
    });
  });

  test("gives a refusal as a text that is marked", () => {
    expect(read({ content: null, refusal: "I cannot." }).content).toEqual([{ type: "text", text: "I cannot.", refusal: true }]);
  });

  test("gives the text of parts, and images", () => {
    const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } }];
    expect(read({ content: [{ type: "text", text: "here" }], images }).content).toEqual([
      { type: "text", text: "here" },
      { type: "image", mimeType: "image/png", data: PIXEL },
    ]);
  });

  test.each([
    ["", {}],
    ['{"a":1', { unreadable: '{"a":1' }],
    ["[1]", { unreadable: "[1]" }],
  ])("keeps arguments that are not a JSON object: %s", (given, expected) => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: given } };
    expect(read({ content: null, tool_calls: [call] }).content).toEqual([{ type: "toolCall", id: "c", name: "f", arguments: expected }]);
  });
});

describe("a response", () => {
  test.each([
    [{ status: "completed" }, [], "stop"],
    [{ status: "completed" }, [{ type: "function_call", call_id: "c", name: "f", arguments: "{}" }], "toolUse"],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, [], "length"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, [], "contentFilter"],
    [{ status: "failed", error: { message: "overloaded" } }, [], "error"],
    [{ status: "cancelled" }, [], "aborted"],
  ])("%j ends for its reason", (fields, output, stopReason) => {
    const message = messageOf(core.fromOpenAiResponses({ ...fields, output }));
    expect(message.stopReason).toBe(stopReason);
    expect(message.errorMessage).toBe("error" in fields ? "overloaded" : undefined);
  });

  test("keeps a generated image, and items of OpenAI's own tools as foreign blocks", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const output = [{ type: "image_generation_call", id: "ig_1", result: PIXEL }, search];
    expect(messageOf(core.fromOpenAiResponses({ output })).content).toEqual([
      { type: "image", mimeType: "image/png", data: PIXEL, providerOptions: { openai: { itemId: "ig_1" } } },
      { type: "foreign", originalType: "web_search_call", raw: search },
    ]);
  });

  test("without encrypted content is sent without the ids that need it", () => {
    const output = [
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}" },
    ];
    const { input } = core.toOpenAiResponses(contextOf([messageOf(core.fromOpenAiResponses({ output }))]));
    expect(input[0]).toEqual({ type: "function_call", call_id: "c", name: "f", arguments: "{}" });
  });

  test("that was interrupted after its reasoning is sent without it, as the API rejects reasoning at the end", () => {
    const output = [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" }];
    expect(core.toOpenAiResponses(contextOf([messageOf(core.fromOpenAiResponses({ output }))])).input).toEqual([]);
  });
});

describe("what is no reply", () => {
  test.each([
    ["fromOpenAiChat", core.fromOpenAiChat],
    ["fromOpenAiResponses", core.fromOpenAiResponses],
    ["fromAnthropic", core.fromAnthropic],
  ])("is refused by %s with the server's error", (_name, read) => {
    expect(() => read({ error: { message: "Rate limit reached" } })).toThrow(
      /^The argument reply must be .*; it is the error "Rate limit reached"/,
    );
    expect(() => read({ choices: [] })).toThrow(/^The argument reply must be .*; it is an object\./);
    expect(() => read(JSON.parse("null"))).toThrow(core.InvalidArgumentError);
  });
});

describe("a stop reason", () => {
  test.each([
    ["end_turn", "stop"],
    ["tool-calls", "toolUse"],
    ["tool_use", "toolUse"],
    ["MAX_TOKENS", "length"],
    ["content-filter", "contentFilter"],
    ["SAFETY", "contentFilter"],
    ["toolUse", "toolUse"],
    ["contentFilter", "contentFilter"],
    ["pause_turn", "pause_turn"],
  ])("%s is %s", (given, expected) => {
    expect(core.stopReasonOf(given)).toBe(expected);
    expect(core.stopReasonOf(expected)).toBe(expected);
  });
});
