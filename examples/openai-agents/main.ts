// An agent of the OpenAI Agents SDK that keeps its session in a store. The model is scripted, so that it runs without a key: leave out
// `model` to use OpenAI's.
import { BoughSession } from "@bough/adapters/openai-agents";
import { openStore } from "@bough/session-core";
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { assistantMessage, functionCall, modelResponse, ScriptedModel } from "@openai/agents-core/testing";
import { z } from "zod";

setTracingDisabled(true); // it needs a key

const readFile = tool({
  name: "read_file",
  description: "Reads a file.",
  parameters: z.object({ path: z.string() }),
  execute: async ({ path }) => `${path}: column += 1; // also for a tab`,
});
const model = new ScriptedModel([
  modelResponse([functionCall("read_file", { path: "src/lexer.ts" }, { callId: "call_1" })]),
  modelResponse([assistantMessage("The lexer counts a tab as one column.")]),
  modelResponse([assistantMessage("Count a tab up to the next multiple of eight.")]),
  modelResponse([assistantMessage("Replace tabs before the lexer sees them.")]),
]);
const agent = new Agent({ name: "helper", instructions: "You look into parsers.", model, tools: [readFile] });

const store = await openStore({ path: ":memory:" });
const session = new BoughSession(store, { id: "tabs", title: "Tabs in the parser" });

await run(agent, "Why does the parser fail on tabs?", { session });
const beforeAnswer = (await session.open()).leafId;
console.log((await run(agent, "How do I repair it?", { session })).finalOutput);

// Back to the first answer, and another branch from there. The other answer stays in the tree.
await (await session.open()).moveLeaf(beforeAnswer);
console.log((await run(agent, "Is there another way?", { session })).finalOutput);

const bough = await session.open();
for (const { preview } of await bough.tree.tips()) console.log(`branch: ${preview}`);
console.log(`found: ${(await store.search({ query: "multiple of eight" })).total}`);
await store.close();
