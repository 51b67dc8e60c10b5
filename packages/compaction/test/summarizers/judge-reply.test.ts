import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RejectedBecause } from "../../src/errors/summarizer-errors.js";
import { type ModelReply, parseSummarizerReply, skipThinking, stripThinking, validateReply } from "../../src/summarizers/reply.js";

const reply = (text: string, more: Partial<ModelReply> = {}): ModelReply => ({ text, end: "stop", callsTool: false, ...more });

describe("a reply is a summary", () => {
  test("when it ended by itself and has text", () => {
    expect(validateReply(reply("  ## Goal\nBuild it.\n"))).toBe("## Goal\nBuild it.");
  });

  test("when the server gave no finish reason", () => {
    expect(validateReply(reply("## Goal", { end: "unknown" }))).toBe("## Goal");
  });

  test("without leading thinking", () => {
    expect(validateReply(reply("<think>\nshort or long?\n</think>\n\n## Goal"))).toBe("## Goal");
  });

  test("with lone surrogates replaced", () => {
    expect(validateReply(reply("Goal \ud83d"))).toBe("Goal \ufffd");
  });

  test("when it only mentions a tool call", () => {
    expect(validateReply(reply("The agent printed <tool_call> as text."))).toContain("<tool_call>");
  });
});

describe("a reply is rejected", () => {
  test.each<[string, ModelReply, RejectedBecause]>([
    ["when it is empty", reply(""), "empty"],
    ["when it is white space", reply(" \n\t\u00a0 "), "empty"],
    ["when it is all thought", reply("<think>hm</think>\n"), "empty"],
    ["when its thought never ends", reply("<think>hm, let me see"), "empty"],
    ["when it calls a tool", reply("", { end: "tool-calls", callsTool: true }), "tool-call"],
    ["when it calls a tool besides a text", reply("## Goal", { callsTool: true }), "tool-call"],
    ["when the call was left in the text", reply('<tool_call>{"name":"read"}</tool_call>'), "tool-call"],
    ["when the call was left in the text behind a thought", reply("<think>a</think>[TOOL_CALLS][{}]"), "tool-call"],
    ["when it was cut by the output limit", reply("## Goal\nBuild", { end: "length" }), "cut-by-length"],
    ["when only its thought fitted", reply("<think>so many", { end: "length" }), "cut-by-length"],
    ["when a filter stopped it", reply("## Go", { end: "content-filter" }), "refused"],
    ["when the model refuses", reply("", { refuses: true }), "refused"],
  ])("%s", (_when, given, reason) => {
    expect(() => validateReply(given)).toThrow(expect.objectContaining({ code: "SUMMARY_REJECTED", reason }));
  });
});

describe("the result of a host's summarizer", () => {
  test("is a text, or an object with a text and optional fields", () => {
    expect(parseSummarizerReply("## Goal")).toEqual({ text: "## Goal" });
    const full = { text: "## Goal", usage: { input: 10, output: 2 }, extracted: true, model: "m" };
    expect(parseSummarizerReply(full)).toEqual(full);
  });

  test("loses malformed optional fields, not the text", () => {
    expect(parseSummarizerReply({ text: "a", usage: "much", extracted: 1, model: 7, more: 1 })).toEqual({ text: "a" });
    expect(parseSummarizerReply({ text: "a", usage: { input: -1, output: 3 } }).usage).toEqual({ output: 3 });
  });

  test.each<[unknown]>([[undefined], [null], [42], [{}], [{ text: 5 }], [["text"]], [() => "text"]])(
    "is rejected when it is %s",
    (given) => {
      expect(() => parseSummarizerReply(given)).toThrow(expect.objectContaining({ reason: "not-a-text" }));
    },
  );

  test("is rejected when its text is empty", () => {
    expect(() => parseSummarizerReply({ text: " " })).toThrow(expect.objectContaining({ reason: "empty" }));
  });
});

describe("thoughts", () => {
  test.each([
    ["a block at the start", "<think>a</think>b", "b"],
    ["several blocks at the start", "<think>a</think>\n<think>b</think>\nc", "c"],
    ["another name for it, in capitals", "<Thinking>a</THINKING>b", "b"],
    ["a closing tag on its own line, the opening one in the prompt", "hm\nhm\n</think>\n\nc", "c"],
  ])("are taken away: %s", (_what, given, expected) => {
    expect(stripThinking(given)).toBe(expected);
  });

  test.each([
    ["a block inside the text", "a <think>b</think> c"],
    ["a closing tag inside a line", "The template ends with </think> here."],
    ["a quotation with both tags", "Example:\n<think>\nx\n</think>\nend"],
    ["nothing of it", "a < b"],
  ])("are left: %s", (_what, given) => {
    expect(stripThinking(given)).toBe(given);
  });

  test("does not reach a listener, however the reply is split", () => {
    const replies = fc.constantFrom(
      "<think>a < b</think>\n## Goal\nx <b>",
      "## Goal",
      "<b>bold",
      "\n\n<thinking>\nx\n</thinking>done",
      "a<think>b</think>",
    );
    const cuts = fc.array(fc.nat(40));
    fc.assert(
      fc.property(replies, cuts, (text, places) => {
        const heard: string[] = [];
        const listen = skipThinking((piece) => heard.push(piece));
        const at = [0, ...places.filter((place) => place < text.length).toSorted((a, b) => a - b), text.length];
        for (const [i, from] of at.entries()) listen(text.slice(from, at[i + 1] ?? text.length));
        expect(heard.join("").trimStart()).toBe(stripThinking(text).trimStart());
      }),
    );
  });

  test("is removed in linear time", () => {
    expect(stripThinking(`${"<think></think>".repeat(50_000)}a`)).toBe("a");
    expect(stripThinking(`${"\n ".repeat(100_000)}a`).trim()).toBe("a");
  });
});
