import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, MessagesAnnotation, REMOVE_ALL_MESSAGES, START, StateGraph } from "@langchain/langgraph";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../../../.ci/test-runs.js";
import { BothSavers, collect } from "./both-savers.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  items: Annotation<unknown[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
  files: Annotation<Record<string, unknown>>({ reducer: (before, changed) => ({ ...before, ...changed }), default: () => ({}) }),
  data: Annotation<unknown>(),
});
type Update = Partial<(typeof State)["Update"]>;

const id = fc.constantFrom("m1", "m2", "m3", "m4", "m5", "m6");
const content = fc.oneof(fc.string(), fc.constant("A text that is long enough to be shared. ".repeat(3)));
/** As long as ids of providers are, so that it is shared too. */
const callOf = (id: string) => `call_of_the_message_${id.padStart(12, "0")}`;
const message: fc.Arbitrary<BaseMessage> = fc.oneof(
  fc.tuple(id, content).map(([id, content]) => new HumanMessage({ id, content })),
  fc
    .tuple(id, content, fc.jsonValue())
    .map(([id, content, args]) => new AIMessage({ id, content, tool_calls: [{ id: callOf(id), name: "run", args: { args, content } }] })),
  fc.tuple(id, content).map(([id, content]) => new ToolMessage({ id, content, tool_call_id: callOf(id) })),
);
/** A change of the list by ids; what removes a message that is not there is an error of LangGraph. */
const messages = fc.oneof(
  { weight: 6, arbitrary: fc.array(message, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 3 }).map((kept) => [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...kept]) },
);
const update: fc.Arbitrary<Update> = fc.oneof(
  messages.map((messages) => ({ messages })),
  fc.array(fc.jsonValue(), { maxLength: 5 }).map((items) => ({ items })),
  fc
    .dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "2", "1")), fc.oneof(fc.jsonValue(), content), { maxKeys: 6 })
    .map((files) => ({ files })),
  // MemorySaver cannot read a write that is nothing but bytes.
  fc.oneof(fc.jsonValue(), fc.record({ bytes: fc.uint8Array(), none: fc.constant(undefined) })).map((data) => ({ data })),
);
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("update" as const), update }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), at: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("run" as const), text: content }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const) }) },
);

function graphOf(checkpointer: BothSavers) {
  return new StateGraph(State)
    .addNode("agent", ({ messages }) => ({
      messages: [new AIMessage({ id: `a${messages.length}`, content: `Answer ${messages.length}` })],
    }))
    .addEdge(START, "agent")
    .compile({ checkpointer });
}

const thread: RunnableConfig = { configurable: { thread_id: "t" } };

test("whatever is changed, removed and forked: MemorySaver and BoughSaver have the same state and history", async () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const saver = await BothSavers.open();
      const graph = graphOf(saver);
      let at = thread;
      for (const one of steps) {
        const { values } = await graph.getState(at);
        const present: readonly BaseMessage[] = values.messages ?? [];
        switch (one.do) {
          case "update":
            at = await graph.updateState(at, one.update, "agent");
            break;
          case "remove": {
            const removed = present[one.at % Math.max(present.length, 1)]?.id;
            if (removed !== undefined) at = await graph.updateState(at, { messages: [new RemoveMessage({ id: removed })] }, "agent");
            break;
          }
          case "run":
            await graph.invoke({ messages: [new HumanMessage({ id: `h${present.length}`, content: one.text })] }, at);
            at = thread;
            break;
          case "fork": {
            const history = await collect(graph.getStateHistory(thread));
            at = history[one.at % Math.max(history.length, 1)]?.config ?? thread;
            break;
          }
          case "forget":
            saver.forget();
            break;
        }
      }
      await collect(graph.getStateHistory(thread));
      saver.forget();
      await collect(saver.list(thread));
      await saver.close();
    }),
    { numRuns: runs(60) },
  );
});
