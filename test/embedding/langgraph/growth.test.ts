import { BoughSaver } from "@bough/adapters/langgraph";
import { type Entry, openStore, type Store } from "@bough/session-core";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { type Checkpoint, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { expect, onTestFinished, test } from "vitest";
import { collect } from "./both-savers.js";

async function opened(): Promise<Store> {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  return store;
}

/** Puts a checkpoint for each state of a channel, each below the one before. `isCold`: each by a checkpointer that knows nothing. */
async function grow(store: Store, states: Iterable<unknown>, isCold = false): Promise<readonly Entry[]> {
  let saver = new BoughSaver(store);
  let config: object = { configurable: { thread_id: "t" } };
  let version = 1;
  for (const value of states) {
    const channel_versions = { channel: version++ };
    const checkpoint: Checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: { channel: value }, channel_versions };
    config = await saver.put(config, checkpoint, { source: "loop", step: version, parents: {} }, channel_versions);
    if (isCold) saver = new BoughSaver(store);
  }
  const tuple = await new BoughSaver(store).getTuple({ configurable: { thread_id: "t" } });
  expect(tuple?.checkpoint.channel_values["channel"]).toEqual([...states].at(-1));
  return collect((await store.openSession("t")).entries());
}

const question = (at: number, content = `Question ${at}, with a few more words to it.`) => new HumanMessage({ id: `h${at}`, content });
const bytesOf = (entries: readonly Entry[]) => entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
const prefixes = <T>(all: readonly T[]) => all.map((_one, at) => all.slice(0, at + 1));
const many = Array.from({ length: 400 }, (_one, at) => at);

test("a list of messages grows with what is said: the second half of 400 checkpoints is as large as the first", async () => {
  const entries = await grow(await opened(), prefixes(many.map((at) => question(at))));
  expect(entries.filter(({ type }) => type === "message")).toHaveLength(400);
  const half = entries.length / 2;
  expect(bytesOf(entries.slice(half)) / bytesOf(entries.slice(0, half))).toBeLessThan(1.2);
  expect(bytesOf(entries) / 400).toBeLessThan(1400);
});

test.each([
  ["a list of other elements", prefixes(many.map((at) => ({ at, text: "something that was found".repeat(3) })))],
  [
    "an object that gets members",
    prefixes(many.map((at) => [`file-${at}.ts`, "export const x = 1;".repeat(5)] as const)).map((all) => Object.fromEntries(all)),
  ],
])("%s grows with what is added", async (_name, states) => {
  const entries = await grow(await opened(), states);
  const half = entries.length / 2;
  expect(bytesOf(entries.slice(half)) / bytesOf(entries.slice(0, half))).toBeLessThan(1.5);
  expect(bytesOf(entries) / 400).toBeLessThan(1200);
});

test("one member of a large object that changes is written alone", async () => {
  const files = Object.fromEntries(many.map((at) => [`file-${at}.ts`, "export const x = 1;".repeat(5)]));
  const states = many.slice(0, 50).map((at) => ({ ...files, [`file-${at * 7}.ts`]: `changed ${at}` }));
  const entries = await grow(await opened(), [files, ...states]);
  expect(bytesOf(entries.slice(1)) / 50).toBeLessThan(1200);
});

test("one early message that changes with every checkpoint is one edit each, also for a process that has just begun", async () => {
  const messages = many.slice(0, 100).map((at) => question(at));
  const states = many
    .slice(0, 20)
    .map((at) => [question(0, `Version ${at}`), ...messages.slice(1), new AIMessage({ id: `a${at}`, content: `Answer ${at}` })]);
  const entries = await grow(await opened(), [messages, ...states], true);
  const later = entries.slice(101);
  // A changed message, a new one, the checkpoint; and from the second on an edit that leaves the answer before out.
  expect(later.filter(({ type }) => type === "message")).toHaveLength(20);
  expect(later.filter(({ type }) => type === "context_edit")).toHaveLength(20 + 19);
});

test("a process that has just begun takes unchanged messages for unchanged, whatever their members are", async () => {
  const messages = [
    new HumanMessage({ id: "h", content: "\ud800 \0", additional_kwargs: { b: 1, "2": 0, "1": { "10": 0.1, a: 1e21 } } }),
    question(1),
  ];
  const entries = await grow(await opened(), [messages, [...messages, question(2)], [...messages, question(2), question(3)]], true);
  expect(entries.map(({ type }) => type)).toEqual(["message", "message", "custom", "message", "custom", "message", "custom"]);
});

test("a list has as many elements as it likes, and one can be changed in the middle", async () => {
  const numbers = Array.from({ length: 200_000 }, (_one, at) => at);
  await grow(await opened(), [numbers, numbers.with(100_000, -1)]);
});
