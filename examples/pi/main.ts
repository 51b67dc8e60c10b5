// An agent of pi whose session is kept in a store. The model is pi's scripted one, so that it runs without a key.
import { keepAgent } from "@bough/adapters/pi-agent";
import { createCompactor, loadCounter, toolTokens } from "@bough/compaction";
import { openStore } from "@bough/session-core";
import { Agent, type AgentTool } from "@earendil-works/pi-agent-core";
import { createModels, fauxAssistantMessage, fauxProvider, fauxToolCall } from "@earendil-works/pi-ai";

const faux = fauxProvider();
const models = createModels();
models.setProvider(faux.provider);
faux.setResponses([
  fauxAssistantMessage(fauxToolCall("read", { path: "src/lexer.ts" }, { id: "call-1" })),
  fauxAssistantMessage("The lexer counts a tab as one column."),
  fauxAssistantMessage("Count up to the next multiple of eight."),
  fauxAssistantMessage("Replace tabs before the lexer sees them."),
  fauxAssistantMessage("Form feeds count as one, too."),
]);

const read: AgentTool = {
  name: "read",
  label: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: async () => {
    const source = Array.from({ length: 500 }, (_line, at) => `${at}: column += 1; // also for a tab`).join("\n");
    return { content: [{ type: "text", text: source }], details: undefined };
  },
};

function newAgent(): Agent {
  const initialState = { systemPrompt: "You look into parsers.", model: faux.getModel(), tools: [read] };
  return new Agent({ initialState, streamFn: models.streamSimple.bind(models) });
}

const store = await openStore({ path: ":memory:" });
const session = await store.createSession({ id: "tabs", title: "Tabs in the parser" });
const compactor = createCompactor({ session, contextWindow: 100_000, settings: { keep: { recentTokens: 20 } } });

const agent = newAgent();
const kept = await keepAgent(agent, session, { compactor, toolTokens: toolTokens(await loadCounter("rough"), agent.state.tools) });
await agent.prompt("Why does the parser fail on tabs?");
const answered = session.leafId;
await agent.prompt("How do I repair it?");
console.log(`files: ${(await session.fileOperations()).map(({ kind, path }) => `${kind} ${path}`).join(", ")}`);

// Back to the first answer, and another branch from there.
await session.moveLeaf(answered);
await agent.prompt("Is there another way?");
for (const tip of await session.tree.tips()) console.log(`branch: ${tip.preview}`);
console.log(`found: ${(await store.search({ query: "multiple of eight" })).total}`);

// A compaction is in force for the next request.
await compactor.compact();
await kept.reload();
console.log(`after a compaction the agent has: ${agent.state.messages.map(({ role }) => role).join(", ")}`);

// Later, in another process: an agent goes on where the session stands.
const later = newAgent();
await keepAgent(later, session, { compactor });
await later.prompt("And form feeds?");
console.log(`said last: ${(await session.tree.path(session.leafId, 1))[0]?.preview}`);
await compactor.close();
await store.close();
