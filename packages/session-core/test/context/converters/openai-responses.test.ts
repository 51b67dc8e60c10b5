import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toOpenAiResponses } from "../../../src/context/converters/openai-responses.js";
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
