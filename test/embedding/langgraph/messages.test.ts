import { BoughSaver } from "@bough/adapters/langgraph";
import { type Message, openStore, type Store } from "@bough/session-core";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { type Checkpoint, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let store: Store;
let saver: BoughSaver;

beforeEach(async () => {
  store = await openStore({ path: ":memory:" });
  saver = new BoughSaver(store);
});
afterEach(async () => {
  for await (const violation of store.verify()) expect(violation).toBeUndefined();
  await store.close();
});

const config = { configurable: { thread_id: "t" } };

/** Puts messages, and reads them as another process would: the LangChain messages and those of the session. */
async function stored(...messages: readonly unknown[]): Promise<{ readonly back: readonly unknown[]; readonly read: readonly Message[] }> {
  const checkpoint: Checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: { messages }, channel_versions: { messages: 1 } };
  await saver.put(config, checkpoint, { source: "input", step: -1, parents: {} }, { messages: 1 });
  const tuple = await new BoughSaver(store).getTuple(config);
  const path = await (await store.openSession("t")).path();
  return {
    back: tuple?.checkpoint.channel_values["messages"] as readonly unknown[],
    read: path.flatMap((entry) => (entry.type === "message" ? [entry.message] : [])),
  };
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";

const long = "The lexer counts a tab as one column, so every column behind it is wrong. ".repeat(3);

const messages: Readonly<Record<string, BaseMessage>> = {
  "a question": new HumanMessage({ id: "h", content: long, name: "Ann", additional_kwargs: { source: "web" } }),
  "an empty question": new HumanMessage({ id: "h", content: "" }),
  "a system message": new SystemMessage({ id: "s", content: [{ type: "text", text: long }] }),
  "a reply with calls, usage and model": new AIMessage({
    id: "a",
    content: long,
    tool_calls: [{ id: "c1", name: "bash", args: { command: long }, type: "tool_call" }],
    invalid_tool_calls: [{ id: "c2", name: "bash", args: "{", error: "no JSON", type: "invalid_tool_call" }],
    // The type of the constructor allows no usage.
    usage_metadata: { input_tokens: 900, output_tokens: 40, total_tokens: 940, input_token_details: { cache_read: 800 } } as never,
    response_metadata: { model_name: "gpt-5", finish_reason: "tool_calls" },
  }),
  "a reply of Anthropic": new AIMessage({
    id: "a",
    content: [
      { type: "thinking", thinking: long, signature: "c2lnbmF0dXJl" },
      { type: "text", text: "Done.", citations: [{ page: 1 }] },
      { type: "tool_use", id: "c1", name: "read", input: { path: "a.ts" } },
    ],
    tool_calls: [{ id: "c1", name: "read", args: { path: "a.ts" } }],
    response_metadata: { model: "claude", stop_reason: "tool_use" },
  }),
  "a part of a stream": new AIMessageChunk({ id: "a", content: "Do", tool_call_chunks: [{ index: 0, id: "c", name: "x", args: "{" }] }),
  "a tool's result": new ToolMessage({
    id: "t",
    tool_call_id: "c1",
    name: "bash",
    content: long,
    status: "error",
    artifact: { lines: [1, 2] },
  }),
  "a message of another role": new ChatMessage({ id: "x", role: "reviewer", content: "No." }),
  "a function's result": new FunctionMessage({ id: "f", name: "old", content: "4" }),
  "an image by data URL": new HumanMessage({
    id: "h",
    content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "low" } }],
  }),
  "an image of the old standard": new HumanMessage({
    id: "h",
    content: [{ type: "image", source_type: "base64", mime_type: "image/png", data: png }],
  }),
  "an image of the new standard": new HumanMessage({ id: "h", contentBlocks: [{ type: "image", mimeType: "image/png", data: png }] }),

  "an image of Anthropic": new HumanMessage({
    id: "h",
    content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: png } }],
  }),
  "an image by URL": new HumanMessage({ id: "h", content: [{ type: "image_url", image_url: "https://example.org/a.png" }] }),
  "a PDF": new HumanMessage({
    id: "h",
    content: [{ type: "file", mimeType: "application/pdf", data: png, metadata: { filename: "a.pdf" } }],
  }),
  "a file of OpenAI": new HumanMessage({
    id: "h",
    content: [{ type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${png}` } }],
  }),
  "a sound": new HumanMessage({ id: "h", content: [{ type: "input_audio", input_audio: { data: png, format: "wav" } }] }),
  "an unknown block": new HumanMessage({ id: "h", content: [{ type: "hologram", depth: { layers: [1, null] } }] }),
  "a member that looks like a reference": new HumanMessage({ id: "h", content: long, additional_kwargs: { $: ["content"] } }),
  "a lone surrogate, NUL and a numeric key": new HumanMessage({
    id: "h",
    content: "\ud800 \0",
    additional_kwargs: { b: 1, "2": 2, "-0": -0 },
  }),
};

describe.each(Object.entries(messages))("%s", (_name, message) => {
  test("comes back as it was", async () => {
    const { back } = await stored(message);
    expect(back).toEqual(
      [JSON.parse(JSON.stringify(message)) && (await saver.serde.loadsTyped(...(await saver.serde.dumpsTyped([message]))))].flat(),
    );
    expect(back[0]).toBeInstanceOf(message.constructor);
  });

  test("is not stored twice", async () => {
    await stored(message);
    const { payloadBytes } = await (await store.openSession("t")).record();
    expect(payloadBytes).toBeLessThan(JSON.stringify(message).length + 1500);
  });
});

test("what a person reads of a reply: text, calls, model, usage and the reason why it stopped", async () => {
  const { read } = await stored(messages["a reply with calls, usage and model"]);
  expect(read).toMatchObject([
    {
      role: "assistant",
      content: [
        { type: "text", text: long },
        { type: "toolCall", id: "c1", name: "bash", arguments: { command: long } },
      ],
      model: "gpt-5",
      usage: { input: 100, output: 40, cacheRead: 800, totalTokens: 940 },
      stopReason: "toolUse",
    },
  ]);
});

test("thinking is thinking, and a call that stands in the content too is there once", async () => {
  const { read } = await stored(messages["a reply of Anthropic"]);
  expect(read).toMatchObject([{ content: [{ type: "thinking", thinking: long }, { type: "text" }, { type: "toolCall", id: "c1" }] }]);
});

test.each(["an image by data URL", "an image of the old standard", "an image of the new standard", "an image of Anthropic"])(
  "%s is an image",
  async (name) => {
    const { read } = await stored(messages[name]);
    expect(read).toMatchObject([{ role: "user", content: [{ type: "image", mimeType: "image/png", data: png }] }]);
  },
);

test.each([
  ["a PDF", { mediaType: "application/pdf", data: png, filename: "a.pdf" }],
  ["a file of OpenAI", { mediaType: "application/pdf", data: png, filename: "a.pdf" }],
  ["a sound", { mediaType: "audio/wav", data: png }],
  ["an image by URL", { mediaType: "image/*", url: "https://example.org/a.png" }],
])("%s is a file", async (name, file) => {
  const { read } = await stored(messages[name]);
  expect(read).toMatchObject([{ content: [{ type: "file", ...file }] }]);
});

test("a list may have messages and anything else", async () => {
  const list = [messages["a question"], "text", 4, null, { deep: [new Map([[1, new Set(["x"])]])] }, messages["a question"]];
  const { back, read } = await stored(...list);
  expect(back).toEqual(await saver.serde.loadsTyped(...(await saver.serde.dumpsTyped(list))));
  expect(read).toHaveLength(2);
});
