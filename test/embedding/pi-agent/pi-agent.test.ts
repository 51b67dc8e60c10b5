import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepAgent } from "@bough/adapters/pi-agent";
import { createCompactor } from "@bough/compaction";
import { assistantMessage, openStore, type Session, type Store, userMessage } from "@bough/session-core";
import Database from "better-sqlite3";
import type { AgentMessage } from "pi-agent-core-1";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { earlierAgent, type Request, reads, readTool, says, scriptedAgent, thinks } from "./agents.js";

// pi's `Agent` of version 1.6, with pi's own scripted model.

let store: Store;
let session: Session;

beforeEach(async () => {
  store = await openStore({ path: ":memory:" });
  session = await store.createSession({ id: "tabs" });
});
afterEach(() => store.close());

/** Type and role of each entry of the leaf's path, without system messages. */
async function shape(): Promise<readonly string[]> {
  const path = await session.path();
  return path.map((entry) => (entry.type === "message" ? entry.message.role : entry.type)).filter((one) => one !== "system");
}

/** The messages of requests without their times. */
function comparable(requests: readonly Request[]): unknown {
  return JSON.parse(JSON.stringify(requests, (key, value: unknown) => (/^(timestamp|durationMs)$/.test(key) ? undefined : value)));
}

const QUESTIONS = ["Why does the parser fail on tabs?", "And on form feeds?"];
const answers = () => [reads("src/lexer.ts", "call-1"), says("A tab counts as one."), says("They count as one, too.")];

describe("an agent that is kept", () => {
  test("leaves messages, calls, results and usage that every reader of the store understands", async () => {
    const { agent } = scriptedAgent(answers());
    await keepAgent(agent, session);
    for (const question of QUESTIONS) await agent.prompt(question);
    expect(await shape()).toEqual(["user", "assistant", "toolResult", "assistant", "user", "assistant"]);
    expect((await session.fileOperations()).map(({ kind, path, outcome }) => [kind, path, outcome])).toEqual([
      ["read", "src/lexer.ts", "done"],
    ]);
    expect((await store.search({ query: "form feeds" })).total).toBe(1);
    const [usage] = (await session.statistics()).usage;
    expect(usage).toMatchObject({ replies: 3, model: "scripted" });
    expect(usage?.outputTokens).toBeGreaterThan(0);
    expect((await session.context()).system).toBe("Be brief.");
  });

  test("sends what pi sends without a store", async () => {
    const alone = scriptedAgent(answers());
    const kept = scriptedAgent(answers());
    await keepAgent(kept.agent, session);
    for (const question of QUESTIONS) for (const { agent } of [alone, kept]) await agent.prompt(question);
    expect(kept.requests).toHaveLength(3);
    expect(comparable(kept.requests)).toEqual(comparable(alone.requests));
  });

  test("sends what pi sends of a result with an image that the store would refuse, once for its call", async () => {
    const content = [{ type: "image" as const, data: "AAAA\nBBBB", mimeType: "image/png" }];
    const tool = { ...readTool, execute: async () => ({ content, details: undefined }) };
    const alone = scriptedAgent(answers(), { initialState: { tools: [tool] } });
    const kept = scriptedAgent(answers(), { initialState: { tools: [tool] } });
    await keepAgent(kept.agent, session);
    for (const question of QUESTIONS) for (const { agent } of [alone, kept]) await agent.prompt(question);
    expect(comparable(kept.requests)).toEqual(comparable(alone.requests));
    expect((await session.fileOperations()).map(({ outcome }) => outcome)).toEqual(["done"]);
  });

  test("stores what JSON has of the details of a result, which the model does not get", async () => {
    const details = { at: new Date(0), share: Number.NaN, lines: 3 };
    const tool = { ...readTool, execute: async () => ({ content: [{ type: "text" as const, text: "const tab = 8;" }], details }) };
    const { agent } = scriptedAgent(answers(), { initialState: { tools: [tool] } });
    await keepAgent(agent, session);
    await agent.prompt("First?");
    const result = (await session.context()).messages.find(({ role }) => role === "toolResult");
    expect(result).toMatchObject({ details: { at: "1970-01-01T00:00:00.000Z", share: null, lines: 3 } });
  });

  test.each(["error", "aborted", "length"])("sends what pi sends after a reply that ended with %s", async (stopReason) => {
    const script = () => [{ ...reads("src/lexer.ts", "call-1"), stopReason, errorMessage: "overloaded" }, says("One."), says("Two.")];
    const alone = scriptedAgent(script());
    const kept = scriptedAgent(script());
    await keepAgent(kept.agent, session);
    for (const question of QUESTIONS) for (const { agent } of [alone, kept]) await agent.prompt(question);
    expect(comparable(kept.requests)).toEqual(comparable(alone.requests));
  });

  test("announces a change of tools and of the prompt where pi announces it", async () => {
    const grep = { ...readTool, name: "grep" };
    const alone = scriptedAgent(answers());
    const kept = scriptedAgent(answers());
    await keepAgent(kept.agent, session);
    for (const { agent } of [alone, kept]) {
      await agent.prompt(QUESTIONS[0] ?? "");
      agent.state.tools = [readTool, grep];
      await agent.prompt([
        { role: "system", content: "Be long.", timestamp: 1 },
        { role: "user", content: QUESTIONS[1] ?? "", timestamp: 2 },
      ]);
    }
    expect(kept.requests[2]?.messages.map(({ role }) => role).slice(-2)).toEqual(["system", "user"]);
    expect(comparable(kept.requests)).toEqual(comparable(alone.requests));
  });

  test("stores the whole prompt that is in force, with the sections of system messages and their later texts", async () => {
    const base = { role: "system" as const, content: "Be brief.", sections: { rules: "No tabs." }, timestamp: 0 };
    const { agent } = scriptedAgent([says("One."), says("Two.")], { initialState: { messages: [base] } });
    await keepAgent(agent, session);
    await agent.prompt("First?");
    expect((await session.context()).system).toBe(agent.state.systemPrompt);
    await agent.prompt([
      { role: "system", content: "Be long.", sections: { rules: null }, timestamp: 1 },
      { role: "user", content: "Second?", timestamp: 2 },
    ]);
    expect((await session.context()).system).toBe("Be brief.\n\nBe long.");
  });

  test("goes on in another process with what was said", async () => {
    const alone = scriptedAgent(answers());
    for (const question of QUESTIONS) await alone.agent.prompt(question);

    const before = scriptedAgent(answers().slice(0, 2));
    await keepAgent(before.agent, session);
    await before.agent.prompt(QUESTIONS[0] ?? "");
    session = await store.openSession("tabs");
    const after = scriptedAgent(answers().slice(2));
    await keepAgent(after.agent, session);
    expect(after.agent.state.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "toolResult", "assistant"]);
    await after.agent.prompt(QUESTIONS[1] ?? "");
    expect(comparable(after.requests)).toEqual(comparable(alone.requests.slice(2)));
    // The prompt of the system is stored once.
    expect((await session.path()).filter((entry) => entry.type === "message" && entry.message.role === "system")).toHaveLength(1);
  });

  test("stores each message before pi runs the tools of it", async () => {
    const seen: (readonly string[])[] = [];
    const tool = {
      ...readTool,
      execute: async () => {
        seen.push(await shape());
        return { content: [{ type: "text" as const, text: "const tab = 8;" }], details: undefined };
      },
    };
    const { agent } = scriptedAgent(answers().slice(0, 2), { initialState: { tools: [tool] } });
    await keepAgent(agent, session);
    await agent.prompt("Why?");
    expect(seen).toEqual([["user", "assistant"]]);
  });

  test("starts an empty session with the messages that it has", async () => {
    const { agent } = scriptedAgent([says("One."), says("Two.")]);
    await agent.prompt("First?");
    await keepAgent(agent, session);
    await agent.prompt("Second?");
    expect(await shape()).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("sends the branch to which the leaf was moved, and begins another one there", async () => {
    const { agent, requests } = scriptedAgent([says("One."), says("Two."), says("Three.")]);
    const kept = await keepAgent(agent, session);
    await agent.prompt("First?");
    const leafId = session.leafId;
    await agent.prompt("Second?");
    await session.moveLeaf(leafId);
    await agent.prompt("Another second?");
    expect(texts(requests.at(-1))).toEqual(["Be brief.", "First?", "One.", "Another second?"]);
    expect((await session.tree.tips()).length).toBe(2);
    await kept.reload();
    expect(texts(agent.state)).toEqual(["Be brief.", "First?", "One.", "Another second?", "Three."]);
  });

  test("sends entries of other programs: summaries, commands and messages of hosts are the user's, blocks without a place are named", async () => {
    await session.append([
      userMessage("Look at this."),
      assistantMessage("I see.", { provider: "anthropic", model: "claude" }),
      { type: "message", message: { role: "bashExecution", command: "ls", output: "lexer.ts", exitCode: 0 } },
      { type: "message", message: { role: "bashExecution", command: "env", output: "SECRET", excludeFromContext: true } },
      { type: "custom_message", customType: "note", content: "Tabs are eight wide." },
      { type: "branch_summary", fromId: null, summary: "A flag was tried." },
      { type: "message", message: { role: "user", content: [{ type: "file", mediaType: "application/pdf", data: "AAAA" }] } },
    ]);
    const { agent, requests } = scriptedAgent([says("Done.")]);
    await keepAgent(agent, session);
    await agent.prompt("Go on.");
    const sent = texts(requests[0]).join("\n");
    for (const part of ["I see.", "lexer.ts", "Tabs are eight wide.", "A flag was tried.", "[file]"]) expect(sent).toContain(part);
    expect(sent).not.toContain("SECRET");
    expect(new Set(requests[0]?.messages.map(({ role }) => role))).toEqual(new Set(["system", "user", "assistant"]));
  });

  test("gives messages of roles that the application defined back to its convertToLlm", async () => {
    const seen: unknown[] = [];
    const convertToLlm = (messages: AgentMessage[]) => {
      const own = messages as unknown as { readonly role: string; readonly picture: string }[];
      seen.push(own.filter(({ role }) => role === "sketch").map(({ picture }) => picture));
      return messages.filter(({ role }) => role !== ("sketch" as string));
    };
    const { agent } = scriptedAgent([says("A box.")], { convertToLlm });
    await keepAgent(agent, session);
    await agent.prompt([
      { role: "sketch", picture: "[]", timestamp: 1 },
      { role: "user", content: "What is it?", timestamp: 2 },
    ] as unknown as AgentMessage[]);
    expect(seen).toEqual([["[]"]]);
    expect(await shape()).toEqual(["custom_message", "user", "assistant"]);
  });

  test("sends no custom message of the agent that its convertToLlm leaves out, after a restart neither", async () => {
    const { agent, requests } = scriptedAgent([says("One.")]);
    await keepAgent(agent, session);
    const drawn = { role: "custom", customType: "status", content: "Only drawn.", display: true, timestamp: 1 };
    await agent.prompt([drawn, { role: "user", content: "First?", timestamp: 2 }] as unknown as AgentMessage[]);
    expect(texts(requests[0])).toEqual(["Be brief.", "First?"]);
    const later = scriptedAgent([says("Two.")]);
    await keepAgent(later.agent, await store.openSession("tabs"));
    await later.agent.prompt("Second?");
    expect(texts(later.requests[0])).toEqual(["Be brief.", "First?", "One.", "Second?"]);
    expect(later.agent.state.messages).toContainEqual(drawn);
    expect(await shape()).toEqual(["custom", "user", "assistant"]);
  });

  test("keeps requests in the window of a compactor, with each result behind its call", async () => {
    const long = "a line of the parser\n".repeat(400);
    const rounds = 12;
    const script = Array.from({ length: rounds }, (_, at) => [reads(`src/${at}.ts`, `call-${at}`), says(`${at}: ${long}`)]).flat();
    const { agent, requests } = scriptedAgent(script);
    const compactor = createCompactor({ session, contextWindow: 12_000 });
    await keepAgent(agent, session, { compactor, toolTokens: 50 });
    for (let at = 0; at < rounds; at += 1) await agent.prompt(`Question ${at}`);
    await compactor.close();
    expect((await session.path()).some(({ type }) => type === "compaction")).toBe(true);
    for (const { messages } of requests) {
      expect(JSON.stringify(messages).length / 4).toBeLessThan(12_000);
      const blocks = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
      const calls = blocks.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
      expect(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []))).toEqual(calls);
    }
    expect(texts(requests.at(-1))[1]).toContain("Question 0");
    expect(texts(requests.at(-1))[0]).toBe("Be brief.");
  });

  test("ends a compaction behind a run when it is aborted, and begins none behind an aborted run", async () => {
    const long = "a line of the parser\n".repeat(1000);
    const { agent } = scriptedAgent([says(long), says(long), says("Three.")]);
    let asked = 0;
    const summarizer = async () => {
      asked += 1;
      agent.abort();
      return "Nobody waits for this.";
    };
    const compactor = createCompactor({ session, contextWindow: 12_000, summarizer });
    await keepAgent(agent, session, { compactor });
    await agent.prompt("First?");
    await agent.prompt("Second?");
    expect(asked).toBe(1);
    expect(await shape()).toEqual(["user", "assistant", "user", "assistant"]);
    agent.subscribe(({ type }) => void (type === "turn_start" && agent.abort()));
    await agent.prompt("Third?");
    await compactor.close();
    expect(asked).toBe(1);
  });

  test("has its reply although the compactor fails behind the run; the next request fails with the error", async () => {
    const { agent } = scriptedAgent([says("One.")]);
    const compactor = createCompactor({ session, contextWindow: 12_000 });
    let problem: Error | undefined;
    const work = async <T>(result: Promise<T>): Promise<T> => {
      if (problem !== undefined) throw problem;
      return result;
    };
    const failing = {
      prepareRequest: (input: object) => work(compactor.prepareRequest(input)),
      turnEnded: (input: object) => {
        problem = new TypeError("The disk is full");
        return work(compactor.turnEnded(input));
      },
    };
    await keepAgent(agent, session, { compactor: failing });
    await agent.prompt("First?");
    expect([agent.state.errorMessage, await shape()]).toEqual([undefined, ["user", "assistant"]]);
    await agent.prompt("Second?");
    expect(agent.state.errorMessage).toBe("The disk is full");
    await compactor.close();
  });

  test("leaves the application's own prepareRequest in force", async () => {
    const levels: unknown[] = [];
    const { agent } = scriptedAgent([says("One.")], { prepareRequest: () => ({ thinkingLevel: "high" as const }) });
    await keepAgent(agent, session);
    agent.subscribe((event) => {
      if (event.type === "message_end" && event.message.role === "assistant") levels.push(event.message.thinkingLevel);
    });
    await agent.prompt("First?");
    expect(levels).toEqual(["high"]);
  });

  test("is on its own after detach, and can be kept again", async () => {
    const { agent } = scriptedAgent([says("One."), says("Two.")]);
    const kept = await keepAgent(agent, session);
    await agent.prompt("First?");
    kept.detach();
    await agent.prompt("Second?");
    expect(await shape()).toEqual(["user", "assistant"]);
    const other = await store.createSession({ id: "other" });
    await keepAgent(agent, other);
    expect((await other.context()).messages).toHaveLength(4);
  });

  test("fails with the error of the store if a message cannot be stored, and stores nothing behind the gap", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bough-pi-agent-"));
    const path = join(folder, "sessions.db");
    const file = await openStore({ path, busyTimeoutMs: 1 });
    const other = new Database(path);
    const kept = await file.createSession();
    const { agent, requests } = scriptedAgent([says("One."), says("Two.")]);
    await keepAgent(agent, kept);
    other.exec("BEGIN IMMEDIATE");
    await expect(agent.prompt("First?")).rejects.toMatchObject({ code: "STORE_BUSY" });
    other.exec("ROLLBACK");
    await expect(agent.prompt("Second?")).rejects.toMatchObject({ code: "STORE_BUSY" });
    expect(requests).toEqual([]);
    expect((await kept.context()).messages).toEqual([]);
    other.close();
    await file.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ["claude-opus-5-5", ["text"]],
    ["claude-opus-4-5", ["thinking", "text"]],
  ])("sends signed thinking behind a changed message only to a model that does not check it: %s", async (model, sent) => {
    const { agent, requests } = scriptedAgent([thinks("One."), says("Two.")], {}, model);
    await keepAgent(agent, session);
    await agent.prompt("First?");
    const question = (await session.path()).find((entry) => entry.type === "message" && entry.message.role === "user");
    await session.append({ type: "context_edit", targetId: question?.id ?? "", replacement: { content: "Changed." } });
    await agent.prompt("Second?");
    const reply = requests[1]?.messages.find(({ role }) => role === "assistant");
    expect(reply?.role === "assistant" && reply.content.map(({ type }) => type)).toEqual(sent);
  });

  test("judges signed thinking by the model that the application's prepareRequest names", async () => {
    const own = scriptedAgent([thinks("One."), says("Two.")], {}, "claude-opus-5-5");
    const { model } = own.agent.state;
    own.agent.state.model = { ...model, id: "claude-opus-4-5" };
    own.agent.prepareRequest = () => ({ model });
    await keepAgent(own.agent, session);
    await own.agent.prompt("First?");
    await own.agent.prompt("Second?");
    const reply = own.requests[1]?.messages.find(({ role }) => role === "assistant");
    expect(reply?.role === "assistant" && reply.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
  });

  test("becomes a branch if another writer moved the leaf", async () => {
    const { agent } = scriptedAgent([says("One."), says("Two.")]);
    await keepAgent(agent, session);
    await agent.prompt("First?");
    await (await store.openSession("tabs")).append(userMessage("From elsewhere."));
    await agent.prompt("Second?");
    expect(await shape()).toEqual(["user", "assistant", "user", "assistant"]);
    expect((await session.tree.tips()).length).toBe(2);
  });
});

describe("a move of the leaf during a run", () => {
  const moveToFirst = async () =>
    session.moveLeaf((await session.path()).find((entry) => entry.type === "message" && entry.message.role === "user")?.id ?? null);
  const parents = async () => new Map((await session.list()).map((entry) => [entry.id, entry.parentId]));

  test("by a tool: its result is stored below the call, and the next request is of the path to which the leaf was moved", async () => {
    const back = {
      ...readTool,
      execute: async () => {
        await moveToFirst();
        return { content: [{ type: "text" as const, text: "Back." }], details: undefined };
      },
    };
    const { agent, requests } = scriptedAgent([says("One."), reads("src/lexer.ts", "call-1"), says("Anew.")], {
      initialState: { tools: [back] },
    });
    await keepAgent(agent, session);
    await agent.prompt("First?");
    await agent.prompt("Second?");
    expect(texts(requests.at(-1))).toEqual(["Be brief.", "First?"]);
    expect(await shape()).toEqual(["user", "assistant"]);
    const [result] = await session.list({ order: "newest", limit: 2 }).then((entries) => entries.slice(1));
    const call = await session.entry((await parents()).get(result?.id ?? "") ?? "");
    expect([result, call].map((entry) => entry?.type === "message" && entry.message.role)).toEqual(["toolResult", "assistant"]);
  });

  test("while the model answers: the reply is stored below its question, and the next prompt at the leaf", async () => {
    const { agent, requests } = scriptedAgent([says("One."), says("Two."), says("Three.")]);
    await keepAgent(agent, session);
    await agent.prompt("First?");
    const off = agent.subscribe(async ({ type }) => void (type === "message_update" && (await moveToFirst())));
    await agent.prompt("Second?");
    off();
    expect((await session.tree.tips()).map(({ preview }) => preview)).toEqual(["Two."]);
    await agent.prompt("Third?");
    expect(texts(requests.at(-1))).toEqual(["Be brief.", "First?", "Third?"]);
  });
});

describe("another writer of the session", () => {
  const fromElsewhere = async () => void (await (await store.openSession("tabs")).append(userMessage("From elsewhere.")));

  test("does not come between a message of the agent and its request", async () => {
    const { agent, requests } = scriptedAgent([says("One.")], { prepareRequest: fromElsewhere });
    await keepAgent(agent, session);
    await agent.prompt("First?");
    expect(texts(requests[0])).toEqual(["Be brief.", "First?"]);
    expect(await shape()).toEqual(["user", "assistant"]);
    expect((await store.openSession("tabs")).leafId).toBe(session.leafId);
  });

  test("is followed by a prompt after the host has read the leaf", async () => {
    const { agent, requests } = scriptedAgent([says("One."), says("Two.")]);
    await keepAgent(agent, session);
    await agent.prompt("First?");
    await fromElsewhere();
    await session.refresh();
    await agent.prompt("Second?");
    expect(texts(requests[1])).toEqual(["Be brief.", "First?", "One.", "From elsewhere.", "Second?"]);
  });
});

describe("keepAgent", () => {
  test("refuses an agent and a session that both have messages", async () => {
    await session.append(userMessage("Stored."));
    const { agent } = scriptedAgent([says("One.")]);
    await agent.prompt("First?");
    await expect(keepAgent(agent, session)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await shape()).toEqual(["user"]);
  });

  test("refuses an agent that is kept, until it is detached", async () => {
    const { agent } = scriptedAgent([says("One.")]);
    const kept = await keepAgent(agent, session);
    await expect(keepAgent(agent, session)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    kept.detach();
    await keepAgent(agent, session);
    kept.detach();
    await agent.prompt("First?");
    expect(await shape()).toEqual(["user", "assistant"]);
  });

  test("names the version that fits for an agent that cannot prepare requests", async () => {
    const old = { state: { messages: [], systemPrompt: "" }, subscribe: () => () => undefined, prompt: async () => undefined };
    await expect(keepAgent(old, session)).rejects.toMatchObject({ code: "FRAMEWORK_VERSION" });
  });

  test("keeps an agent of pi-agent-core 0.87.1, too", async () => {
    const agent = await earlierAgent("One.");
    await keepAgent(agent, session);
    await agent.prompt("First?");
    expect(await shape()).toEqual(["user", "assistant"]);
  });
});

/** The text of each message. */
function texts(request: { readonly messages: readonly AgentMessage[] } | undefined): readonly string[] {
  return (request?.messages ?? []).map(({ content }) =>
    typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join(" "),
  );
}
