import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs } from "ai";
import { expect, test } from "vitest";
import { aiSdkRecallTools } from "../../src/ai-sdk/recall-tools.js";
import { createCompactor } from "../../src/run/compactor.js";
import { startModelServer } from "../model/model-server.js";
import { grown, model, turns } from "../world/session.js";
import { callTool } from "./tool-calls.js";

test("the recall tools are called by a model over a real connection, and answer it", async () => {
  const { session } = await grown(turns(1, 10));
  const tools = await aiSdkRecallTools(session);
  const summarizer = model("## Goal\nRead ten files.").summarizer;
  const compactor = createCompactor({ session, contextWindow: 100_000, settings: { keep: { recentTokens: 400 } }, summarizer });
  expect(await compactor.compact()).toMatchObject({ kind: "compacted" });
  const server = await startModelServer();
  server.reply(callTool("c1", "recall_expand", { from: "u2" }), "u2 said it.");
  const provider = createOpenAICompatible({ name: "loopback", baseURL: server.baseURL });
  const answer = await generateText({ model: provider("m"), prompt: "What did u2 say?", tools, stopWhen: stepCountIs(2) });
  expect(answer.text).toBe("u2 said it.");
  expect(JSON.stringify(server.requests[1]?.body)).toContain("the u2 word12");
});
