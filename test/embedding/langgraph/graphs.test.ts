import { toOpenAiChat } from "@bough/session-core";
import { AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Annotation, Command, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { BothSavers, collect } from "./both-savers.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  items: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  data: Annotation<unknown>(),
});
type State = typeof State.State;

const thread = { configurable: { thread_id: "t-1" } };
const question = (id: string, content = `Question ${id}`) => new HumanMessage({ id, content });
const answer = (id: string, content = `Answer ${id}`) => new AIMessage({ id, content });

/** A graph of one node that answers each question. */
function chat(checkpointer: BothSavers) {
  return new StateGraph(State)
    .addNode("agent", ({ messages }: State) => ({ messages: [answer(`a${messages.length}`)] }))
    .addEdge(START, "agent")
    .addEdge("agent", END)
    .compile({ checkpointer });
}

const texts = ({ messages }: Pick<State, "messages">) => messages.map((message) => message.text);

test("a thread that is continued from an earlier checkpoint reads the values of its own branch", async () => {
  const saver = await BothSavers.open();
  const graph = chat(saver);
  await graph.invoke({ messages: [question("h1")] }, thread);
  await graph.invoke({ messages: [question("h2")] }, thread);
  const history = await collect(graph.getStateHistory(thread));
  const first = history.find(({ values }) => values.messages.length === 2);

  const fork = await graph.updateState(first?.config ?? {}, { messages: [question("fork")] }, "agent");
  await graph.invoke(null, fork);
  saver.forget();
  expect(texts((await graph.getState(fork)).values)).toEqual(["Question h1", "Answer a1", "Question fork"]);
  expect(texts((await graph.getState(history[0]?.config ?? {})).values)).toEqual(["Question h1", "Answer a1", "Question h2", "Answer a3"]);
  await collect(graph.getStateHistory(thread));
  await saver.close();
});

test("a copy of a checkpoint has its values, and not those of its parent", async () => {
  const saver = await BothSavers.open();
  const graph = chat(saver);
  await graph.invoke({ messages: [question("h1")], items: ["a"], data: 1 }, thread);
  await graph.invoke({ messages: [question("h2")], items: ["b"], data: 2 }, thread);
  for (const { config, values } of await collect(graph.getStateHistory(thread))) {
    const copy = await graph.updateState(config, null, "__copy__");
    saver.forget();
    expect((await graph.getState(copy)).values).toEqual(values);
  }
  await collect(graph.getStateHistory(thread));
  await saver.close();
});

test("a newer version of a message is read whole by another process", async () => {
  const saver = await BothSavers.open();
  const graph = chat(saver);
  const id = "call_of_more_than_24_characters";
  const metadata = { model_name: "claude-sonnet-4-5-20250929" };
  for (const content of ["The whole output of the tool.", "cut"]) {
    const reply = new AIMessage({ id: "a", content, tool_calls: [{ id, name: "bash", args: {} }], response_metadata: metadata });
    await graph.updateState(thread, { messages: [reply, new ToolMessage({ id: "t", content, tool_call_id: id })] }, "agent");
  }
  saver.forget();
  expect((await graph.getState(thread)).values.messages).toMatchObject([
    { content: "cut", response_metadata: metadata },
    { content: "cut", tool_call_id: id },
  ]);
  await saver.close();
});

test.each(["sync", "async", "exit"] as const)("interrupt, resume, Send and a subgraph, durability %s", async (durability) => {
  const saver = await BothSavers.open();
  const approval = new StateGraph(State)
    .addNode("ask", () => ({ items: [`answered ${interrupt({ question: "Go on?" })}`], messages: [answer("sub")] }))
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile();
  const graph = new StateGraph(State)
    .addNode("plan", () => ({ items: ["plan"], data: { at: new Date(0), bytes: new Uint8Array([1, 2, 255]), set: new Set([1]) } }))
    .addNode("work", ({ n }: State & { n: number }) => ({ items: [`work ${n}`] }))
    .addNode("approval", approval)
    .addEdge(START, "plan")
    .addConditionalEdges("plan", () => [1, 2, 3].map((n) => new Send("work", { n })))
    .addEdge("work", "approval")
    .addEdge("approval", END)
    .compile({ checkpointer: saver });

  const config = { ...thread, durability };
  await graph.invoke({ messages: [question("h")] }, config);
  const paused = await graph.getState(thread, { subgraphs: true });
  expect(paused.next).toEqual(["approval"]);
  expect(paused.tasks[0]?.interrupts.map(({ value }) => value)).toEqual([{ question: "Go on?" }]);
  saver.forget();
  const end = await graph.invoke(new Command({ resume: "yes" }), config);
  expect(end.items).toEqual(
    ["plan", "work 1", "work 2", "work 3", "answered yes"].flatMap((item) =>
      item.startsWith("answered") ? ["plan", "work 1", "work 2", "work 3", item] : [item],
    ),
  );
  expect(texts(end)).toEqual(["Question h", "Answer sub"]);
  await collect(graph.getStateHistory(thread));
  await collect(saver.list(thread));
  await saver.close();
});

test("messages that are changed, removed and added again", async () => {
  const saver = await BothSavers.open();
  const graph = chat(saver);
  await graph.invoke({ messages: [new SystemMessage({ id: "s", content: "Be short." }), question("h1"), question("h2")] }, thread);
  await graph.updateState(thread, { messages: [question("h1", "A better question")] });
  await graph.updateState(thread, { messages: [new RemoveMessage({ id: "h2" })] });
  await graph.updateState(thread, { messages: [question("h2")] });
  await graph.updateState(thread, { messages: [new ToolMessage({ id: "t", tool_call_id: "c", content: "14 passed" })] });
  saver.forget();
  expect(texts((await graph.getState(thread)).values)).toEqual(["Be short.", "A better question", "Answer a3", "Question h2", "14 passed"]);
  await collect(graph.getStateHistory(thread));
  // What a model of Bough would see is what the graph's state is.
  expect(toOpenAiChat(await (await saver.store.openSession("t-1")).context())).toEqual([
    { role: "system", content: "Be short." },
    { role: "user", content: "A better question" },
    { role: "assistant", content: "Answer a3" },
    { role: "user", content: "Question h2" },
  ]);
  await saver.close();
});

test("a deleted thread is gone, and can be begun again", async () => {
  const saver = await BothSavers.open();
  const graph = chat(saver);
  await graph.invoke({ messages: [question("h1")] }, thread);
  await saver.deleteThread("t-1");
  expect((await graph.getState(thread)).values).toEqual({});
  await graph.invoke({ messages: [question("h2")] }, thread);
  expect(texts((await graph.getState(thread)).values)).toEqual(["Question h2", "Answer a1"]);
  await saver.close();
});
