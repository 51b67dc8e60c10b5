// A LangGraph agent whose thread is a session of a store. The model is scripted, so that it runs without a key: replace the node
// `agent` by one that calls a chat model.
import { BoughSaver } from "@bough/adapters/langgraph";
import { openStore } from "@bough/session-core";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const script = [
  new AIMessage({ content: "", tool_calls: [{ id: "call_1", name: "read_file", args: { path: "src/lexer.ts" } }] }),
  new AIMessage("The lexer counts a tab as one column."),
  new AIMessage("Count a tab up to the next multiple of eight."),
  new AIMessage("Replace tabs before the lexer sees them."),
];

type State = typeof MessagesAnnotation.State;
const calls = ({ messages }: State) => (messages.at(-1) as AIMessage | undefined)?.tool_calls ?? [];

const store = await openStore({ path: process.argv[2] ?? ":memory:" });
const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", () => ({ messages: script.splice(0, 1) }))
  .addNode("tools", (state) => ({
    messages: calls(state).map(
      ({ id, name }) => new ToolMessage({ tool_call_id: id ?? "", name, content: "column += 1; // also for a tab" }),
    ),
  }))
  .addEdge(START, "agent")
  .addConditionalEdges("agent", (state) => (calls(state).length > 0 ? "tools" : END))
  .addEdge("tools", "agent")
  .compile({ checkpointer: new BoughSaver(store) });

const thread = { configurable: { thread_id: "tabs" } };
const ask = async (text: string, config: object = thread) => {
  const { messages } = await graph.invoke({ messages: [new HumanMessage(text)] }, config);
  console.log(messages.at(-1)?.text);
};

await ask("Why does the parser fail on tabs?");
const { config: answered } = await graph.getState(thread);
await ask("How do I repair it?");

// Back to the first answer, and another branch from there. The other answer stays in the tree.
await ask("Is there another way?", answered);

const session = await store.openSession("tabs");
for (const entry of await session.path()) if (entry.type === "message") console.log(`- ${entry.message.role}`);
console.log(`branches: ${(await session.tree.tips()).length}`);
console.log(`found on the other one: ${(await store.search({ query: "multiple of eight" })).total}`);
await store.close();
