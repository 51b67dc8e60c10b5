import { fromAiSdk, recordStream, stepEntries } from "@bough/adapters/ai-sdk";
import { openStore, toAiSdk } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";

// What version 7 of the AI SDK writes and version 6, with whose types the adapter is built, does not have. As `ai@7.0.173` gave it.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const ofVersion7 = <T>(value: unknown): T => value as T;
const compaction = {
  type: "custom",
  kind: "openai.compaction",
  providerMetadata: { openai: { itemId: "cmp_1", encryptedContent: "abc" } },
};
const thought = { type: "reasoning-file", file: { base64: png, mediaType: "image/png" } };

async function openedSession() {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  return store.createSession();
}

describe("a file of a message", () => {
  test.each([
    ["base64", { type: "data", data: png }],
    ["bytes", { type: "data", data: new Uint8Array(Buffer.from(png, "base64")) }],
    ["a data URL", { type: "url", url: `data:image/png;base64,${png}` }],
  ])("is stored as the image that it is: %s", async (_name, data) => {
    for (const mediaType of ["image/png", "image/*", "image"]) {
      const session = await openedSession();
      await session.append(fromAiSdk(ofVersion7([{ role: "user", content: [{ type: "file", mediaType, data }] }])));
      expect(toAiSdk(await session.context()).messages).toEqual([
        { role: "user", content: [{ type: "image", image: png, mediaType: "image/png" }] },
      ]);
    }
  });

  test("keeps its address, its text, and the provider's reference to it", () => {
    const files = [
      { type: "file", mediaType: "image/png", data: { type: "url", url: "https://x.example/a.png" } },
      { type: "file", mediaType: "text/plain", data: { type: "text", text: "https://is.text" } },
      { type: "file", mediaType: "application/pdf", data: { type: "reference", reference: { openai: "file_1" } } },
    ];
    expect(fromAiSdk(ofVersion7([{ role: "user", content: files }]))).toMatchObject([
      {
        message: {
          content: [
            { type: "file", mediaType: "image/png", url: "https://x.example/a.png" },
            { type: "file", mediaType: "text/plain", data: Buffer.from("https://is.text").toString("base64") },
            { type: "foreign", raw: { data: { reference: { openai: "file_1" } } } },
          ],
        },
      },
    ]);
  });

  test("of a tool's result reaches the model", () => {
    const output = { type: "content", value: [{ type: "file", mediaType: "image/png", data: { type: "data", data: png } }] };
    const step = {
      content: [
        { type: "tool-call", toolCallId: "c", toolName: "shot", input: {} },
        { type: "tool-result", toolCallId: "c", toolName: "shot", input: {}, output: "a picture" },
      ],
      finishReason: "tool-calls",
      usage: {},
      response: { messages: [{ role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "shot", output }] }] },
    };
    expect(stepEntries(step)[1]).toMatchObject({ message: { content: [{ type: "image", data: png, mimeType: "image/png" }] } });
  });
});

describe("content of a kind of the provider's own", () => {
  const kept = [
    { type: "foreign", originalType: "custom", raw: compaction },
    { type: "foreign", originalType: "reasoning-file", raw: { data: png, mimeType: "image/png" } },
    { type: "text", text: "done" },
  ];

  test("is stored with the reply of a stream", async () => {
    const session = await openedSession();
    const finish = { type: "finish-step", finishReason: "stop", rawFinishReason: "stop", usage: {}, response: { modelId: "m" } };
    const text = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", text: "done" },
      { type: "text-end", id: "1" },
    ];
    const parts = async function* () {
      yield* [{ type: "start-step" }, compaction, thought, ...text, finish];
    };
    for await (const _part of recordStream(session, parts()));
    expect(await session.path()).toMatchObject([{ message: { content: kept } }]);
  });

  test("is stored with a message", () => {
    const { providerMetadata: providerOptions, ...custom } = compaction;
    const content = [
      { ...custom, providerOptions },
      { type: "reasoning-file", data: png, mediaType: "image/png" },
      { type: "text", text: "done" },
    ];
    const [first, ...others] = kept;
    expect(fromAiSdk(ofVersion7([{ role: "assistant", content }]))).toMatchObject([
      { message: { content: [{ ...first, raw: { ...custom, providerOptions } }, ...others] } },
    ]);
  });
});
