import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { copilotFormat } from "../../src/copilot/format.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { headOf } from "../file-head.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { fileOf } from "../world/sources.js";

const ID = "578043da-10f8-4804-bd38-0fa40890fdb3";

type Event = readonly [type: string, data: object, rest?: object];

/** A log of these events: each names the one before it as its parent. */
function log(...events: readonly Event[]): readonly JsonObject[] {
  return events.map(([type, data, rest], at) => ({
    type,
    data,
    id: `e${at + 1}`,
    timestamp: new Date(1_700_000_000_000 + at * 1_000).toISOString(),
    parentId: at === 0 ? null : `e${at}`,
    ...rest,
  }));
}

const start = [
  "session.start",
  { sessionId: ID, version: 1, producer: "copilot-agent", copilotVersion: "1.0.40", context: { cwd: "/home/ada/app", branch: "main" } },
] as const;
const model = (newModel: string, rest = {}) => ["session.model_change", { newModel, ...rest }] as const;
const system = (content: string) => ["system.message", { role: "system", content }] as const;
const user = (content: string, rest = {}) => ["user.message", { content, transformedContent: content, attachments: [], ...rest }] as const;
const call = (toolCallId: string, name: string, args: unknown) => ({
  toolCallId,
  name,
  arguments: args,
  type: "function",
  intentionSummary: "why",
});
const reply = (content: string, toolRequests: readonly object[] = [], rest = {}) =>
  ["assistant.message", { messageId: `m-${content}`, content, toolRequests, outputTokens: 12, ...rest }] as const;
const started = (toolCallId: string, toolName: string, rest = {}) =>
  ["tool.execution_start", { toolCallId, toolName, arguments: {}, ...rest }] as const;
const completed = (toolCallId: string, content: string, rest = {}) =>
  ["tool.execution_complete", { toolCallId, success: true, result: { content, detailedContent: content }, ...rest }] as const;
const turn = (what: "start" | "end") => [`assistant.turn_${what}`, { turnId: "0" }] as const;

function sessionsOf(events: readonly object[], name = "events.jsonl"): readonly SourceSession[] {
  return [...copilotFormat.sessions(fileOf([...events, ""], name))];
}

const entriesOf = (session: SourceSession | undefined) =>
  [...(session?.records() ?? [])].flatMap((record) => (record.kind === "entry" ? [record] : []));
const payloadsOf = (...events: readonly Event[]) => entriesOf(sessionsOf(log(...events))[0]).map(({ payload }) => payload);

describe("a reply of Copilot CLI", () => {
  test("has its calls, and its results follow by the ids of the calls", () => {
    const payloads = payloadsOf(
      start,
      model("gpt-5", { reasoningEffort: "high" }),
      system("You are Copilot."),
      user("list the files"),
      turn("start"),
      reply("Running.", [call("c1", "bash", { command: "ls" }), call("c2", "view", '{"path":"a"}'), call("c3", "edit", "{broken")], {
        reasoningText: "Look first.",
        reasoningOpaque: "sig",
      }),
      started("c1", "bash"),
      completed("c1", "a.txt"),
      ["tool.execution_complete", { toolCallId: "c2", success: false, error: { message: "no such file" } }],
      turn("end"),
      reply("There is a.txt."),
    );
    expect(payloads).toMatchSnapshot();
  });

  test("in chunks is one entry with the output tokens counted once", () => {
    const chunk = (content: string, chunkIndex: number) =>
      reply(content, [call(`c${chunkIndex}`, "bash", {})], { apiCallId: "a1", chunkIndex, chunkCount: 2, messageId: content });
    const payloads = payloadsOf(start, user("go"), chunk("One.", 0), started("c0", "bash"), chunk("Two.", 1), completed("c0", "x"));
    expect(payloads).toMatchObject([
      { message: { role: "user" } },
      { message: { content: [{ text: "One." }, { id: "c0" }, { text: "Two." }, { id: "c1" }], usage: { output: 12 } } },
      { message: { role: "toolResult", toolCallId: "c0", toolName: "bash" } },
    ]);
  });

  test("whose later chunks never came is kept as far as it came", () => {
    const half = reply("One.", [], { apiCallId: "a1", chunkIndex: 0, chunkCount: 3 });
    expect(payloadsOf(start, half, user("go on"))).toMatchObject([
      { message: { content: [{ text: "One." }] } },
      { message: { content: "go on" } },
    ]);
    expect(payloadsOf(start, half)).toMatchObject([{ message: { content: [{ text: "One." }] } }]);
  });

  test("takes the reasoning written before it; the same reasoning after it is not repeated", () => {
    const thought = ["assistant.reasoning", { reasoningId: "r1", content: "Hm." }] as const;
    const thinking = {
      message: {
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "Yes." },
        ],
      },
    };
    expect(payloadsOf(start, thought, reply("Yes."))).toMatchObject([thinking]);
    expect(payloadsOf(start, reply("Yes.", [], { reasoningText: "Hm." }), thought)).toMatchObject([thinking]);
  });
});

describe("the usage of a request", () => {
  const used = (inputTokens: number, rest = {}) =>
    [
      "session.usage_record",
      { usage: { model: "gpt-5", inputTokens, outputTokens: 9, cacheReadTokens: 60, cacheWriteTokens: 10, ...rest } },
    ] as const;
  const usage = (input: number) => ({ input, output: 9, cacheRead: 60, cacheWrite: 10 });

  test("is that of the reply after its record; the input tokens are without those of the cache", () => {
    const payloads = payloadsOf(
      start,
      user("go"),
      used(100, { apiCallId: "a1", reasoningTokens: 4, cost: 1, duration: 42 }),
      reply("Running.", [call("c1", "bash", {})], { apiCallId: "a1", outputTokens: undefined }),
      completed("c1", "ok"),
      used(200),
      reply("Done."),
    );
    expect(payloads).toMatchObject([
      { message: { role: "user" } },
      {
        message: { content: [{ text: "Running." }, {}], usage: { ...usage(30), reasoning: 4 } },
        copilot: { usage: { cost: 1, duration: 42 } },
      },
      { message: { role: "toolResult" } },
      { message: { content: [{ text: "Done." }], usage: usage(130) } },
    ]);
  });

  test("belongs to a reply in chunks and with reasoning before it, wherever its record stands among them", () => {
    const thought = ["assistant.reasoning", { reasoningId: "r1", content: "Hm." }] as const;
    const chunk = (content: string, chunkIndex: number) =>
      reply(content, [], { apiCallId: "a1", chunkIndex, chunkCount: 2, messageId: content });
    const record = used(100, { apiCallId: "a1" });
    for (const events of [
      [record, thought, chunk("One.", 0), chunk("Two.", 1)],
      [thought, record, chunk("One.", 0), chunk("Two.", 1)],
      [thought, chunk("One.", 0), record, chunk("Two.", 1)],
    ])
      expect(payloadsOf(start, ...events)).toMatchObject([
        { message: { content: [{ thinking: "Hm." }, { text: "One." }, { text: "Two." }], usage: usage(30) } },
      ]);
  });

  test("without a reply is that of an empty reply that failed, and given to no other request", () => {
    const payloads = payloadsOf(
      start,
      used(100, { apiCallId: "a1" }),
      used(200, { apiCallId: "a2" }),
      reply("Done.", [], { apiCallId: "a2" }),
      used(300, { apiCallId: "a3" }),
      reply("More.", [], { apiCallId: "a4", outputTokens: undefined }),
    );
    const failed = (input: number, apiCallId: string) => ({
      message: { role: "assistant", content: [], model: "gpt-5", usage: usage(input), stopReason: "error" },
      copilot: { usage: { apiCallId } },
    });
    expect(payloads).toMatchObject([
      failed(30, "a1"),
      { message: { usage: usage(130) } },
      { message: { content: [{ text: "More." }] } },
      failed(230, "a3"),
    ]);
    expect(payloads[2]).not.toHaveProperty("message.usage");
  });

  test("is missing where none was recorded", () => {
    expect(payloadsOf(start, reply("Done.", [], { outputTokens: undefined }))[0]).not.toHaveProperty("message.usage");
    expect(
      payloadsOf(start, ["session.usage_record", { usage: { model: "gpt-5" } }], reply("Done.", [], { outputTokens: undefined }))[0],
    ).not.toHaveProperty("message.usage");
  });
});

describe("what a person did not type", () => {
  test("is in the context but no title: skills, results of background agents, notifications", () => {
    const payloads = payloadsOf(
      start,
      user("# Skill", { source: "skill-pdf" }),
      ["system.notification", { content: "<system_notification>done</system_notification>", kind: { type: "agent_completed" } }],
      user("typed", { source: "immediate-prompt" }),
    );
    expect(payloads).toMatchObject([
      { message: { role: "custom", customType: "copilot.injected", display: false, content: "# Skill" } },
      { message: { role: "custom", customType: "copilot.notification" } },
      { message: { role: "user", content: "typed" } },
    ]);
  });

  test("a command that the user ran has its output", () => {
    const ran = ["tool.user_requested", { toolCallId: "u1", toolName: "bash", arguments: { command: "npm test" } }] as const;
    expect(payloadsOf(start, ran, completed("u1", "ok\n<exited with exit code 0>", { isUserRequested: true }))).toMatchObject([
      { type: "foreign", originalType: "tool.user_requested" },
      { message: { role: "bashExecution", command: "npm test", exitCode: 0 } },
    ]);
  });
});

describe("settings", () => {
  test("that each run writes again make no entry", () => {
    expect(payloadsOf(start, model("a"), system("s"), model("a", { previousModel: "a" }), system("s"), model("b"))).toMatchObject([
      { type: "model_change", provider: "github-copilot", modelId: "a" },
      { message: { role: "system" } },
      { type: "model_change", modelId: "b" },
    ]);
  });

  test("the level of reasoning alone changes without a change of the model", () => {
    expect(payloadsOf(start, model("a", { reasoningEffort: "low" }), model("a", { reasoningEffort: "high" })).slice(1)).toEqual([
      { type: "thinking_level_change", thinkingLevel: "low" },
      { type: "thinking_level_change", thinkingLevel: "high" },
    ]);
  });
});

const compaction = (type: "start" | "complete", data: object) => [`session.compaction_${type}`, data] as const;

/** The ids of the prompts among events. */
const prompts = (events: readonly Event[]) => events.flatMap(([type], at) => (type === "user.message" ? [`e${at + 1}`] : []));

describe("a compaction", () => {
  const summary = "<overview>x</overview><checkpoint_title>Listing files</checkpoint_title>";
  const done = compaction("complete", {
    success: true,
    summaryContent: summary,
    preCompactionTokens: 900,
    postCompactionTokens: 90,
    trigger: "manual",
    compactionTokensUsed: { inputTokens: 5, outputTokens: 6, cacheReadTokens: 2 },
  });

  test("keeps the prompts before its start and what came after it, not after its end", () => {
    const entries = entriesOf(
      sessionsOf(log(start, user("one"), compaction("start", {}), reply("two"), user("three"), done, reply("four")))[0],
    );
    expect(entries.find(({ payload }) => JSON.stringify(payload).includes("Listing files"))?.payload).toMatchObject({
      type: "compaction",
      summary,
      title: "Listing files",
      firstKeptEntryId: "e2",
      keptEntryIds: ["e2", null, "e4", "e5"],
      tokensBefore: 900,
      tokensAfter: 90,
      trigger: "manual",
      usage: { input: 3, output: 6, cacheRead: 2 },
    });
  });

  test("keeps the reply whose results came after its start", () => {
    const entries = entriesOf(
      sessionsOf(log(start, user("one"), reply("two", [call("c1", "bash", {})]), compaction("start", {}), completed("c1", "x"), done))[0],
    );
    expect(entries.at(-1)?.payload).toMatchObject({ type: "compaction", keptEntryIds: ["e2", null, "e3", "e5"] });
  });

  test("keeps the prompts of earlier ones; of many the first four and the last sixteen, of long ones those that fit", () => {
    const again = [compaction("start", {}), reply("two"), done];
    const keptBy = (...prompts: readonly string[]) => {
      const events = [start, ...prompts.map((text) => user(text)), ...again, reply("three"), ...again];
      const kept = payloadsOf(...events).flatMap((payload) => {
        const { type, keptEntryIds } = JSON.parse(JSON.stringify(payload));
        return type === "compaction" ? [keptEntryIds.slice(0, keptEntryIds.indexOf(null))] : [];
      });
      expect(kept[1]).toEqual(kept[0]);
      return kept[0];
    };
    expect(keptBy("one", "two")).toEqual(["e2", "e3"]);
    const numbers = Array.from({ length: 25 }, (_, at) => at + 2);
    expect(keptBy(...numbers.map(String))).toEqual([...numbers.slice(0, 4), ...numbers.slice(-16)].map((number) => `e${number}`));
    expect(keptBy("first", "x".repeat(20_000), "y".repeat(12_000), "z".repeat(4000))).toEqual(["e2", "e4", "e5"]);
  });

  test("that failed is a foreign entry; with the tokens of its request an empty reply, which totals count", () => {
    const failed = { success: false, error: "Compaction cancelled" };
    expect(payloadsOf(start, compaction("start", {}), compaction("complete", failed))).toMatchObject([
      { type: "foreign" },
      { type: "foreign", raw: { data: failed } },
    ]);
    const compactionTokensUsed = { model: "gpt-5", inputTokens: 1016, outputTokens: 23, cacheReadTokens: 52, cacheWriteTokens: 0 };
    expect(payloadsOf(start, compaction("start", {}), compaction("complete", { ...failed, compactionTokensUsed })).at(-1)).toMatchObject({
      message: {
        role: "assistant",
        content: [],
        model: "gpt-5",
        usage: { input: 964, output: 23, cacheRead: 52 },
        stopReason: "error",
        errorMessage: "The compaction failed: Compaction cancelled",
      },
      copilot: { ...failed, compactionTokensUsed },
    });
  });

  test("without a message after its start, or without a start, keeps the prompts", () => {
    for (const events of [[compaction("start", {}), done], [done]])
      expect(payloadsOf(start, user("one"), ...events).at(-1)).toMatchObject({ firstKeptEntryId: "e2", keptEntryIds: ["e2", null] });
    expect(payloadsOf(start, reply("one"), done).at(-1)).toMatchObject({ firstKeptEntryId: null });
  });

  test("two at once are told apart by their attempts", () => {
    const [a, b] = ["a", "b"].map((compactionAttemptId) => ({ compactionAttemptId }));
    const entries = entriesOf(
      sessionsOf(
        log(
          start,
          compaction("start", a ?? {}),
          user("one"),
          compaction("start", b ?? {}),
          user("two"),
          compaction("complete", { ...done[1], ...a }),
          compaction("complete", { ...done[1], ...b }),
        ),
      )[0],
    );
    expect(entries.slice(-2).map(({ payload }) => payload)).toMatchObject([
      { firstKeptEntryId: "e3" },
      { keptEntryIds: ["e3", null, "e5"] },
    ]);
  });

  test("that a crash cut off has no part in the next one, with or without attempts", () => {
    const resumed = ["session.resume", { resumeTime: "2026-01-01T00:00:00.000Z", eventCount: 3 }] as const;
    const id = { compactionAttemptId: "b" };
    for (const begun of [[], [resumed]])
      for (const [more, next] of [
        [{}, {}],
        [{}, id],
        [{ compactionAttemptId: "a" }, {}],
      ]) {
        const before = [start, user("one"), compaction("start", more ?? {}), reply("two"), ...begun, user("three"), reply("four")];
        const payloads = payloadsOf(
          ...before,
          compaction("start", next ?? {}),
          reply("five"),
          compaction("complete", { ...done[1], ...next }),
        );
        const [five] = entriesOf(sessionsOf(log(...before, compaction("start", {}), reply("five")))[0]).slice(-1);
        expect(payloads.at(-1)).toMatchObject({ type: "compaction", keptEntryIds: [...prompts(before), null, five?.id] });
      }
    const [position] = sessionsOf(log(start, compaction("start", {}), reply("two"), resumed)).map(({ position: at, records }) => {
      for (const _ of records());
      return at?.();
    });
    expect(position?.state).toMatchObject({ compactions: [] });
  });

  test("without its text has that of the checkpoint's file", () => {
    const folder = join(tempFolder(), ID);
    mkdirSync(join(folder, "checkpoints"), { recursive: true });
    writeFileSync(join(folder, "checkpoints", "001-files.md"), "what was done\n");
    const path = fileOf(
      log(start, compaction("complete", { success: true, checkpointPath: "C:\\x\\checkpoints\\001-files.md" })),
      "events.jsonl",
      folder,
    );
    expect(entriesOf([...copilotFormat.sessions(path)][0])[0]?.payload).toMatchObject({ type: "compaction", summary: "what was done" });
  });

  test("/clear starts anew beside the old conversation", () => {
    const entries = entriesOf(sessionsOf(log(start, user("one"), ["session.context_cleared", { messagesCleared: 1 }], user("two")))[0]);
    expect(entries.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["e2", null],
      ["e3", null],
      ["e4", "e3"],
    ]);
  });

  test("/clear leaves the system message behind: one that is written again counts", () => {
    const cleared = ["session.context_cleared", { messagesCleared: 1 }] as const;
    const payloads = payloadsOf(start, system("Be brief."), user("one"), system("Be brief."), cleared, system("Be brief."), user("two"));
    expect(payloads.map((payload) => JSON.stringify(payload).includes("Be brief."))).toEqual([true, false, false, true, false]);
  });
});

const AGENTS = log(
  start,
  user("look around"),
  reply("Asking.", [call("c1", "task", { agent_type: "explore", description: "Look around", prompt: "What is here?" })]),
  started("c1", "task"),
  ["subagent.started", { toolCallId: "c1", agentName: "explore", agentDisplayName: "Explore Agent" }, { agentId: "c1" }],
  reply("Running.", [call("c2", "bash", {}), call("c3", "task", { prompt: "Deeper." })], { parentToolCallId: "c1" }),
  started("c2", "bash", { parentToolCallId: "c1" }),
  completed("c2", "a.txt", { parentToolCallId: "c1" }),
  ["assistant.message", { messageId: "d", content: "Deep." }, { agentId: "c3" }],
  completed("c1", "There is a.txt."),
  reply("Done."),
);

describe("agents", () => {
  test("are sessions of their own, linked to the call; their prompt is that of the call", () => {
    const sessions = sessionsOf(AGENTS);
    expect(sessions.map(({ header: { sessionId, kind, title, parent } }) => ({ sessionId, kind, title, parent }))).toEqual([
      { sessionId: ID, kind: "conversation", title: undefined, parent: undefined },
      { sessionId: `${ID}.c1`, kind: "subagent", title: "Look around", parent: { sessionId: ID, entryId: "e3", toolCallId: "c1" } },
      { sessionId: `${ID}.c3`, kind: "subagent", title: undefined, parent: { sessionId: `${ID}.c1`, entryId: "e6", toolCallId: "c3" } },
    ]);
    expect(entriesOf(sessions[1]).map(({ payload }) => payload)).toMatchObject([
      { message: { role: "user", content: "What is here?" } },
      { message: { role: "assistant" } },
      { message: { role: "toolResult", toolName: "bash" } },
    ]);
    expect(entriesOf(sessions[0]).map(({ id }) => id)).toEqual(["e2", "e3", "e5", "e10", "e11"]);
  });

  test("of newer versions have an id that is not that of their call, and their prompt is among their events", () => {
    const own = (type: string, data: object) => [type, data, { agentId: "a-1" }] as const;
    const events = log(
      start,
      user("look around"),
      reply("Asking.", [call("c1", "task", { description: "Look around", prompt: "What is here?" })]),
      own("subagent.started", { toolCallId: "c1", agentName: "explore", agentDisplayName: "look-around" }),
      own("session.model_change", { newModel: "gpt-5", source: "agent" }),
      own("user.message", { content: "What is here?", source: `agent-${ID}`, parentToolCallId: "c1" }),
      own("session.usage_record", { usage: { inputTokens: 5, outputTokens: 2, apiCallId: "a1" } }),
      own("assistant.message", { content: "A file.", apiCallId: "a1", parentToolCallId: "c1" }),
      completed("c1", "A file."),
    );
    const [conversation, agent, ...others] = sessionsOf(events);
    expect(others).toEqual([]);
    expect(agent?.header).toMatchObject({
      sessionId: `${ID}.a-1`,
      title: "Look around",
      parent: { sessionId: ID, entryId: "e3", toolCallId: "c1" },
      metadata: { agent: { agentName: "explore" } },
    });
    expect(entriesOf(agent).map(({ payload }) => payload)).toMatchObject([
      { type: "model_change" },
      { message: { role: "user", content: "What is here?" } },
      { message: { role: "assistant", usage: { input: 5, output: 2 } } },
    ]);
    expect(entriesOf(conversation).map(({ id }) => id)).toEqual(["e2", "e3", "e4", "e9"]);
  });

  test("are the same, whether the conversation was read before or not, or read on", () => {
    const path = fileOf([...AGENTS, ""], "events.jsonl");
    const unread = [...copilotFormat.sessions(path)].slice(1);
    const read: SourceSession[] = [];
    for (const session of copilotFormat.sessions(path)) {
      read.push(session);
      expect([...session.records()].length).toBeGreaterThan(0);
      const position = session.position?.();
      if (position !== undefined) expect([...session.records(position)]).toEqual([]);
    }
    expect(read.slice(1).map((session) => [session.header, [...session.records()]])).toEqual(
      unread.map((session) => [session.header, [...session.records()]]),
    );
  });
});

describe("a file of events", () => {
  test("is told by the envelope of its events", () => {
    expect(copilotFormat.detects(headOf([{ no: "event" }, ...log(user("hi"))]))).toBe(true);
    expect(
      copilotFormat.detects(
        headOf([
          { type: "message", data: {}, timestamp: 1, parentId: null },
          { type: "user.message", data: {} },
        ]),
      ),
    ).toBe(false);
  });

  test("has the name of the workspace, and the id of its folder, which a fork has of its own", () => {
    const folder = join(tempFolder(), "11111111-2222-4333-8444-555555555555");
    mkdirSync(folder);
    writeFileSync(join(folder, "workspace.yaml"), 'id: x\nname: "Fix: the \\"bug\\""\nuser_named: true\nsummary: |-\n  one\n  two\n');
    const [session] = copilotFormat.sessions(fileOf([...log(start), ""], "events.jsonl", folder));
    expect(session?.header).toMatchObject({
      sessionId: "11111111-2222-4333-8444-555555555555",
      cwd: "/home/ada/app",
      title: 'Fix: the "bug"',
      metadata: { recordedSessionId: ID, branch: "main", copilotVersion: "1.0.40" },
    });
    expect([...(session?.records() ?? [])]).toContainEqual({ kind: "title", title: 'Fix: the "bug"', source: "user" });
  });

  test("is found by a sync, also in its older places; a session's other files are not looked at", async () => {
    const home = tempFolder();
    const put = (...names: readonly string[]) => {
      const folder = join(home, ...names.slice(0, -1));
      mkdirSync(folder, { recursive: true });
      return fileOf([...log(start, user(names.join())), ""], names.at(-1), folder);
    };
    put("session-state", ID, "events.jsonl");
    put("session-state", ID, "files", "events.jsonl");
    put("session-state", "11111111-2222-4333-8444-555555555555.jsonl");
    const environment = { env: { COPILOT_HOME: home }, home: "/home/ada", platform: "linux" } as const;
    const { agents } = await syncSessions(await openedStore(), { environment });
    expect(agents.map(({ agent, files, sessions }) => [agent, files, sessions.map(({ sessionId }) => sessionId)])).toEqual([
      ["Copilot CLI", 2, ["11111111-2222-4333-8444-555555555555", ID]],
    ]);
  });

  test("in the older place has the id of its name", () => {
    expect(sessionsOf(log(start), "11111111-2222-4333-8444-555555555555.jsonl")[0]?.header.sessionId).toBe(
      "11111111-2222-4333-8444-555555555555",
    );
  });

  test("that has grown is read on from where it ended, at any line, with the same records", () => {
    const path = fileOf([...EVERYTHING, ""], "whole.jsonl");
    fc.assert(
      fc.property(fc.nat(EVERYTHING.length), fc.boolean(), (cut, isTorn) => {
        const part = fileOf([...EVERYTHING.slice(0, cut), isTorn ? '{"type":"user.mess' : ""], "part.jsonl");
        const [session] = [...copilotFormat.sessions(part)];
        const first = [...(session?.records() ?? [])];
        const position = session?.position?.();
        const [grown] = [...copilotFormat.sessions(path)];
        const rest = [...(grown?.records(position) ?? [])];
        // A reply in chunks is read again from its first chunk.
        const before = first.filter((record) => record.kind !== "open" && lineOf(record) <= (position?.line ?? 0));
        expect([...before, ...rest]).toEqual([...([...copilotFormat.sessions(path)][0]?.records() ?? [])]);
        expect(grown?.position?.()?.offset).toBe(readFileSync(path).length);
      }),
    );
  });

  test("of any mutation every line is an entry, part of one or reported", async () => {
    await nothingIsLost(
      [EVERYTHING, AGENTS].map((events) => ({
        name: "events.jsonl",
        content: Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join("")),
      })),
    );
  });
});

/** A log with everything that a log can have. */
const EVERYTHING = log(
  start,
  model("gpt-5", { reasoningEffort: "high" }),
  system("You are Copilot."),
  user("list the files", {
    attachments: [
      { type: "file", path: "a" },
      { type: "blob", data: "AAAA", mimeType: "image/png" },
    ],
  }),
  turn("start"),
  ["assistant.reasoning", { reasoningId: "r1", content: "Hm." }],
  reply("One.", [call("c1", "bash", { command: "ls" })], { apiCallId: "a1", chunkIndex: 0, chunkCount: 2 }),
  started("c1", "bash"),
  reply("Two.", [call("c2", "view", "{}")], { apiCallId: "a1", chunkIndex: 1, chunkCount: 2 }),
  compaction("start", { compactionAttemptId: "k" }),
  ["hook.start", { hookType: "postToolUse", input: {} }],
  ["hook.end", { hookType: "postToolUse", success: true }],
  completed("c1", "a.txt"),
  completed("c2", "x", { result: { content: "x", contents: [{ type: "image", data: "AAAA", mimeType: "image/png" }] } }),
  turn("end"),
  compaction("complete", { compactionAttemptId: "k", success: true, summaryContent: "sum" }),
  ["session.shutdown", { shutdownType: "routine" }],
  ["session.resume", { resumeTime: "x", eventCount: 3 }],
  ...[model("gpt-5"), system("You are Copilot."), user("again"), reply("Yes."), ["abort", { reason: "user" }] as const],
  ["tool.user_requested", { toolCallId: "u1", toolName: "bash", arguments: { command: "ls" } }],
  completed("u1", "a"),
  ["session.context_cleared", { messagesCleared: 3 }],
  user("anew", { source: "agent-x" }),
  ["system.notification", { content: "done", kind: {} }],
);

function lineOf(record: SourceRecord): number {
  if (record.kind === "problem") return record.problem.line ?? 0;
  return record.kind === "entry" || record.kind === "merged" ? record.line : 0;
}
