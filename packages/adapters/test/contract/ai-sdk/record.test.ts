import { toAiSdk, userMessage } from "@bough/session-core";
import { generateText, stepCountIs, streamText, ToolLoopAgent, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { recordResult, recordSteps, recordStream } from "../../../src/ai-sdk/record.js";
import { type Answer, calls, fed, type ModelPart, says, scripted } from "../../ai-sdk/scripted-model.js";

const tools = {
  read: tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => ({ path, lines: 3 }) }),
  fail: tool({ inputSchema: z.object({}), execute: async (): Promise<string> => Promise.reject(new Error("no such file")) }),
  look: tool({
    inputSchema: z.object({}),
    execute: async () => ({ png: "iVBORw0KGgo=" }),
    toModelOutput: ({ output }) => ({ type: "content", value: [{ type: "image-data", data: output.png, mediaType: "image/png" }] }),
  }),
};

const LOOP: readonly Answer[] = [
  [
    { type: "reasoning", text: "Let me look.", providerMetadata: { anthropic: { signature: "c2ln" } } },
    says("I read it."),
    calls("c1", { path: "a.ts" }),
    calls("c2", {}, "fail"),
    calls("c3", {}, "look"),
  ],
  [{ type: "source", sourceType: "url", id: "s1", url: "https://a.example/", title: "A" }, says("Three lines.")],
];

async function asked() {
  const session = await (await openedStore()).createSession({});
  await session.append(userMessage("How long is a.ts?"));
  return session;
}

async function messagesOf(session: Awaited<ReturnType<typeof asked>>) {
  return (await session.path()).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

const options = { tools, stopWhen: stepCountIs(5) };

describe.each([
  ["generateText", (session) => generateText({ ...options, model: scripted(LOOP), prompt: "-", ...recordSteps(session) })],
  ["streamText", (session) => streamText({ ...options, model: scripted(LOOP), prompt: "-", ...recordSteps(session) }).consumeStream()],
  [
    "an agent that streams",
    async (session) => {
      const agent = new ToolLoopAgent({ ...options, model: scripted(LOOP) });
      await (await agent.stream({ prompt: "-", ...recordSteps(session) })).consumeStream();
    },
  ],
  ["a whole result", async (session) => recordResult(session, await generateText({ ...options, model: scripted(LOOP), prompt: "-" }))],
] satisfies [string, (session: Awaited<ReturnType<typeof asked>>) => PromiseLike<unknown>][])("%s", (_name, run) => {
  test("becomes entries with usage, stop reasons, provider, model and what the provider needs back", async () => {
    const session = await asked();
    await run(session);
    const [, first, ...rest] = await messagesOf(session);
    expect(first).toMatchObject({
      role: "assistant",
      provider: "anthropic",
      model: "m-1",
      stopReason: "toolUse",
      responseId: "r1",
      usage: { input: 20, cacheRead: 70, cacheWrite: 10, output: 30 },
      content: [
        { type: "thinking", thinking: "Let me look.", thinkingSignature: "c2ln" },
        { type: "text", text: "I read it." },
        { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } },
        { type: "toolCall", id: "c2" },
        { type: "toolCall", id: "c3" },
      ],
    });
    expect(rest.slice(0, 3)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ toolCallId: "c1", content: '{"path":"a.ts","lines":3}', isError: false }),
        expect.objectContaining({ toolCallId: "c2", content: "no such file", isError: true }),
        expect.objectContaining({ toolCallId: "c3", content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] }),
      ]),
    );
    expect(rest[3]).toMatchObject({ stopReason: "stop", content: [{ type: "foreign", originalType: "source" }, { text: "Three lines." }] });
    expect((await session.statistics()).usage[0]).toMatchObject({ inputTokens: 40, outputTokens: 60 });
  });

  test("is sent again as the SDK itself would send it", async () => {
    const session = await asked();
    await run(session);
    const { response } = await generateText({ ...options, model: scripted(LOOP), prompt: "-" });
    expect(toAiSdk(await session.context()).messages.slice(1)).toEqual(JSON.parse(JSON.stringify(response.messages)));
  });
});

const HALF: ModelPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "The lexer " },
  { type: "text-delta", id: "1", delta: "counts " },
];

describe("a stream that is cut off", () => {
  test("by an abort: the text that was shown is stored as aborted", async () => {
    const session = await asked();
    const abort = new AbortController();
    const { model, send } = fed();
    const recorder = recordSteps(session, { model });
    const result = streamText({ model, prompt: "-", abortSignal: abort.signal, ...recorder });
    send(...HALF);
    for await (const part of result.fullStream) if (part.type === "text-delta" && part.text === "counts ") abort.abort();
    await recorder.done();
    expect((await messagesOf(session)).at(-1)).toEqual({
      role: "assistant",
      provider: "anthropic",
      model: "m-asked",
      stopReason: "aborted",
      content: [{ type: "text", text: "The lexer counts " }],
    });
  });

  test("while a tool runs: the call has a result, so that the next request is accepted", async () => {
    const session = await asked();
    const abort = new AbortController();
    const execute = async (_: object, { abortSignal }: { readonly abortSignal?: AbortSignal }) => {
      abort.abort();
      abortSignal?.throwIfAborted();
      return "never";
    };
    const wait = tool({ inputSchema: z.object({}), execute });
    const recorder = recordSteps(session);
    const model = scripted([[calls("c1", {}, "wait")]]);
    await streamText({ model, tools: { wait }, prompt: "-", abortSignal: abort.signal, ...recorder }).consumeStream();
    await recorder.done();
    expect(await messagesOf(session)).toMatchObject([
      { role: "user" },
      { role: "assistant", stopReason: "aborted", content: [{ type: "toolCall", id: "c1" }] },
      { role: "toolResult", toolCallId: "c1", isError: true },
    ]);
  });

  test("by an error: what came is stored with the error", async () => {
    const session = await asked();
    const { model, send, end } = fed();
    const recorder = recordSteps(session);
    const result = streamText({ model, prompt: "-", onError: () => undefined, ...recorder });
    send(...HALF, { type: "error", error: new Error("overloaded") });
    end();
    await result.consumeStream();
    await recorder.done();
    expect((await messagesOf(session)).at(-1)).toMatchObject({
      stopReason: "error",
      content: [{ text: "The lexer counts " }],
    });
  });

  test("by an error that is an object, as providers report it: its text is that of the SDK", async () => {
    const session = await asked();
    const { model, send, end } = fed();
    const error = { type: "overloaded_error", message: "Overloaded" };
    send(...HALF, { type: "error", error });
    end();
    for await (const _ of recordStream(session, streamText({ model, prompt: "-", onError: () => undefined }).fullStream));
    expect((await messagesOf(session)).at(-1)).toMatchObject({ stopReason: "error", errorMessage: JSON.stringify(error) });
  });

  test("by an error that holds itself, which JSON cannot have", async () => {
    const session = await asked();
    const { model, send, end } = fed();
    const error: Record<string, unknown> = { message: "Overloaded" };
    error["cause"] = error;
    send(...HALF, { type: "error", error });
    end();
    for await (const _ of recordStream(session, streamText({ model, prompt: "-", onError: () => undefined }).fullStream));
    expect((await messagesOf(session)).at(-1)).toMatchObject({ stopReason: "error", errorMessage: expect.stringContaining("Overloaded") });
  });

  test.each([
    ["a recorder", (session, options) => streamText({ ...options, ...recordSteps(session) }).consumeStream()],
    [
      "a stream that is recorded as it passes",
      async (session, options) => {
        for await (const _ of recordStream(session, streamText(options).fullStream));
      },
    ],
  ] satisfies [string, (session: Awaited<ReturnType<typeof asked>>, options: Parameters<typeof streamText>[0]) => PromiseLike<void>][])(
    "by a connection that breaks, by %s: as failed, with the error",
    async (_who, run) => {
      const session = await asked();
      const { model, send, fail } = fed();
      send(...HALF);
      // The parts before are lost where a stream fails at once.
      const onChunk = () => void setImmediate(() => fail(new Error("socket hang up")));
      await run(session, { model, prompt: "-", onChunk, onError: () => undefined }).then(undefined, () => undefined);
      expect((await messagesOf(session)).at(-1)).toMatchObject({
        stopReason: "error",
        errorMessage: "socket hang up",
        content: [{ text: "The lexer counts " }],
      });
    },
  );

  test.each(["AbortError", "ResponseAborted"])("by an abort that the stream throws: %s", async (name) => {
    const session = await asked();
    const { model, send, fail } = fed();
    send(...HALF);
    const onChunk = () => void setImmediate(() => fail(Object.assign(new Error("aborted"), { name })));
    const { fullStream } = streamText({ model, prompt: "-", onChunk, onError: () => undefined });
    const read = async () => {
      for await (const _ of recordStream(session, fullStream));
    };
    await expect(read()).rejects.toMatchObject({ name });
    expect((await messagesOf(session)).at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "The lexer counts " }] });
  });

  test("by a consumer that stops reading", async () => {
    const session = await asked();
    const { model, send } = fed();
    send(...HALF);
    for await (const part of recordStream(session, streamText({ model, prompt: "-" }).fullStream)) if (part.type === "text-delta") break;
    expect((await messagesOf(session)).at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "The lexer " }] });
  });

  test("before it said anything: nothing is stored", async () => {
    const session = await asked();
    const { model, send, end } = fed();
    const recorder = recordSteps(session);
    const result = streamText({ model, prompt: "-", onError: () => undefined, ...recorder });
    send({ type: "error", error: new Error("overloaded") });
    end();
    await result.consumeStream();
    await recorder.done();
    expect(await messagesOf(session)).toHaveLength(1);
  });
});

test("a stream that is recorded as it passes gives the same entries as the steps", async () => {
  const [passed, stepped] = [await asked(), await asked()];
  const { fullStream } = streamText({ ...options, model: scripted(LOOP), prompt: "-" });
  for await (const _ of recordStream(passed, fullStream, { model: scripted([]) }));
  await generateText({ ...options, model: scripted(LOOP), prompt: "-", ...recordSteps(stepped) });
  const text = async (session: typeof passed) => (await messagesOf(session)).filter(({ role }) => role === "assistant");
  expect((await text(passed)).map(({ content }) => content)).toEqual((await text(stepped)).map(({ content }) => content));
});

test.each([
  ["for the page that runs it", tool({ inputSchema: z.object({}), outputSchema: z.object({}) })],
  ["for an approval", tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => "done" })],
])("a call that waits %s stays open, also in a stream that is recorded as it passes", async (_what, wait) => {
  const session = await asked();
  const { fullStream } = streamText({ model: scripted([[calls("c1", {}, "wait")]]), tools: { wait }, prompt: "-" });
  for await (const _ of recordStream(session, fullStream));
  expect(await messagesOf(session)).toMatchObject([{ role: "user" }, { role: "assistant", stopReason: "toolUse" }]);
});

test("a step that could not be stored is an error of `done`, and of the stream", async () => {
  const store = await openedStore();
  const session = await store.createSession({});
  await session.append(userMessage("hi"));
  await store.close();
  const recorder = recordSteps(session);
  await generateText({ model: scripted([[says("hello")]]), prompt: "-", ...recorder });
  await expect(recorder.done()).rejects.toMatchObject({ code: "STORE_CLOSED" });
});

test("the first entry has the id that the page shows", async () => {
  const session = await asked();
  await generateText({ ...options, model: scripted(LOOP), prompt: "-", ...recordSteps(session, { id: "answer-1" }) });
  expect((await session.entry("answer-1")).type).toBe("message");
});

/** Approves the calls of the reply at the leaf. */
async function approve(session: Awaited<ReturnType<typeof asked>>): Promise<void> {
  const reply = await session.entry(session.leafId ?? "");
  if (reply.type !== "message" || reply.message.role !== "assistant") throw new TypeError("no reply at the leaf");
  const content = reply.message.content.map((block) =>
    block.type === "toolCall" ? { ...block, approval: { ...Object(block["approval"]), approved: true } } : block,
  );
  await session.append({ type: "context_edit", targetId: reply.id, replacement: { content } });
}

test.each([
  ["generateText", (session, given) => generateText({ ...given, ...recordSteps(session) })],
  ["streamText", (session, given) => streamText({ ...given, ...recordSteps(session) }).consumeStream()],
  ["a whole result", async (session, given) => recordResult(session, await generateText(given))],
] satisfies [string, (session: Awaited<ReturnType<typeof asked>>, given: Parameters<typeof generateText>[0]) => PromiseLike<unknown>][])(
  "the result of an approved call, which the SDK runs before the first step, is stored once: %s",
  async (_name, run) => {
    const session = await asked();
    const remove = tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => "removed" });
    const model = scripted([[calls("c1", {}, "remove")], [says("Done.")]]);
    await run(session, { model, tools: { remove }, prompt: "-" });
    await approve(session);
    await run(session, { model, tools: { remove }, ...toAiSdk(await session.context()) });
    expect((await messagesOf(session)).slice(2)).toMatchObject([
      { role: "toolResult", toolCallId: "c1", content: "removed" },
      { role: "assistant", content: [{ text: "Done." }] },
    ]);
  },
);
