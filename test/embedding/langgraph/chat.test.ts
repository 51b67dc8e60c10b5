import { BoughSaver } from "@bough/adapters/langgraph";
import { openStore } from "@bough/session-core";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";

test("a chat of two turns is a path of messages, and its state comes back", async () => {
  const store = await openStore({ path: ":memory:" });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", ({ messages }) => ({
      messages: [new AIMessage({ id: `a${messages.length}`, content: `Answer to ${messages.at(-1)?.text}` })],
    }))
    .addEdge(START, "agent")
    .addEdge("agent", END)
    .compile({ checkpointer: new BoughSaver(store) });
  const config = { configurable: { thread_id: "t-1" } };
  await graph.invoke({ messages: [new HumanMessage({ id: "h1", content: "Why does the parser fail on tabs?" })] }, config);
  await graph.invoke({ messages: [new HumanMessage({ id: "h2", content: "And on blanks?" })] }, config);

  const { values } = await graph.getState(config);
  expect(values.messages.map((message: HumanMessage) => message.text)).toEqual([
    "Why does the parser fail on tabs?",
    "Answer to Why does the parser fail on tabs?",
    "And on blanks?",
    "Answer to And on blanks?",
  ]);
  const session = await store.openSession("t-1");
  const { messages } = await session.context();
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  await store.close();
});
