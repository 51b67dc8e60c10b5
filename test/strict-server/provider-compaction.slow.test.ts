// Sessions whose provider compacts them, against servers that refuse what the providers refuse: nothing that Bough sends is refused.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anthropicCompaction, type Compactor, createCompactor, type EventListener, openAiCompaction, recallTools } from "@bough/compaction";
import {
  fromAnthropic,
  fromOpenAiResponses,
  nativeCompactionOf,
  openStore,
  type Session,
  type SessionContext,
  type Store,
  toAnthropic,
  toOpenAiResponses,
  toolCallsOf,
  toolResult,
  userMessage,
} from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { anthropicRoute } from "./anthropic.js";
import { openAiRoutes } from "./openai.js";
import { seal } from "./prefix.js";
import { type StrictServer, startStrictServer } from "./server.js";

const CLAUDE = { provider: "anthropic", modelId: "claude-fable-5-1" };
const GPT = { provider: "openai", modelId: "gpt-6-sol" };
const GROK = { provider: "xai", modelId: "grok-5" };
const TOOLS = [{ name: "read", input_schema: { type: "object" } }];
const OUTPUT = "a line of the file that was read\n".repeat(60);
/** Makes prompts or answers long, because old outputs are pruned before a summary is written. */
const DETAILS = ` ${"The parser must keep the comments of the file and report each error with its line. ".repeat(20)}`;

/** Claude thinks and reads a file, then thinks and answers. GPT and Grok read a file, then answer. */
async function startServers(): Promise<StrictServer> {
  const claude = anthropicRoute(({ messages }, n) => {
    const asked = messages.at(-1)?.content;
    const isAnswered = Array.isArray(asked) && asked[0]?.type === "tool_result";
    const thinking = { type: "thinking", thinking: `Thought ${n}.` };
    return isAnswered
      ? { content: [thinking, { type: "text", text: `Answer ${n}.` }], stop_reason: "end_turn" }
      : { content: [thinking, { type: "tool_use", id: `toolu_${n}`, name: "read", input: { path: `${n}.ts` } }], stop_reason: "tool_use" };
  });
  const gpt = openAiRoutes(({ model, input }, n) => {
    const id = `rs_${n}`;
    const reasoning = {
      type: "reasoning",
      id,
      summary: [],
      encrypted_content: seal({ of: "reasoning", id, model, account: "Bearer account-1" }),
    };
    if (input.at(-1)?.type === "function_call_output")
      return [
        reasoning,
        {
          type: "message",
          id: `msg_${n}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: `Answer ${n}.${DETAILS}`, annotations: [] }],
        },
      ];
    return [reasoning, { type: "function_call", id: `fc_${n}`, call_id: `call_${n}`, name: "read", arguments: "{}" }];
  });
  return startStrictServer({ "/v1/messages": claude, ...gpt });
}

/** Opens a store in a file, to be opened again after a crash. */
async function openFile(): Promise<{ readonly store: Store; readonly again: () => Promise<Store> }> {
  const folder = mkdtempSync(join(tmpdir(), "bough-"));
  const open = async () => {
    const store = await openStore({ path: join(folder, "s.db"), durability: "normal" });
    onTestFinished(() => store.close());
    return store;
  };
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { store: await open(), again: open };
}

type Send = (context: SessionContext) => Promise<ReturnType<typeof fromAnthropic>>;

const sendTo = {
  claude:
    (server: StrictServer, more: object = {}, betas: readonly string[] = []): Send =>
    async (context) => {
      const body = {
        model: CLAUDE.modelId,
        max_tokens: 1000,
        system: "You edit.",
        tools: TOOLS,
        ...more,
        ...toAnthropic(context, { model: CLAUDE }),
      };
      return fromAnthropic((await server.post("/v1/messages", body, { betas })).body);
    },
  gpt:
    (server: StrictServer, more: object = {}, model = GPT): Send =>
    async (context) => {
      const prompt = toOpenAiResponses({ ...context, model });
      const body = { model: model.modelId, store: false, include: ["reasoning.encrypted_content"], ...more, ...prompt };
      const { provider } = model;
      return fromOpenAiResponses((await server.post("/v1/responses", body, { account: "Bearer account-1" })).body, { provider });
    },
};

/** One prompt, and requests until the model calls no tool any more. */
async function takeTurn(session: Session, send: Send, text: string, compactor?: Compactor): Promise<void> {
  await session.append(userMessage(text));
  for (let calls = 1; calls > 0; ) {
    const context =
      compactor === undefined ? await session.context() : (await compactor.prepareRequest({ toolTokens: 20, systemTokens: 10 })).context;
    const reply = await send(context);
    await session.append(reply);
    const made = toolCallsOf(reply);
    calls = made.length;
    for (const { id, name } of made) await session.append(toolResult(id, OUTPUT, { toolName: name }));
  }
}

function claudeCompactor(session: Session, server: StrictServer, contextWindow = 16_384, onEvent?: EventListener): Compactor {
  const summarizer = anthropicCompaction({ baseURL: server.url, apiKey: "account-1", tools: TOOLS, system: "You edit." });
  return createCompactor({ session, contextWindow, model: CLAUDE, summarizer, onEvent });
}

/** Compacts all but the last turn. */
async function compactAllButLast(session: Session, compactor: Compactor) {
  const keepFrom = (await session.path()).findLast((entry) => entry.type === "message" && entry.message.role === "user")?.id;
  return compactor.compact(keepFrom === undefined ? {} : { keepFrom });
}

const compactions = (server: StrictServer) => server.exchanges.filter(({ sent }) => JSON.stringify(sent).includes('"summarize"'));

describe("Anthropic's own compaction", () => {
  test("on demand, in the foreground and in the background: sixty turns, and nothing is refused", async () => {
    const server = await startServers();
    const { store } = await openFile();
    const session = await store.createSession();
    const done: boolean[] = [];
    const compactor = claudeCompactor(session, server, 32_768, (event) => {
      if (event.type === "compactionComplete" && event.success) done.push(event.background);
    });
    for (let n = 0; n < 60; n += 1) await takeTurn(session, sendTo.claude(server), `Question ${n}.${DETAILS}`, compactor);
    expect(server.refused()).toEqual([]);
    expect(compactions(server).length).toBeGreaterThan(0);
    expect(done).toContain(true);
    const { compaction } = await session.context();
    expect(compaction?.payload).toMatchObject({ method: "native", details: { native: { readable: true } } });
    await compactAllButLast(session, compactor);
    await takeTurn(session, sendTo.claude(server), "Go on.", compactor);
    expect(server.refused()).toEqual([]);
    expect(done).toContain(false);
    await compactor.close();
  });

  test("keeps the thinking of the kept turns", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const compactor = claudeCompactor(session, server, 200_000);
    for (let n = 0; n < 4; n += 1) await takeTurn(session, sendTo.claude(server), `Question ${n}.${DETAILS}`, compactor);
    expect(await compactAllButLast(session, compactor)).toMatchObject({ kind: "compacted", method: "native" });
    await takeTurn(session, sendTo.claude(server), "Go on.", compactor);
    expect(server.refused()).toEqual([]);
    const last = server.exchanges.at(-1)?.sent as { messages: { content: { type: string; thinking?: string }[] }[] };
    const blocks = last.messages.flatMap(({ content }) => content);
    expect(blocks[0]?.type).toBe("compaction");
    expect(blocks.flatMap(({ thinking }) => thinking ?? [])).toEqual(["Thought 6.", "Thought 7.", "Thought 8."]);
    await compactor.close();
  });

  test("at its threshold, inside a reply: the reply goes back as it came, and the usage of the compaction counts", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const more = { context_management: { edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 6_000 } }] } };
    const send = sendTo.claude(server, more, ["compact-2026-01-12"]);
    for (let n = 0; n < 20; n += 1) await takeTurn(session, send, `Question ${n}.${DETAILS}`);
    expect(server.refused()).toEqual([]);
    const own = (await session.path()).filter((entry) => entry.type === "compaction");
    expect(own.length).toBeGreaterThan(1);
    expect(own[0]).toMatchObject({ provider: "anthropic", usage: { output: 40 } });
  });

  test("is undone, branched from, forked, sent to another provider and back, and read after a crash", async () => {
    const server = await startServers();
    const { store, again } = await openFile();
    const session = await store.createSession({ id: "s" });
    const compactor = claudeCompactor(session, server, 200_000);
    const claude = sendTo.claude(server);
    for (let n = 0; n < 4; n += 1) await takeTurn(session, claude, `Question ${n}.${DETAILS}`, compactor);
    const before = session.leafId;
    expect(await compactAllButLast(session, compactor)).toMatchObject({ kind: "compacted", method: "native" });
    const search = recallTools(session).definitions.find(({ name }) => name === "recall_search");
    const recalled = await search?.execute({ query: "Question 0" });
    expect(JSON.stringify(recalled)).toContain("Question 0");
    await takeTurn(session, claude, "After it.", compactor);
    // Another provider reads the summary, and Claude its own block again.
    await session.append({ type: "model_change", ...GPT });
    await takeTurn(session, sendTo.gpt(server), "You now.");
    await session.append({ type: "model_change", ...CLAUDE });
    await takeTurn(session, claude, "And you again.");
    expect(JSON.stringify(server.exchanges.at(-1)?.sent)).toContain('"type":"compaction"');
    // A fork, and a branch before the compaction.
    const fork = await store.forkSession(session.id);
    await takeTurn(fork, claude, "In the fork.");
    await session.moveLeaf(before);
    await takeTurn(session, claude, "On another branch.");
    await session.undoMove();
    await compactor.undoCompaction();
    await takeTurn(session, claude, "Without it.");
    await compactor.close();
    await store.close();
    const later = await (await again()).openSession("s");
    await takeTurn(later, claude, "After the restart.", claudeCompactor(later, server));
    expect(server.refused()).toEqual([]);
  });

  test("is asked of the session's model by any of its names", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const { modelId } = CLAUDE;
    const summarizer = anthropicCompaction({
      baseURL: server.url,
      apiKey: "account-1",
      model: `${modelId}-20260901`,
      system: "You edit.",
      tools: TOOLS,
    });
    const compactor = createCompactor({ session, contextWindow: 200_000, model: CLAUDE, summarizer });
    for (let n = 0; n < 4; n += 1) await takeTurn(session, sendTo.claude(server), `Question ${n}.${DETAILS}`);
    expect(await compactAllButLast(session, compactor)).toMatchObject({ kind: "compacted", method: "native" });
    await takeTurn(session, sendTo.claude(server), "Go on.", compactor);
    expect(JSON.stringify(server.exchanges.at(-1)?.sent)).toContain('"type":"compaction"');
    expect(server.refused()).toEqual([]);
    await compactor.close();
  });

  test("that the API refuses leaves the work to the next summarizer", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const broken = anthropicCompaction({ baseURL: server.url, apiKey: "account-1", headers: { "x-api-key": "another-account" } });
    const compactor = createCompactor({ session, contextWindow: 200_000, model: CLAUDE, summarizer: broken });
    for (let n = 0; n < 4; n += 1) await takeTurn(session, sendTo.claude(server), `Question ${n}.${DETAILS}`);
    const result = await compactAllButLast(session, compactor);
    expect(result).toMatchObject({ kind: "compacted", method: "extract" });
    expect(JSON.stringify(result)).not.toContain("another-account");
    await takeTurn(session, sendTo.claude(server), "Go on.");
    expect(server.refused()).toHaveLength(1);
    await compactor.close();
  });
});

describe("OpenAI's own compaction", () => {
  test.each(["compact", "trigger"] as const)("by %s: thirty turns, and nothing is refused", async (method) => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const summarizer = openAiCompaction({ baseURL: `${server.url}/v1`, apiKey: "account-1", method });
    const compactor = createCompactor({ session, contextWindow: 16_384, model: GPT, summarizer });
    for (let n = 0; n < 30; n += 1) await takeTurn(session, sendTo.gpt(server), `Question ${n}.`, compactor);
    expect(server.refused()).toEqual([]);
    const { compaction } = await session.context();
    expect(compaction?.payload).toMatchObject({ method: "native", details: { native: { provider: "openai", readable: false } } });
    // The extract is what others read.
    expect(compaction?.payload.summary).toContain("Question");
    await session.append({ type: "model_change", ...CLAUDE });
    await takeTurn(session, sendTo.claude(server), "You now.");
    await session.append({ type: "model_change", ...GPT });
    await takeTurn(session, sendTo.gpt(server), "And you again.");
    expect(server.refused()).toEqual([]);
    await compactor.close();
  });

  test("at its threshold, inside a response", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const send = sendTo.gpt(server, { context_management: [{ type: "compaction", compact_threshold: 4_000 }] });
    for (let n = 0; n < 20; n += 1) await takeTurn(session, send, `Question ${n}.`);
    expect(server.refused()).toEqual([]);
    const own = (await session.path()).filter((entry) => entry.type === "compaction" && nativeCompactionOf(entry) !== undefined);
    expect(own.length).toBeGreaterThan(1);
  });
});

describe("xAI's own compaction", () => {
  test("on demand: thirty turns, another provider's model and back, and nothing is refused", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const summarizer = openAiCompaction({ provider: "xai", baseURL: `${server.url}/v1`, apiKey: "account-1" });
    const compactor = createCompactor({ session, contextWindow: 16_384, model: GROK, summarizer });
    const grok = sendTo.gpt(server, {}, GROK);
    for (let n = 0; n < 30; n += 1) await takeTurn(session, grok, `Question ${n}.`, compactor);
    expect(server.refused()).toEqual([]);
    const native = nativeCompactionOf((await session.context()).compaction?.payload ?? {});
    expect(native).toMatchObject({ provider: "xai", model: GROK.modelId, readable: false });
    const lastSent = () => JSON.stringify(server.exchanges.at(-1)?.sent);
    const encrypted = native?.items.map((item) => String(item["encrypted_content"])).at(-1) ?? "";
    // OpenAI's API has the same items, and could not decrypt these.
    await session.append({ type: "model_change", ...GPT });
    await takeTurn(session, sendTo.gpt(server), "You now.");
    expect(lastSent()).not.toContain(encrypted);
    expect(lastSent()).toContain("Question");
    await session.append({ type: "model_change", ...GROK });
    await takeTurn(session, grok, "And you again.");
    expect(lastSent()).toContain(encrypted);
    expect(server.refused()).toEqual([]);
    await compactor.close();
  });

  test("inside a response is sent first, as it came", async () => {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const send = sendTo.gpt(server, { context_management: [{ type: "compaction", compact_threshold: 4_000 }] }, GROK);
    for (let n = 0; n < 12; n += 1) await takeTurn(session, send, `Question ${n}.`);
    expect(server.refused()).toEqual([]);
    const own = (await session.path()).flatMap((entry) => (entry.type === "compaction" ? [nativeCompactionOf(entry)] : []));
    expect(own.length).toBeGreaterThan(1);
    expect(server.exchanges.at(-1)?.sent).toMatchObject({ input: { 0: own.at(-2)?.items[0] } });
    expect(own.at(-1)).toMatchObject({ provider: "xai", model: GROK.modelId });
  });
});

describe("the servers", () => {
  async function compacted() {
    const server = await startServers();
    const session = await (await openFile()).store.createSession();
    const compactor = claudeCompactor(session, server, 200_000);
    for (let n = 0; n < 4; n += 1) await takeTurn(session, sendTo.claude(server), `Question ${n}.${DETAILS}`, compactor);
    await compactAllButLast(session, compactor);
    await session.append(userMessage("next"));
    const request = { model: CLAUDE.modelId, system: "You edit.", tools: TOOLS, ...toAnthropic(await session.context()) };
    const { messages } = request;
    const [first, ...rest] = messages;
    const block = { ...first?.content[0] };
    const answers = async (changed: object) => JSON.stringify((await server.post("/v1/messages", { ...request, ...changed })).body);
    await compactor.close();
    return { messages, first, rest, block, answers };
  }

  test("refuse a block of Anthropic that was moved, changed or sent to another model", async () => {
    const { messages, first, rest, block, answers } = await compacted();
    const withBlock = (changed: object) => ({
      messages: [{ role: "assistant", content: [{ ...block, ...changed }, ...(first?.content.slice(1) ?? [])] }, ...rest],
    });
    expect(await answers({ messages })).toContain('"role":"assistant"');
    expect(await answers({ messages: [{ role: "user", content: "hello" }, ...messages] })).toContain("CompactionBlockMisplaced");
    expect(await answers(withBlock({ content: "Another summary." }))).toContain("CompactionContentMismatch");
    expect(await answers(withBlock({ signature: "forged" }))).toContain("CompactionSignatureInvalid");
    expect(await answers(withBlock({ encrypted_content: null }))).toContain("encrypted_content");
    expect(await answers(withBlock({ tool_changes: undefined }))).toContain("CompactionToolChangesMismatch");
    expect(await answers({ model: "claude-opus-5-5" })).toContain("CompactionSignatureInvalid");
  });

  test("refuse an item of OpenAI that was changed, and a trigger that is not the last item", async () => {
    const server = await startServers();
    const post = async (input: readonly object[]) =>
      JSON.stringify((await server.post("/v1/responses", { model: GPT.modelId, input }, { account: "Bearer account-1" })).body);
    const user = { type: "message", role: "user", content: "hi" };
    expect(await post([{ type: "compaction", id: "cmp_1", encrypted_content: "forged" }, user])).toContain("could not be decrypted");
    expect(await post([{ type: "compaction_trigger" }, user])).toContain("must be the final item");
    expect(await post([{ type: "compaction", content: "of Anthropic", signature: "s" }, user])).toContain("could not be decrypted");
  });
});
