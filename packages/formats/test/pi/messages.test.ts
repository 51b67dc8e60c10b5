import { describe, expect, test } from "vitest";
import { entriesOf, messageOf, payloadOf, problemsOf, recordsOf } from "./pi-files.js";

const assistant = (content: unknown, fields: Record<string, unknown> = {}) => messageOf({ role: "assistant", content, ...fields });
const block = (given: Record<string, unknown>) => (assistant([given]) as { content: readonly unknown[] }).content[0];

describe("a message", () => {
  test("keeps every field it has, its own time and opaque signatures byte for byte", () => {
    const message = {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "…", thinkingSignature: "EqoB\u2028==", itemId: "i" },
        { type: "text", text: "ok", textSignature: '{"v":1}' },
        { type: "toolCall", id: "t", name: "read", arguments: { path: "a", deep: [null, 1e21] }, thoughtSignature: "x" },
      ],
      api: "anthropic-messages",
      usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 7, cost: { total: 0.1 } },
      stopReason: "toolUse",
      timestamp: 1778547747721,
      responseId: "r",
    };
    expect(messageOf(message)).toEqual(message);
  });

  test.each(["user", "assistant", "custom"])("of role %s with null for content has none", (role) => {
    expect(messageOf({ role, content: null, customType: "x" })).toMatchObject({ content: [] });
  });

  test("of the system with null for content has an empty text", () => {
    expect(messageOf({ role: "system", content: null })).toMatchObject({ content: "" });
  });

  test("has no null where a text is missing, and no usage that cannot be added up", () => {
    const message = assistant("hi", { provider: null, errorMessage: null, usage: { input: null, output: 3, cost: { total: -1 } } });
    expect(message).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "hi" }],
      usage: { output: 3, unusable: { input: null, cost: { total: -1 } } },
    });
  });

  test("whose role or shape is unknown is kept whole as a foreign entry, and reported", () => {
    const record = { type: "message", id: "e", parentId: null, message: { role: "oracle", content: "x" } };
    const records = recordsOf([record]);
    expect(entriesOf(records)[0]?.payload).toEqual({ type: "foreign", originalType: "message", raw: record });
    expect(problemsOf(records)).toMatchObject([{ code: "invalid-record", line: 2 }]);
    expect(payloadOf({ type: "message", message: { role: "user", content: 7 } })).toMatchObject({ type: "foreign" });
    expect(payloadOf({ type: "message", message: { role: "toolResult", content: [] } })).toMatchObject({ type: "foreign" });
    expect(payloadOf({ type: "message" })).toMatchObject({ type: "foreign" });
  });
});

describe("the arguments of a tool call", () => {
  const call = (given: unknown) => (block({ type: "toolCall", id: "t", name: "n", arguments: given }) as { arguments: unknown }).arguments;

  test.each([
    ["an object stays as it is", { a: 1 }, { a: 1 }],
    ["JSON text is read", '{"a":1}', { a: 1 }],
    ["a text that is no JSON is kept", '{"a":', { raw: '{"a":' }],
    ["anything else is kept", [1], { raw: [1] }],
    ["nothing is no arguments", null, {}],
  ])("%s", (_, given, expected) => {
    expect(call(given)).toEqual(expected);
  });

  test("come without the scratch of streaming", () => {
    expect(block({ type: "toolCall", id: "t", name: "n", arguments: {}, partialJson: "{" })).toEqual({
      type: "toolCall",
      id: "t",
      name: "n",
      arguments: {},
    });
    expect(messageOf({ role: "toolResult", toolCallId: "t", content: [], details: { jsonlEvents: [1], kept: 2 } })).toMatchObject({
      details: { kept: 2 },
    });
  });
});

describe("a block", () => {
  test("of redacted thinking keeps its data as the signature", () => {
    expect(block({ type: "redactedThinking", data: "enc" })).toEqual({
      type: "thinking",
      thinking: "",
      thinkingSignature: "enc",
      redacted: true,
    });
  });

  test.each([
    ["that we do not know", { type: "fallback", from: "a", to: "b" }],
    ["of a server's tool", { type: "anthropicServerTool", block: { type: "server_tool_use" } }],
    ["of text without a text", { type: "text" }],
    ["of a call without a name", { type: "toolCall", id: "t" }],
    ["of an image whose data was cut off", { type: "image", data: "AAAA\n\n[truncated]", mimeType: "image/png" }],
    ["of an image with another type", { type: "image", data: "AAAA", mimeType: "text/html" }],
  ])("%s is kept whole as a foreign block", (_, given) => {
    expect(block(given)).toEqual({ type: "foreign", originalType: given.type, raw: given });
  });

  test("of a model in a person's message is foreign there", () => {
    const call = { type: "toolCall", id: "t", name: "n", arguments: {} };
    expect(messageOf({ role: "user", content: [call, "bare"] })).toEqual({
      role: "user",
      content: [
        { type: "foreign", originalType: "toolCall", raw: call },
        { type: "foreign", originalType: "string", raw: "bare" },
      ],
    });
  });
});

describe("a role that only oh-my-pi or older versions have", () => {
  test("developer becomes a custom message", () => {
    expect(messageOf({ role: "developer", content: "be brief", attribution: "agent" })).toEqual({
      role: "custom",
      customType: "developer",
      content: "be brief",
      attribution: "agent",
    });
  });

  test("pythonExecution becomes an execution whose command is the code", () => {
    expect(messageOf({ role: "pythonExecution", code: "1+1", output: "2", exitCode: 0, cancelled: false, meta: {} })).toEqual({
      role: "bashExecution",
      command: "1+1",
      language: "python",
      output: "2",
      exitCode: 0,
      cancelled: false,
      meta: {},
    });
  });

  test("fileMention becomes a custom message with the files' texts and images", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    expect(
      messageOf({
        role: "fileMention",
        files: [
          { path: "a.ts", content: "x", lineCount: 1 },
          { path: "b.png", content: "", image },
        ],
      }),
    ).toEqual({
      role: "custom",
      customType: "fileMention",
      content: [{ type: "text", text: '<file path="a.ts">\nx\n</file>' }, { type: "text", text: '<file path="b.png">\n\n</file>' }, image],
      details: { files: [{ path: "a.ts", lineCount: 1 }, { path: "b.png" }] },
      nestedCalls: {
        calls: [
          { name: "read", arguments: { path: "a.ts" }, status: "ok" },
          { name: "read", arguments: { path: "b.png" }, status: "ok" },
        ],
      },
    });
  });

  test("a command may come without an exit code and with flags of any kind", () => {
    expect(messageOf({ role: "bashExecution", command: "ls", output: null, exitCode: "?", excludeFromContext: 1 })).toEqual({
      role: "bashExecution",
      command: "ls",
      output: "",
      excludeFromContext: true,
    });
  });
});
