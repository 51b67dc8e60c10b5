import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromOpenAiResponses } from "../../../src/context/converters/from-openai-responses.js";
import { toOpenAiResponses } from "../../../src/context/converters/openai-responses.js";
import type { AssistantMessage } from "../../../src/entry/message.js";
import { anyContext, assistant, call, contextOf, countCalls, image, PIXEL, result, text, textsIn, user } from "./contexts.js";

describe("a context as OpenAI Responses items", () => {
  test("gives the instructions beside the input", () => {
    expect(toOpenAiResponses(contextOf([user("hi")], "Be brief."))).toEqual({
      instructions: "Be brief.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
    });
  });

  test("keeps the order of texts and calls of a reply, its outputs behind them", () => {
    const context = contextOf([assistant([text("one"), call("c1"), text("two"), call("c2")]), result("c1", "r1"), result("c2", "r2")]);
    expect(toOpenAiResponses(context).input).toEqual([
      { type: "message", role: "assistant", content: "one" },
      { type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a.ts"}' },
      { type: "message", role: "assistant", content: "two" },
      { type: "function_call", call_id: "c2", name: "read", arguments: '{"path":"a.ts"}' },
      { type: "function_call_output", call_id: "c1", output: "r1" },
      { type: "function_call_output", call_id: "c2", output: "r2" },
    ]);
  });

  test("gives images of a result inside its output", () => {
    const context = contextOf([assistant([call("c1")]), result("c1", [text("here"), image()])]);
    expect(toOpenAiResponses(context).input.at(-1)).toEqual({
      type: "function_call_output",
      call_id: "c1",
      output: [
        { type: "input_text", text: "here" },
        { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" },
      ],
    });
  });

  test("leaves reasoning out, also signed", () => {
    const context = contextOf([assistant([{ type: "thinking", thinking: "hm", thinkingSignature: "gAAAA" }, text("b")], "openai")]);
    expect(toOpenAiResponses(context)).toEqual({ input: [{ type: "message", role: "assistant", content: "b" }] });
  });

  describe("a reply with tools that OpenAI ran", () => {
    const thought = (id: string) => ({ type: "reasoning", id, summary: [], encrypted_content: "gAAAA" });
    const hosted = [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "bough", queries: ["bough"] } },
      { type: "file_search_call", id: "fs_1", status: "completed", queries: ["bough"], results: null },
      { type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1", container_id: "cntr_1", outputs: null },
      { type: "image_generation_call", id: "ig_1", status: "completed", result: PIXEL },
      { type: "mcp_list_tools", id: "mcpl_1", server_label: "s", tools: [] },
      { type: "mcp_call", id: "mcp_1", server_label: "s", name: "n", arguments: "{}", output: "o" },
    ];
    const answer = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Found.", annotations: [] }] };
    const contextAfter = (output: readonly object[], provider = "openai") => {
      const [reply] = fromOpenAiResponses({ id: "resp_1", status: "completed", model: "gpt-5", output });
      // As `append` would store it.
      const { message } = reply as { readonly message: AssistantMessage };
      return { ...contextOf([user("Search."), message]), model: { provider, modelId: "m" } };
    };

    test.each(hosted)("has the $type after its reasoning, without which the API rejects the reasoning", (item) => {
      const [, ...reply] = toOpenAiResponses(contextAfter([thought("rs_1"), item, thought("rs_2"), answer])).input;
      expect(reply).toEqual([thought("rs_1"), item, thought("rs_2"), { ...answer, status: "completed" }]);
    });

    test.each(hosted)("has the $type without its id where no reasoning is before it", ({ id, ...item }) => {
      const [, first] = toOpenAiResponses(contextAfter([{ ...item, id }, answer])).input;
      expect(first).toEqual(item);
    });

    test("leaves out its items for another provider, and an item whose output only a client can give", () => {
      const other = contextAfter([...hosted, answer], "xai");
      expect(toOpenAiResponses(other).input.slice(1)).toEqual([{ type: "message", role: "assistant", content: "Found." }]);
      const computer = contextAfter([{ type: "computer_call", id: "cu_1", call_id: "c", action: { type: "screenshot" } }, answer]);
      expect(toOpenAiResponses(computer).input.slice(1)).toEqual([{ type: "message", role: "assistant", content: "Found." }]);
    });
  });

  test("has exactly one output behind each call, in any context", () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const { input } = toOpenAiResponses(context);
        const calls = input.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
        const outputs = input.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : []));
        expect(outputs).toEqual(calls);
        expect(new Set(calls).size).toBe(countCalls(context));
        for (const id of calls) {
          const places = input.flatMap((item, at) => ("call_id" in item && item.call_id === id ? [at] : []));
          const between = input.slice((places[0] ?? 0) + 1, places[1]);
          expect(between.every((item) => item.type !== "message" || item.role === "assistant")).toBe(true);
        }
        expect(textsIn(input).every((one) => one.isWellFormed())).toBe(true);
      }),
    );
  });
});
