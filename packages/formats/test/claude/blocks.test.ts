import { describe, expect, test } from "vitest";
import { reply, text, user } from "./claude-file.js";
import { importLines, messageOf } from "./imported.js";

const said = (block: unknown) => messageOf(importLines([user("u1", null, [block])]), "u1").content;
const answered = (block: unknown) => messageOf(importLines([reply("a1", null, "m1", [block])]), "a1").content;
const image = (source: unknown) => ({ type: "image", source });

describe("a block that a person or a tool gave", () => {
  test("is a text with the fields that are not ours", () => {
    expect(said({ ...text("hi"), citations: null })).toEqual([{ type: "text", text: "hi", citations: null }]);
  });

  test("is an image where it holds one", () => {
    expect(said(image({ type: "base64", media_type: "image/png", data: "aGk=" }))).toEqual([
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ]);
  });

  test.each([
    image({ type: "url", url: "https://example.org/a.png" }),
    image({ type: "base64", media_type: "image/png", data: "not base64!" }),
    image({ type: "base64", media_type: "text/html", data: "aGk=" }),
    image({ type: "base64", media_type: "image/png", data: "" }),
    image(null),
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: "no base64" } },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
    { type: "text", text: 5 },
  ])("is kept whole where no request could carry it: %j", (block) => {
    expect(said(block)).toEqual([{ type: "foreign", originalType: block.type, raw: block }]);
  });

  test("is kept whole also where it is no object", () => {
    expect(said("loose")).toEqual([{ type: "foreign", originalType: "unknown", raw: "loose" }]);
  });
});

describe("a block of a reply", () => {
  test("keeps the signature of what the model thought as it came", () => {
    expect(answered({ type: "thinking", thinking: "hm", signature: "Ep+/=" })).toEqual([
      { type: "thinking", thinking: "hm", thinkingSignature: "Ep+/=" },
    ]);
  });

  test("is redacted thinking with its data as signature", () => {
    expect(answered({ type: "redacted_thinking", data: "abc" })).toEqual([
      { type: "thinking", thinking: "", thinkingSignature: "abc", redacted: true },
    ]);
  });

  test.each([
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    ["{broken", { input: "{broken" }],
    [[1], { input: [1] }],
    [null, {}],
  ])("is a call whose arguments %j become an object", (input, kept) => {
    expect(answered({ type: "tool_use", id: "c1", name: "Read", input })).toEqual([
      { type: "toolCall", id: "c1", name: "Read", arguments: kept },
    ]);
  });

  test("that only the provider understands is kept whole", () => {
    const block = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    expect(answered(block)).toEqual([{ type: "foreign", originalType: "server_tool_use", raw: block }]);
  });

  test("may be the whole content, as a text", () => {
    expect(messageOf(importLines([reply("a1", null, "m1", "plain")]), "a1").content).toEqual([{ type: "text", text: "plain" }]);
  });
});
