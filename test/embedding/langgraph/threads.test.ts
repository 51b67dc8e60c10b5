import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { BoughSaver, CheckpointUnreadableError } from "@bough/adapters/langgraph";
import { openStore, type Store, userMessage } from "@bough/session-core";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type Checkpoint, type CheckpointMetadata, emptyCheckpoint, MemorySaver, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, onTestFinished, test } from "vitest";
import { collect } from "./both-savers.js";

const run = promisify(execFile);
const WRITER = join(import.meta.dirname, "writer.mjs");

function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-langgraph-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "threads.db");
}

async function opened(path = ":memory:"): Promise<Store> {
  const store = await openStore({ path });
  onTestFinished(async () => {
    expect(await collect(store.verify())).toEqual([]);
    await store.close();
  });
  return store;
}

function chat(checkpointer: BoughSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", ({ messages }) => ({
      messages: [new AIMessage({ id: `a${messages.length}`, content: `Answer ${messages.length}` })],
    }))
    .addEdge(START, "agent")
    .compile({ checkpointer });
}

const thread = (thread_id: string) => ({ configurable: { thread_id } });
const ask = (id: string) => ({ messages: [new HumanMessage({ id, content: `Question ${id}` })] });
const texts = (messages: readonly BaseMessage[]) => messages.map((message) => message.text);
const put = (saver: BoughSaver, config: Parameters<BoughSaver["put"]>[0], checkpoint: Checkpoint) =>
  saver.put(config, checkpoint, { source: "input", step: 0, parents: {} } satisfies CheckpointMetadata);

test("channels that have names of every object are channels like others", async () => {
  const saver = new BoughSaver(await opened());
  const checkpoint = {
    ...emptyCheckpoint(),
    channel_values: { constructor: 1, toString: 2 },
    channel_versions: { constructor: 1, toString: 1 },
  };
  const config = await put(saver, thread("odd"), checkpoint);
  await saver.putWrites(
    config,
    [
      ["constructor", 3],
      ["valueOf", 4],
    ],
    "task",
  );
  const tuple = await saver.getTuple(config);
  expect({ ...tuple?.checkpoint.channel_values }).toEqual({ constructor: 1, toString: 2 });
  expect(tuple?.pendingWrites).toEqual([
    ["task", "constructor", 3],
    ["task", "valueOf", 4],
  ]);
});

test("a checkpoint that is put without the versions of its channels has all of them", async () => {
  const saver = new BoughSaver(await opened());
  const config = await put(saver, thread("all"), { ...emptyCheckpoint(), channel_values: { a: 1 }, channel_versions: { a: 1 } });
  expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual({ a: 1 });
});

test("a thread whose id has half of a character is refused: two of them would be one", async () => {
  const saver = new BoughSaver(await opened());
  for (const id of ["\ud800", "\ud801"])
    await expect(put(saver, thread(id), emptyCheckpoint())).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

/** Each checkpoint lies below its parent with no other one between, and the newest one is the one that is read. */
async function expectSoundTree(store: Store): Promise<void> {
  const session = await store.openSession("t");
  const nearest = new Map<string | null, string | null>([[null, null]]);
  const parents: (readonly [id: string, wanted: string | null, above: string | null])[] = [];
  for await (const entry of session.entries()) {
    const above = nearest.get(entry.parentId) ?? null;
    if (entry.type === "custom") parents.push([entry.id, (entry.data as { readonly parent: string | null }).parent, above]);
    nearest.set(entry.id, entry.type === "custom" ? entry.id : above);
  }
  expect(parents.filter(([, wanted, above]) => wanted !== above)).toEqual([]);
  const ids = (await collect(new BoughSaver(store).list(thread("t")))).map(({ checkpoint }) => checkpoint.id);
  expect((await new BoughSaver(store).getTuple(thread("t")))?.checkpoint.id).toBe(ids.toSorted().at(-1));
}

const meta: CheckpointMetadata = { source: "loop", step: 0, parents: {} };

/** A checkpoint of one list. */
function checkpointOf(list: readonly unknown[], id = uuid6(0)): Checkpoint {
  return { ...emptyCheckpoint(), id, channel_values: { list }, channel_versions: { list: 1 } };
}

describe("a thread is a session", () => {
  test.each(["tabs", "user 7 / tabs", "ünïcödé", "x".repeat(500), "__proto__"])("thread_id %j", async (threadId) => {
    const store = await opened();
    const saver = new BoughSaver(store);
    await chat(saver).invoke(ask("h"), thread(threadId));
    const tuples = await collect(saver.list({}));
    expect(new Set(tuples.map(({ config }) => config.configurable?.["thread_id"]))).toEqual(new Set([threadId]));
    expect((await store.listSessions({ metadata: { adapter: "langgraph" } })).items).toHaveLength(1);
    await saver.deleteThread(threadId);
    expect((await store.listSessions({ kind: "all", empty: true })).items).toEqual([]);
  });

  test("a thread_id that is no text is refused, with the name of the argument", async () => {
    const saver = new BoughSaver(await opened());
    await expect(saver.getTuple({ configurable: { thread_id: 7 } })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("thread_id"),
    });
  });

  test("a session that is no thread is not deleted", async () => {
    const store = await opened();
    await (await store.createSession({ id: "mine" })).append(userMessage("Keep this."));
    await new BoughSaver(store).deleteThread("mine");
    expect(await store.findSession("mine")).toBeDefined();
  });

  test("a fork of a thread, of its tree or of a path, is a thread of its own", async () => {
    const store = await opened();
    const graph = chat(new BoughSaver(store));
    await graph.invoke(ask("h1"), thread("source"));
    await store.forkSession("source", { id: "copy", tree: true });
    await store.forkSession("source", { id: "path" });
    for (const id of ["copy", "path"]) {
      await graph.invoke(ask("h2"), thread(id));
      expect(texts((await graph.getState(thread(id))).values.messages)).toEqual(["Question h1", "Answer 1", "Question h2", "Answer 3"]);
    }
    expect(texts((await graph.getState(thread("source"))).values.messages)).toEqual(["Question h1", "Answer 1"]);
  });

  test("a compaction at the leaf stays in force: the next checkpoint goes below it", async () => {
    const store = await opened();
    const graph = chat(new BoughSaver(store));
    await graph.invoke(ask("h1"), thread("t"));
    const session = await store.openSession("t");
    await session.append({ type: "compaction", summary: "They asked h1.", firstKeptEntryId: null });
    await graph.invoke(ask("h2"), thread("t"));
    await session.refresh();
    expect((await session.context()).messages.map(({ role }) => role)).toEqual(["compactionSummary", "user", "assistant"]);
    expect((await graph.getState(thread("t"))).values.messages).toHaveLength(4);
  });

  test("a thread is copied from another checkpointer, whatever the order of its checkpoints", async () => {
    const source = new MemorySaver();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("agent", ({ messages }) => ({ messages: [new AIMessage({ id: `a${messages.length}`, content: "Yes." })] }))
      .addEdge(START, "agent")
      .compile({ checkpointer: source });
    for (const id of ["h1", "h2", "h3"]) await graph.invoke(ask(id), thread("t"));
    const saver = new BoughSaver(await opened());
    const all = await collect(source.list(thread("t")));
    for (const { config, parentConfig, checkpoint, metadata } of all)
      await saver.put(
        parentConfig ?? { configurable: { ...config.configurable, checkpoint_id: undefined } },
        checkpoint,
        metadata ?? meta,
        checkpoint.channel_versions,
      );
    const ids = (tuples: readonly { readonly checkpoint: Checkpoint }[]) => tuples.map(({ checkpoint }) => checkpoint.id);
    expect(ids(await collect(saver.list(thread("t"))))).toEqual(ids(all));
    expect(ids(await collect(saver.list(thread("t"), { before: all[3]?.config ?? {}, limit: 2 })))).toEqual(ids(all.slice(4, 6)));
    expect((await saver.getTuple(thread("t")))?.checkpoint.id).toBe(all[0]?.checkpoint.id);
  });
});

describe("what is put again", () => {
  test("is written once if it is the same, and replaces the checkpoint if it is not", async () => {
    const store = await opened();
    const saver = new BoughSaver(store);
    const first = checkpointOf([1]);
    for (let times = 0; times < 3; times += 1) await saver.put(thread("t"), first, meta, { list: 1 });
    expect((await (await store.openSession("t")).record()).entryCount).toBe(1);
    for (const list of [[new HumanMessage({ id: "h", content: "other" })], [3]]) {
      await saver.put(thread("t"), { ...first, channel_values: { list } }, meta, { list: 1 });
      expect((await new BoughSaver(store).getTuple(thread("t")))?.checkpoint.channel_values).toEqual({ list });
    }
    expect(await collect(saver.list(thread("t")))).toHaveLength(1);
  });

  test("writes of a task: ordinary ones stay as they came first, an error replaces an older one", async () => {
    const saver = new BoughSaver(await opened());
    const config = await saver.put(thread("t"), checkpointOf([]), meta, { list: 1 });
    await saver.putWrites(
      config,
      [
        ["a", 1],
        ["__error__", "first"],
      ],
      "task",
    );
    await saver.putWrites(
      config,
      [
        ["a", 2],
        ["__error__", "second"],
      ],
      "task",
    );
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ["task", "__error__", "second"],
      ["task", "a", 1],
    ]);
  });

  test("writes that come before their checkpoint, and writes larger than a small value", async () => {
    const saver = new BoughSaver(await opened());
    const checkpoint = checkpointOf([]);
    const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: checkpoint.id } };
    const large = "x".repeat(1_000_000);
    await saver.putWrites(config, [["list", large]], "task");
    await saver.put(thread("t"), checkpoint, meta, { list: 1 });
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([["task", "list", large]]);
  });
});

describe("bytes and serializers", () => {
  test("bytes are bytes, as a value and as a write", async () => {
    const saver = new BoughSaver(await opened());
    const bytes = new Uint8Array([0, 1, 255]);
    const checkpoint: Checkpoint = { ...checkpointOf([]), channel_values: { list: bytes } };
    const config = await saver.put(thread("t"), checkpoint, meta, { list: 1 });
    await saver.putWrites(config, [["list", bytes]], "task");
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint.channel_values["list"]).toStrictEqual(bytes);
    expect(tuple?.pendingWrites).toStrictEqual([["task", "list", bytes]]);
  });

  const reversing = {
    dumpsTyped: async (value: unknown): Promise<[string, Uint8Array]> => ["reversed", Buffer.from(JSON.stringify(value)).reverse()],
    loadsTyped: async (type: string, data: Uint8Array | string) => {
      if (type !== "reversed") throw new Error(`Unknown serialization type: ${type}`);
      return JSON.parse(Buffer.from(data).reverse().toString());
    },
  };

  test("a serializer of the host is used, and one that did not write a checkpoint is refused by its reason", async () => {
    const store = await opened();
    const saver = new BoughSaver(store, reversing);
    const checkpoint = checkpointOf([1, { a: "secret" }]);
    await saver.put(thread("t"), checkpoint, meta, { list: 1 });
    expect((await saver.getTuple(thread("t")))?.checkpoint).toEqual(checkpoint);
    const other = new BoughSaver(store).getTuple(thread("t"));
    await expect(other).rejects.toThrow(CheckpointUnreadableError);
    await expect(other).rejects.toMatchObject({
      code: "CHECKPOINT_UNREADABLE",
      message: expect.stringContaining("Unknown serialization type: reversed"),
    });
  });

  test("a checkpoint of a newer layout is refused, and not taken for a new thread", async () => {
    const store = await opened();
    const saver = new BoughSaver(store);
    await saver.put(thread("t"), checkpointOf([1]), meta, { list: 1 });
    const session = await store.openSession("t");
    await session.append({ type: "custom", customType: "langgraph.checkpoint", id: "next", data: { format: 2 } });
    await session.values.set("langgraph.latest", "next");
    await expect(saver.getTuple(thread("t"))).rejects.toMatchObject({ code: "CHECKPOINT_UNREADABLE" });
  });
});

describe("several writers of one thread", () => {
  test("two invocations at once in one process: each has its own branch, and nothing is lost", async () => {
    const store = await opened();
    const graph = chat(new BoughSaver(store));
    await graph.invoke(ask("h0"), thread("t"));
    await Promise.all(["h1", "h2", "h3", "h4"].map((id) => graph.invoke(ask(id), thread("t"))));
    await expectSoundTree(store);
    const states = await collect(graph.getStateHistory(thread("t")));
    const ends = states.filter(({ next }) => next.length === 0).map(({ values }) => texts(values.messages).slice(0, 2));
    expect(ends).toEqual(ends.map(() => ["Question h0", "Answer 1"]));
  });

  test("checkpoints put at once below different parents each lie below their own", async () => {
    const store = await opened();
    const saver = new BoughSaver(store);
    const first = await saver.put(thread("t"), checkpointOf([0]), meta, { list: 1 });
    const other = await saver.put(first, checkpointOf([0, 1]), meta, { list: 1 });
    const parents = Array.from({ length: 20 }, (_one, at) => (at % 2 === 0 ? first : other));
    await Promise.all(parents.map((parent, at) => saver.put(parent, checkpointOf([0, at]), meta, { list: 1 })));
    await expectSoundTree(store);
  });

  test("four processes: every turn that one acknowledged is in the history, and the store is sound", async () => {
    const path = storePath();
    const names = ["w0", "w1", "w2", "w3"];
    const outputs = await Promise.all(names.map((name) => run(process.execPath, [WRITER, path, "t", name, "10"])));
    const done = outputs.flatMap(({ stdout }) => stdout.trim().split("\n"));
    expect(done).toHaveLength(40);
    const store = await opened(path);
    await expectSoundTree(store);
    const graph = chat(new BoughSaver(store));
    const states = await collect(graph.getStateHistory(thread("t")));
    const answered = new Set(states.flatMap(({ values }) => (values.messages ?? []).map(({ id }: BaseMessage) => id)));
    expect(done.filter((id) => !answered.has(`${id}-answer`))).toEqual([]);
  });

  test("a process that was killed: the thread opens with every turn that it acknowledged, and goes on", async () => {
    const path = storePath();
    const child = spawn(process.execPath, [WRITER, path, "t", "w", "1000"], { stdio: ["ignore", "pipe", "inherit"] });
    const done: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      done.push(line);
      if (done.length === 5) child.kill("SIGKILL");
    }
    const graph = chat(new BoughSaver(await opened(path)));
    await graph.invoke(null, thread("t"));
    const { messages } = (await graph.getState(thread("t"))).values;
    expect(messages.map(({ id }: BaseMessage) => id)).toEqual(expect.arrayContaining(done.flatMap((id) => [id, `${id}-answer`])));
    await graph.invoke(ask("after"), thread("t"));
    expect(texts((await graph.getState(thread("t"))).values.messages).at(-2)).toBe("Question after");
  });
});
