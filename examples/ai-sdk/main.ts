// An agent on the AI SDK whose session is kept here: a tool loop, a stream that is aborted half way, and another try as a branch.

import { recordSteps, toAiSdk, toUiMessages } from "@bough/adapters/ai-sdk";
import { createCompactor } from "@bough/compaction";
import { prepareStep } from "@bough/compaction/ai-sdk";
import { openStore, userMessage } from "@bough/session-core";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { z } from "zod";

const usage = {
  inputTokens: { total: 120, noCache: 120, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 12, text: 12, reasoning: 0 },
};
const stop = { unified: "stop", raw: "stop" } as const;

// The scripted model: it reads the file, then answers.
let calls = 0;
const model = new MockLanguageModelV3({
  provider: "scripted",
  modelId: "model-1",
  doGenerate: async () => {
    calls += 1;
    return calls === 1
      ? {
          content: [{ type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"path":"lexer.ts"}' }],
          finishReason: { unified: "tool-calls", raw: "tool_calls" },
          usage,
          warnings: [],
        }
      : { content: [{ type: "text", text: "The lexer counts a tab as one column." }], finishReason: stop, usage, warnings: [] };
  },
  doStream: async () => ({
    stream: simulateReadableStream({
      chunks: [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        ...["Form ", "feeds ", "are ", "blanks."].map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
        { type: "text-end", id: "1" },
        { type: "finish", finishReason: stop, usage },
      ],
    }),
  }),
});
const tools = { read: tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => `const tab = 1; // ${path}` }) };

const store = await openStore({ path: ":memory:" });
const session = await store.openOrCreateSession("chat-1", { title: "Tabs in the parser" });
const compactor = createCompactor({ session, contextWindow: 200_000 });

// 1. A tool loop: each step is stored as it ends, and the context is made to fit before each request.
await session.append(userMessage("Why does the parser fail on tabs?"));
const recorder = recordSteps(session);
const { text } = await generateText({
  model,
  tools,
  stopWhen: stepCountIs(20),
  ...toAiSdk(await session.context()),
  prepareStep: prepareStep(compactor, { tools }),
  ...recorder,
});
await recorder.done();
console.log(`answer: ${text}`);

// 2. A stream that the person aborts: what they saw is stored.
const question = await session.append(userMessage("And form feeds?"));
const abort = new AbortController();
const streaming = recordSteps(session, { model });
const { fullStream } = streamText({ model, abortSignal: abort.signal, ...toAiSdk(await session.context()), ...streaming });
for await (const part of fullStream) if (part.type === "text-delta" && part.text === "feeds ") abort.abort();
await streaming.done();

// 3. Another try is a branch; the first one stays.
await session.moveLeaf(question.id);
const again = recordSteps(session);
await streamText({ model, ...toAiSdk(await session.context()), ...again }).consumeStream();
await again.done();

for (const { role, parts } of toUiMessages(await session.path())) console.log(`${role}: ${parts.map(({ type }) => type).join(", ")}`);
console.log(`${(await session.tree.children(question.id)).length} answers to one question`);
await compactor.close();
await store.close();
