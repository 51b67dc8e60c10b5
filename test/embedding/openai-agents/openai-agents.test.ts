import { BoughSession } from "@bough/adapters/openai-agents";
import { createCompactor } from "@bough/compaction";
import {
  type ContextMessage,
  type Entry,
  type EntryInput,
  openStore,
  type Store,
  textOf,
  toOpenAiResponses,
  userMessage,
} from "@bough/session-core";
import { Agent, type AgentInputItem, MemorySession, RunContext, run, tool, Usage } from "@openai/agents";
import { assistantMessage, functionCall, modelResponse, ScriptedModel } from "@openai/agents-core/testing";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { runs } from "../../../.ci/test-runs.js";

let store: Store;
beforeEach(async () => {
  store = await openStore({ path: ":memory:" });
});
afterEach(async () => {
  const violations = [];
  for await (const violation of store.verify()) violations.push(violation);
  await store.close();
  expect(violations).toEqual([]);
});

const user = (content: string): AgentInputItem => ({ type: "message", role: "user", content });
const reply = (text: string): AgentInputItem => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});
const call = (callId: string, args: unknown = { q: callId }): AgentInputItem => ({
  type: "function_call",
  callId,
  name: "lookup",
  status: "completed",
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});
const result = (callId: string, text: string): AgentInputItem => ({
  type: "function_call_result",
  callId,
  name: "lookup",
  status: "completed",
  output: { type: "text", text },
});

describe("items come back as they were given", () => {
  const items: [string, AgentInputItem][] = [
    ["a text of a user", user("Why does the parser fail on tabs?")],
    ["parts with provider data", { role: "user", content: [{ type: "input_text", text: "See:", providerData: { cache: true } }] }],
    [
      "an image as a data URL",
      { role: "user", content: [{ type: "input_image", image: "data:image/png;base64,iVBORw0KGgo=", detail: "low" }] },
    ],
    ["an image by its id", { role: "user", content: [{ type: "input_image", image: { id: "file-1" } }] }],
    ["a file", { role: "user", content: [{ type: "input_file", file: { url: "https://example.org/a.pdf" }, filename: "a.pdf" }] }],
    [
      "a file as a data URL",
      { role: "user", content: [{ type: "input_file", file: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" }] },
    ],
    ["audio", { role: "user", content: [{ type: "audio", audio: "data:audio/wav;base64,UklGRg==", transcript: "hello" }] }],
    ["instructions", { role: "system", content: "Answer in one line." }],
    ["a reply with an id", { ...assistantMessage("The lexer counts a tab as one column.", { id: "msg_1" }) }],
    ["a refusal", { type: "message", role: "assistant", status: "completed", content: [{ type: "refusal", refusal: "No." }] }],
    ["a reply without parts", { type: "message", role: "assistant", status: "incomplete", content: [] }],
    ["a call", call("c1")],
    ["a call with spaces in its arguments", call("c1", '{ "q": 1 }')],
    ["a call whose arguments are no JSON", call("c1", '{"q":')],
    ["a result", result("c1", "found")],
    ["a result that is a text", { ...result("c1", ""), output: "found" } as AgentInputItem],
    [
      "a result of several parts",
      {
        ...result("c1", ""),
        output: [
          { type: "input_text", text: "a" },
          { type: "input_image", image: "data:image/png;base64,AAAA" },
        ],
      } as AgentInputItem,
    ],
    [
      "a result with bytes",
      {
        ...result("c1", ""),
        output: { type: "image", image: { data: new Uint8Array([0, 255, 7]), mediaType: "image/png" } },
      } as AgentInputItem,
    ],
    [
      "reasoning with encrypted content",
      { type: "reasoning", id: "rs_1", content: [{ type: "input_text", text: "Tabs…" }], providerData: { encryptedContent: "gAAAA==" } },
    ],
    ["a hosted tool call", { type: "hosted_tool_call", id: "ws_1", name: "web_search_call", status: "completed" }],
    ["a compaction of the provider", { type: "compaction", encrypted_content: "gAAAA==" }],
    ["an item of a kind that is not known", { type: "unknown", providerData: { type: "future_item", value: 1 } }],
  ];

  test.each(items)("%s", async (_name, item) => {
    const session = new BoughSession(store, { id: "items" });
    await session.addItems([item]);
    expect(await new BoughSession(store, { id: "items" }).getItems()).toEqual([item]);
  });

  test("images and files are blocks that every program can show", async () => {
    const session = new BoughSession(store);
    const content = [
      { type: "input_image", image: "data:image/png;base64,iVBORw0KGgo=" },
      { type: "input_file", file: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" },
    ];
    await session.addItems([{ role: "user", content } as AgentInputItem]);
    const [entry] = await (await session.open()).path();
    expect(entry).toMatchObject({
      message: {
        content: [
          { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
          { type: "file", mediaType: "application/pdf", data: "JVBERi0=", filename: "a.pdf" },
        ],
      },
    });
  });

  test("the caller's objects are neither kept nor changed", async () => {
    const session = new BoughSession(store);
    const item = { role: "user" as const, content: [{ type: "input_text" as const, text: "as given" }] };
    await session.addItems([item]);
    const [stored] = await session.getItems();
    Object.assign(item.content[0] ?? {}, { text: "changed" });
    expect(await session.getItems()).toEqual([stored]);
  });
});

/** Every operation of the interface, on our session and on the framework's own. */
type Operation = (session: MemorySession | BoughSession) => Promise<unknown>;
const anyItem = fc.oneof(
  fc.string().map(user),
  fc.string().map(reply),
  fc.nat(5).map((id) => call(`c${id}`)),
  fc.tuple(fc.nat(5), fc.string()).map(([id, text]) => result(`c${id}`, text)),
);
const items = fc.array(anyItem, { maxLength: 4 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: items.map(
      (given): Operation =>
        (session) =>
          session.addItems(given),
    ),
  },
  fc.constant<Operation>((session) => session.popItem()),
  fc.constant<Operation>((session) => session.clearSession()),
  fc.nat(6).map(
    (limit): Operation =>
      (session) =>
        session.getItems(limit),
  ),
  fc.tuple(fc.nat(5), fc.nat(9)).map(
    ([id, n]): Operation =>
      (session) =>
        session.applyHistoryMutations({
          mutations: [{ type: "replace_function_call", callId: `c${id}`, replacement: call(`c${id}`, { n }) as never }],
        }),
  ),
  fc.tuple(fc.nat(8), items).map(
    ([operationId, given]): Operation =>
      (session) =>
        session.applyHistoryTransaction({ operationId: `append ${operationId}`, transaction: { type: "append_items", items: given } }),
  ),
  fc.tuple(fc.nat(8), fc.nat(4), items).map(
    ([operationId, length, replacement]): Operation =>
      async (session) =>
        session.applyHistoryTransaction({
          operationId: `replace ${operationId}`,
          transaction: { type: "replace_suffix", expectedSuffix: length === 0 ? [] : await session.getItems(length), replacement },
        }),
  ),
  fc.constant<Operation>((session) =>
    session.applyHistoryTransaction({
      operationId: "stale",
      transaction: { type: "replace_suffix", expectedSuffix: [user("never said")], replacement: [] },
    }),
  ),
  fc.constant<Operation>((session) =>
    session.applyHistoryTransaction({ operationId: " ", transaction: { type: "append_items", items: [] } }),
  ),
);

async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work };
  } catch (error) {
    return { error: error instanceof Error ? error.message : error };
  }
}

test("any sequence of operations gives what the session of the framework gives", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 14 }), async (operations) => {
      const ours = new BoughSession(store);
      const theirs = new MemorySession();
      for (const apply of operations) {
        expect(await outcome(apply(ours))).toEqual(await outcome(apply(theirs)));
        expect(await ours.getItems()).toEqual(await theirs.getItems());
      }
    }),
    { numRuns: runs(60) },
  );
});

const lookup = tool({
  name: "lookup",
  description: "Looks up a word.",
  parameters: z.object({ q: z.string() }),
  execute: async ({ q }) => `found ${q} ${"data ".repeat(300)}`,
});
const usage = new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15, inputTokensDetails: { cached_tokens: 4 } });
const callsTool = (id: string) => modelResponse({ output: [functionCall("lookup", { q: id }, { callId: id })], usage });
const says = (text: string) => modelResponse({ output: [assistantMessage(text)], usage });

// The cases of the framework's own tests of its sessions, "replaces an exact history suffix idempotently" among them.
test("a transaction that is repeated is applied once, whatever it is", async () => {
  for (const session of [new MemorySession(), new BoughSession(store)]) {
    await session.addItems([user("one"), user("two")]);
    const replace = {
      operationId: "replace",
      transaction: { type: "replace_suffix" as const, expectedSuffix: [user("two")], replacement: [user("TWO")] },
    };
    const append = { operationId: "append", transaction: { type: "append_items" as const, items: [user("three")] } };
    for (const operation of [replace, replace, append, append, replace]) await session.applyHistoryTransaction(operation);
    expect(await session.getItems()).toEqual([user("one"), user("TWO"), user("three")]);
    const other = { ...replace, transaction: { ...replace.transaction, expectedSuffix: [user("three")] } };
    await expect(session.applyHistoryTransaction(other)).rejects.toThrow("already applied with a different transaction");
  }
});

test("thirty items that six handles take at once are thirty different ones", async () => {
  const items = Array.from({ length: 40 }, (_, at) => user(`item ${at}`));
  await new BoughSession(store, { id: "popped" }).addItems(items);
  const handles = Array.from({ length: 6 }, () => new BoughSession(store, { id: "popped" }));
  const popped = await Promise.all(handles.flatMap((handle) => Array.from({ length: 5 }, () => handle.popItem())));
  expect(new Set(popped.map((item) => JSON.stringify(item))).size).toBe(30);
  expect(await handles[0]?.getItems()).toEqual(items.slice(0, 10));
});

test("an item that is nothing is refused and leaves the history as it was", async () => {
  const session = new BoughSession(store);
  await session.addItems([user("one")]);
  await expect(session.addItems([JSON.parse("[]")[0]])).rejects.toMatchObject({ code: "INVALID_ENTRY" });
  expect(await session.getItems()).toEqual([user("one")]);
});

describe("under a running agent", () => {
  test("turns with tools are typed entries with the usage of the model, and the next run continues them", async () => {
    const agent = new Agent({
      name: "a",
      model: new ScriptedModel([callsTool("c1"), says("answer 1"), says("answer 2")]),
      tools: [lookup],
    });
    await run(agent, "question 1", { session: new BoughSession(store, { id: "talk" }) });
    const session = new BoughSession(store, { id: "talk" });
    await run(agent, "question 2", { session });
    const bough = await session.open();
    const roles = (await bough.path()).map((entry) => (entry.type === "message" ? entry.message.role : entry.type));
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant", "user", "assistant"]);
    expect((await bough.statistics()).usage).toMatchObject([{ inputTokens: 18, outputTokens: 15, cacheReadTokens: 12 }]);
    // The counts are sums of two requests; the context was the prompt of the second one.
    const first = (await bough.path())[3];
    expect(first?.type === "message" && first.message).toMatchObject({ usage: { input: 12, cacheRead: 8, contextTokens: 10 } });
    expect((await store.search({ query: "answer 2" })).total).toBe(1);
  });

  test("after a move of the leaf a run continues there, and both branches stay", async () => {
    const agent = new Agent({ name: "a", model: new ScriptedModel([says("first"), says("second")]) });
    const session = new BoughSession(store);
    await run(agent, "question", { session });
    const bough = await session.open();
    await bough.moveLeaf((await bough.path())[0]?.id ?? null);
    await session.addItems([reply("another way")]);
    await run(agent, "go on", { session });
    expect((await bough.tree.tips()).map(({ preview }) => preview)).toEqual(["first", "second"]);
  });

  test("a compaction of ours is the first item of the next run, and popItem never removes it", async () => {
    const model = new ScriptedModel([...["c1", "c2", "c3"].flatMap((id) => [callsTool(id), says(`answer ${id}`)]), says("after")]);
    const agent = new Agent({ name: "a", model, tools: [lookup] });
    const session = new BoughSession(store, {
      compactor: (one) => createCompactor({ session: one, contextWindow: 20_000, settings: { keep: { recentTokens: 50 } } }),
    });
    for (const id of ["c1", "c2", "c3"]) await run(agent, `question ${id}`, { session });
    await session.runCompaction({ force: true });
    const compacted = await session.getItems();
    expect(JSON.stringify(compacted[0])).toContain("<summary>");
    await run(agent, "after compaction", { session });
    expect(model.lastCall?.request.input.slice(0, compacted.length)).toEqual(compacted);

    let popped = 0;
    while ((await session.popItem()) !== undefined) popped += 1;
    expect(popped).toBe(compacted.length - 1 + 2);
    expect(await session.getItems()).toEqual(compacted.slice(0, 1));
  });

  test("a tool loop of many steps stays within the window by fitInput", async () => {
    const steps = Array.from({ length: 40 }, (_, at) => callsTool(`c${at}`));
    const model = new ScriptedModel([...steps, says("done")]);
    const agent = new Agent({ name: "a", model, tools: [lookup] });
    const session = new BoughSession(store, {
      compactor: (one) => createCompactor({ session: one, contextWindow: 8_000 }),
    });
    const { finalOutput } = await run(agent, "look up everything", { session, maxTurns: 50, callModelInputFilter: session.fitInput });
    expect(finalOutput).toBe("done");
    const sizes = model.calls.map(({ request }) => JSON.stringify(request.input).length);
    expect(Math.max(...sizes)).toBeLessThan(8_000 * 4);
    expect(JSON.stringify(model.lastCall?.request.input)).toContain("look up everything");
  });
});

describe("the history is what the model sees", () => {
  const texts = (history: readonly AgentInputItem[]) => history.map((item) => ("content" in item ? item.content : item.type));

  test("of a compaction that names what it kept, in the order of its list", async () => {
    const bough = await store.createSession({ id: "kept" });
    await bough.append(["one", "two", "three"].map(userMessage));
    const [one, , three] = await bough.path();
    const keptEntryIds = [three?.id ?? "", null, one?.id ?? ""];
    await bough.append({ type: "compaction", summary: "S", firstKeptEntryId: one?.id ?? "", keptEntryIds });
    const session = new BoughSession(store, { id: "kept" });
    await session.addItems([user("four")]);
    const expected = ["three", expect.stringContaining("S"), "one", "four"];
    expect(texts(await session.getItems())).toEqual(expected);
    for (const limit of [1, 2, 3, 4, 5]) expect(texts(await session.getItems(limit))).toEqual(expected.slice(-limit));
    await session.popItem();
    await session.popItem();
    expect(texts(await session.getItems())).toEqual(expected.slice(0, 2));
    expect(await session.popItem()).toBeUndefined();
  });

  const at = fc.nat(99);
  const change = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("say" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("compact" as const), at, kept: fc.option(fc.array(fc.nat(9))) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), at, content: fc.constantFrom("edited", null) }) },
  );

  /** The entry of a change to a path. */
  function entryFor(one: typeof change extends fc.Arbitrary<infer T> ? T : never, path: readonly Entry[]): EntryInput {
    if (one.do === "say" || path.length === 0) return userMessage(`said ${path.length}`);
    const from = path.slice(one.at % path.length);
    const [target] = from;
    const targetId = target?.id ?? "";
    if (one.do === "edit") {
      const replacement = one.content === null || target?.type !== "message" ? null : { content: one.content };
      return { type: "context_edit", targetId, replacement };
    }
    const named = one.kept?.map((index) => from[index % from.length]?.id ?? "");
    const kept = named === undefined ? {} : { keptEntryIds: [null, ...new Set(named)] };
    return { type: "compaction", summary: `summary ${path.length}`, firstKeptEntryId: targetId, ...kept };
  }

  const seenText = (message: ContextMessage) =>
    message.role === "compactionSummary" ? message.summary : message.role === "user" ? textOf(message.content) : message.role;

  test("whatever is appended, edited, compacted and undone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 14 }), async (changes) => {
        const session = new BoughSession(store);
        const bough = await session.open();
        for (const one of changes) await bough.append(entryFor(one, await bough.path()));
        const items = await session.getItems();
        const read = texts(items).map((text) => /summary \d+/.exec(String(text))?.[0] ?? text);
        expect(read).toEqual((await bough.context()).messages.map(seenText));
        for (const limit of [1, 2, 3]) expect(await session.getItems(limit)).toEqual(items.slice(-limit));
      }),
      { numRuns: runs(100) },
    );
  });

  test("also after items are taken out: what was edited stays edited", async () => {
    const session = new BoughSession(store);
    await session.addItems(["one", "two", "three"].map(user));
    const bough = await session.open();
    const [one] = await bough.path();
    const edit = (content: string) => bough.append({ type: "context_edit", targetId: one?.id ?? "", replacement: { content } });
    await edit("old output left out");
    await edit("output left out");
    await session.popItem();
    expect(texts(await session.getItems())).toEqual(["output left out", "two"]);
    await session.popItem();
    await session.popItem();
    expect(await session.getItems()).toEqual([]);
  });

  test("also if all of it is replaced: what a compaction replaced does not come back", async () => {
    const session = new BoughSession(store);
    await session.addItems(["one", "two"].map(user));
    await (await session.open()).append({ type: "compaction", summary: "S", firstKeptEntryId: null });
    await session.addItems([user("three")]);
    const transaction = { type: "replace_suffix" as const, expectedSuffix: await session.getItems(), replacement: [user("new")] };
    await session.applyHistoryTransaction({ operationId: "replace", transaction });
    expect(texts(await session.getItems())).toEqual(["new"]);
  });
});

test("two handles that append and pop at once lose nothing", async () => {
  const [one, two] = [new BoughSession(store, { id: "shared" }), new BoughSession(store, { id: "shared" })];
  await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : two).addItems([user(`n${at}`)])));
  const popped = await Promise.all([one.popItem(), two.popItem(), one.popItem(), two.popItem()]);
  const left = await one.getItems();
  expect(left).toHaveLength(16);
  expect(new Set([...left, ...popped].map((item) => JSON.stringify(item))).size).toBe(20);
});

test("transactions that six runs append at once keep the usage of each run", async () => {
  const append = async (at: number) => {
    const runContext = new RunContext({});
    runContext.usage.add(usage);
    const transaction = { type: "append_items" as const, items: [reply(`answer ${at}`)] };
    await new BoughSession(store, { id: "runs" }).applyHistoryTransaction({ operationId: `run ${at}`, transaction }, runContext);
  };
  await Promise.all(Array.from({ length: 6 }, (_, at) => append(at)));
  const bough = await store.openSession("runs");
  expect(await bough.path()).toHaveLength(6);
  expect((await bough.statistics()).usage).toMatchObject([{ inputTokens: 36, outputTokens: 30, cacheReadTokens: 24 }]);
});

test("a setting of another name is refused, and so is what is not a store", () => {
  const make =
    (options: unknown, at: unknown = store) =>
    () =>
      new BoughSession(at as Store, options as { id: string });
  expect(make({ sessionId: "support-7" })).toThrow('options.sessionId must be given as id; it is the text "support-7".');
  expect(make({ id: "support-7", titel: "Tabs" })).toThrow("options.titel must be spelled title;");
  expect(make({}, null)).toThrow("store must be a store, as openStore() resolves to; it is null.");
});

describe("a compaction of the provider", () => {
  const sealed: AgentInputItem = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAA==" };

  test("inside a run is an entry from which the history begins, and can be undone", async () => {
    const session = new BoughSession(store);
    await session.addItems([user("one"), reply("1")]);
    await session.addItems([user("two"), sealed, reply("2")]);
    expect(await session.getItems()).toEqual([sealed, reply("2")]);
    const opened = await session.open();
    const { compaction } = await opened.context();
    expect(compaction?.payload).toMatchObject({ details: { native: { provider: "openai", items: [sealed], readable: false } } });
    await opened.append({ type: "context_edit", targetId: compaction?.entryId ?? "", replacement: null });
    expect(await session.getItems()).toEqual([user("one"), reply("1"), user("two"), reply("2")]);
  });

  test("by a compaction session of the SDK keeps the messages of the user in front of its item", async () => {
    const session = new BoughSession(store);
    await session.addItems([user("one"), reply("1"), user("two"), reply("2")]);
    const compacted = [user("one"), user("two"), sealed];
    // As `OpenAIResponsesCompactionSession` replaces the history of the session below it.
    await session.clearSession();
    await session.addItems(compacted);
    expect(await session.getItems()).toEqual(compacted);
    await session.addItems([user("three"), reply("3")]);
    expect(await session.getItems()).toEqual([...compacted, user("three"), reply("3")]);
    expect(await session.getItems(2)).toEqual([user("three"), reply("3")]);
    const { input } = toOpenAiResponses(await (await session.open()).context());
    expect(input.map((item) => item.type)).toEqual(["message", "message", "compaction", "message", "message"]);
    await session.replaceHistoryWithCompaction([user("one"), user("three"), sealed]);
    expect(await session.getItems()).toEqual([user("one"), user("three"), sealed]);
  });
});
