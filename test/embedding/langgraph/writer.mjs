// Runs a graph on one thread: node writer.mjs STORE THREAD NAME TURNS. Prints an acknowledgement after each turn.
import { BoughSaver } from "@bough/adapters/langgraph";
import { openStore } from "@bough/session-core";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const [path, thread_id, name, turns] = process.argv.slice(2);
const store = await openStore({ path });
const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", ({ messages }) => ({
    messages: [new AIMessage({ id: `${messages.at(-1).id}-answer`, content: `Answer to ${messages.at(-1).id}` })],
  }))
  .addEdge(START, "agent")
  .compile({ checkpointer: new BoughSaver(store) });

for (let turn = 0; turn < Number(turns); turn += 1) {
  await graph.invoke(
    { messages: [new HumanMessage({ id: `${name}-${turn}`, content: `Question ${turn} of ${name}` })] },
    { configurable: { thread_id } },
  );
  process.stdout.write(`${name}-${turn}\n`);
}
await store.close();
