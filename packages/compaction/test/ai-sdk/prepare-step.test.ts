import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { recordSteps } from "@bough/adapters/ai-sdk";
import { openStore, userMessage } from "@bough/session-core";
import { generateText, stepCountIs, tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { prepareStep } from "../../src/ai-sdk/prepare-step.js";
import { createCompactor } from "../../src/run/compactor.js";
import { startModelServer } from "../model/model-server.js";
import { prose } from "../world/session.js";
import { callTool } from "./tool-calls.js";

const WINDOW = 6_000;
const STEPS = 24;

test("a tool loop of many steps never exceeds the window, and every step is stored", async () => {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const session = await store.createSession({});
  await session.append(userMessage("Read all files."));
  const server = await startModelServer({ limitTokens: WINDOW });
  server.reply(...Array.from({ length: STEPS }, (_, at) => callTool(`c${at}`, "read", { path: `src/f${at}.ts` })), "All read.");
  const tools = {
    read: tool({
      description: "Reads a file",
      inputSchema: z.object({ path: z.string() }),
      execute: async ({ path }) => prose(path, 600),
    }),
  };
  const compactor = createCompactor({ session, contextWindow: WINDOW });
  const used: number[] = [];
  const recorder = recordSteps(session);
  const { text } = await generateText({
    model: createOpenAICompatible({ name: "loopback", baseURL: server.baseURL })("m"),
    tools,
    stopWhen: stepCountIs(STEPS + 5),
    maxRetries: 0,
    prompt: "replaced by the session's context",
    prepareStep: prepareStep(compactor, { tools, onRequest: ({ use }) => used.push(use.toolTokens) }),
    ...recorder,
  });
  await recorder.done();
  expect(text).toBe("All read.");
  expect(server.requests.every(({ tokens }) => tokens <= WINDOW)).toBe(true);
  expect(server.requests).toHaveLength(STEPS + 1);
  expect(used[0]).toBeGreaterThan(10);
  const types = (await session.path()).map(({ type }) => type);
  // Old output is pruned by edits, and where this is not enough, older messages are summarized.
  expect(types.some((type) => type === "context_edit" || type === "compaction")).toBe(true);
  expect(types.filter((type) => type === "message")).toHaveLength(1 + 2 * STEPS + 1);
  expect(JSON.stringify(server.requests[0]?.body)).not.toContain("replaced by");
});
