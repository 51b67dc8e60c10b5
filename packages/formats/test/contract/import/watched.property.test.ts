import { rmSync } from "node:fs";
import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ON_SERVER } from "../../../../../.ci/test-engine.js";
import { runs } from "../../../../../.ci/test-runs.js";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { importPath } from "../../../src/transfer/import-path.js";
import * as antigravity from "../../antigravity/antigravity-file.js";
import * as claude from "../../claude/claude-file.js";
import * as codex from "../../codex/rollout.js";
import { ask, CHAT, call as cursorCall, reply as cursorReply, result as cursorResult, say, writeChat } from "../../cursor/chat-files.js";
import { answer, composer, editorFile, prompt } from "../../cursor/editor-files.js";
import * as droid from "../../droid/droid-file.js";
import * as gemini from "../../gemini/gemini-log.js";
import * as grok from "../../grok/grok-file.js";
import * as kimi from "../../kimi/kimi-file.js";
import * as opencode from "../../opencode/fixture.js";
import * as pi from "../../pi/pi-files.js";
import * as qwen from "../../qwen/qwen-file.js";
import { anyCuts, grown, lineCuts, WatchedHome, watchedEqualsImported } from "../../world/watched.js";

const jsonl = (lines: readonly unknown[]) => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

/** What a program writes at the end of a line, one after the other, and the rewritings of Gemini CLI among them. */
const LOGS = {
  "Claude Code": [
    `.claude/projects/-work/${claude.SESSION}.jsonl`,
    [
      claude.side("queue-operation", { operation: "enqueue" }),
      claude.user("u1", null, "Fix it"),
      claude.reply("a1", "u1", "m1", [{ type: "thinking", thinking: "Hm.", signature: "s" }]),
      claude.reply("a2", "a1", "m1", [claude.text("I look.")]),
      claude.reply("a3", "a2", "m1", [claude.call("c1")]),
      claude.result("r1", "a3", "c1"),
      claude.reply("a4", "a3", "m1", [claude.call("c2")], { stop_reason: "tool_use", usage: { input_tokens: 10, output_tokens: 9 } }),
      claude.progress("p1", "a4"),
      claude.result("r2", "a4", "c2"),
      claude.reply("b1", "r2", "m2", [{ type: "thinking", thinking: "So.", signature: "s" }], { stop_reason: "end_turn" }),
      claude.reply("b2", "b1", "m2", [claude.text("Done.")], { stop_reason: "end_turn" }),
      claude.system("n1", "b2", "turn_duration", { durationMs: 5 }),
      claude.side("ai-title", { aiTitle: "A fix" }),
      claude.boundary("k1", "n1"),
      claude.summary("k2", "k1"),
      claude.user("u2", "k2", "More"),
      claude.reply("d1", "u2", "m3", [claude.text("Yes.")]),
    ],
  ],
  "Claude Code without parents": [
    `.claude/projects/-work/${claude.SESSION}.jsonl`,
    [
      claude.user("u1", null, "Fix it"),
      claude.reply("a1", null, "m1", [claude.text("I look.")]),
      claude.reply("a2", null, "m1", [claude.call("c1")]),
      claude.result("r1", null, "c1"),
      claude.reply("b1", null, "m2", [claude.text("Done.")], { stop_reason: "end_turn" }),
      claude.user("u2", null, "More"),
      claude.reply("d1", null, "m3", [claude.text("Yes.")]),
    ],
  ],
  Codex: [`.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${codex.THREAD}.jsonl`, codex.EVERYTHING],
  "Gemini CLI": [
    ".gemini/tmp/p/chats/session-2026-04-01T10-00-11111111.jsonl",
    [
      gemini.header(),
      { $set: { messages: [gemini.user("s", [{ text: "<session_context>x" }])] } },
      gemini.user("u", "go"),
      gemini.gemini("g", "Reading."),
      gemini.gemini("g", "Reading.", { tokens: { input: 9 } }),
      { $set: { lastUpdated: "2026-04-01T10:00:00.000Z" } },
      gemini.gemini("g", "Reading.", { tokens: { input: 9 }, toolCalls: [gemini.call("a", "A")] }),
      gemini.user("r", [gemini.response("a", "A")]),
      gemini.gemini("h", ""),
      gemini.gemini("h", "Done.", { tokens: { input: 5 } }),
      gemini.header(),
      { $set: { messages: [gemini.user("s", [{ text: "<session_context>x" }])] } },
      {
        $set: {
          messages: [
            gemini.user("s", [{ text: "<session_context>x" }]),
            gemini.user("u", [{ text: "go" }]),
            gemini.gemini("g", [{ text: "Reading." }]),
            gemini.user("g_response", [gemini.response("a", "A")]),
            gemini.gemini("h", [{ text: "Done." }]),
          ],
        },
      },
      gemini.user("v", "more"),
      { $rewindTo: "v" },
      gemini.user("w", "other"),
      gemini.gemini("k", "Yes."),
    ],
  ],
  "Copilot CLI": [
    ".copilot/session-state/578043da-10f8-4804-bd38-0fa40890fdb3/events.jsonl",
    [
      ["session.start", { sessionId: "578043da-10f8-4804-bd38-0fa40890fdb3", version: 1, context: { cwd: "/home/ada/app" } }],
      ["user.message", { content: "go", attachments: [] }],
      ["assistant.turn_start", { turnId: "0" }],
      ["assistant.reasoning", { content: "Hm." }],
      ["assistant.message", { messageId: "m1", content: "I ", toolRequests: [], chunkIndex: 0, chunkCount: 2 }],
      [
        "assistant.message",
        {
          messageId: "m1",
          content: "look.",
          toolRequests: [{ toolCallId: "c", name: "view", arguments: {} }],
          chunkIndex: 1,
          chunkCount: 2,
        },
      ],
      ["tool.execution_start", { toolCallId: "c", toolName: "view", arguments: {} }],
      ["tool.execution_complete", { toolCallId: "c", success: true, result: { content: "x" } }],
      ["assistant.reasoning", { content: "So." }],
      ["assistant.message", { messageId: "m2", content: "Done.", toolRequests: [] }],
      ["user.message", { content: "more", attachments: [] }],
      ["session.usage_record", { usage: { model: "gpt-5", inputTokens: 100, outputTokens: 9, apiCallId: "a3" } }],
      ["assistant.message", { messageId: "m3", content: "Yes.", toolRequests: [], apiCallId: "a3" }],
    ].map(([type, data], at) => ({
      ...{ type, data, id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}` },
      timestamp: new Date(1_700_000_000_000 + at * 1_000).toISOString(),
    })),
  ],
  pi: [
    ".pi/agent/sessions/p/s1.jsonl",
    [
      pi.HEADER,
      pi.user("u1", null),
      pi.at("a1", "u1", { type: "message", message: { role: "assistant", content: [{ type: "text", text: "a1" }], usage: { input: 3 } } }),
      { type: "label", id: "l1", parentId: "a1", timestamp: "2026-01-02T03:04:05.006Z", targetId: "u1", label: "here" },
      pi.user("u2", "a1"),
      pi.user("u3", "a1"),
      { type: "session_info", id: "i1", parentId: "u3", timestamp: "2026-01-02T03:04:05.006Z", name: "A name" },
    ],
  ],
  "Qwen Code": [qwen.PATH, qwen.EVERYTHING],
  "Kimi Code": [kimi.pathOf("main"), kimi.EVERYTHING],
  Antigravity: [antigravity.PATH, antigravity.EVERYTHING],
  "Grok Build": [grok.PATH, grok.EVERYTHING],
  Droid: [droid.PATH, droid.EVERYTHING],
  "co-cli": [
    ".co-cli/sessions/2026-04-01-T100000Z-1a2b3c4d.jsonl",
    ["one", "two", "three"].map((content) => [
      { kind: "request", parts: [{ content, timestamp: "2026-04-01T10:00:05Z", part_kind: "user-prompt" }] },
      { kind: "response", parts: [{ content: `${content}!`, part_kind: "text" }], timestamp: "2026-04-01T10:00:05Z", model_name: "q" },
    ]),
  ],
  "VS Code": [
    ".config/Code/User/workspaceStorage/w/chatSessions/11111111-2222-4333-8444-555555555555.jsonl",
    [
      { kind: 0, v: { version: 3, sessionId: "11111111-2222-4333-8444-555555555555", creationDate: 1_690_000_000_000, requests: [] } },
      {
        kind: 2,
        k: ["requests"],
        v: [{ requestId: "a", timestamp: 1_700_000_000_000, message: { text: "do a" }, response: [], modelId: "m" }],
      },
      { kind: 2, k: ["requests", 0, "response"], v: [{ value: "one " }] },
      { kind: 2, k: ["requests", 0, "response"], v: [{ value: "two" }] },
      { kind: 1, k: ["requests", 0, "result"], v: {} },
      { kind: 2, k: ["requests"], v: [{ requestId: "b", timestamp: 1_700_000_001_000, message: { text: "do b" }, response: [] }] },
      { kind: 2, k: ["requests", 1, "response"], v: [{ value: "three" }] },
    ],
  ],
} satisfies Readonly<Record<string, readonly [path: string, lines: readonly unknown[]]>>;

/** What opencode's transactions leave, one after the other: a reply without parts, with a text that grows, a call that runs. */
function opencodeStates() {
  const { user, reply, text, tool, ran } = opencode;
  const open = { finish: undefined, tokens: undefined, cost: undefined };
  const writing = (at: number) => ({ ...open, time: { created: opencode.START + at } });
  const call = (state: object) => tool("c1", "bash", state);
  const go = user("msg_1", 0, [text("go")]);
  const begun = [go, reply("msg_2", 10, [], writing(10))];
  const calling = (state: object, more: object) => [go, reply("msg_2", 10, [{ type: "step-start" }, text("I look."), call(state)], more)];
  const { state: done } = ran("c1", "bash", { command: "ls" }, "a.ts", 30);
  const called = [...calling(done, { finish: "tool-calls" })];
  const compact = user("msg_4", 90, [{ type: "compaction", auto: true }]);
  const answered = [...called, reply("msg_3", 50, [text("Done.")])];
  return [
    [user("msg_1", 0, [])],
    [go],
    begun,
    [go, reply("msg_2", 10, [{ type: "step-start" }, text("I")], writing(10))],
    calling({ status: "pending", input: {}, raw: "" }, writing(10)),
    calling({ status: "running", input: { command: "ls" }, time: { start: opencode.START } }, writing(10)),
    calling(done, writing(10)),
    called,
    [...called, reply("msg_3", 50, [text("Do")], writing(50))],
    answered,
    [...answered, compact],
    [...answered, compact, reply("msg_5", 95, [text("su")], { ...writing(95), parentID: "msg_4", summary: true })],
    [...answered, compact, reply("msg_5", 95, [text("sum")], { parentID: "msg_4", summary: true })],
  ].map((messages) => [{ info: opencode.sessionInfo("ses_1"), messages }]);
}

/** Writes a database anew. Until the last state, its records are of a later time than now. */
function replaced(write: (path: string) => void, isLast: boolean, times: readonly string[]): (path: string) => void {
  return (path) => {
    rmSync(path, { force: true });
    write(path);
    if (isLast) return;
    const database = new Database(path);
    for (const sql of times) database.prepare(sql).run(Date.now() + 1_800_000);
    database.close();
  };
}

/** A state of a chat of Cursor's command line: the messages so far are the newest state, and Cursor keeps the older ones. */
function chatStates() {
  const called = cursorReply({ type: "text", text: "I look." }, cursorCall("c1", { command: "ls" }));
  const talk = [ask("go"), cursorReply({ type: "text", text: "I" }), called, cursorResult("c1", "a.ts"), say("Done.")];
  const shown = [[0], [0, 1], [0, 2], [0, 2, 3], [0, 2, 3, 4]];
  return shown.map((_, at) => (path: string) => {
    rmSync(path, { force: true });
    const writes = shown.slice(0, at + 1).map((state, step) => ({ messages: talk.slice(step, step + 1), state }));
    writeChat(path, writes, { agentId: CHAT, createdAt: 1_775_522_590_321 });
  });
}

function editorStates() {
  const bubbles = { p1: prompt("go"), a1: answer("I"), a2: answer("I look.") };
  const generating = { status: "generating", generatingBubbleIds: ["a1"], lastUpdatedAt: Date.now() + 1_800_000 };
  const states = [
    composer("c", ["p1"], { p1: bubbles.p1 }, generating),
    composer("c", ["p1", "a1"], { p1: bubbles.p1, a1: bubbles.a1 }, generating),
    composer("c", ["p1", "a1"], { p1: bubbles.p1, a1: bubbles.a2 }, generating),
    composer("c", ["p1", "a1"], { p1: bubbles.p1, a1: bubbles.a2 }),
  ];
  return states.map((state) => (path: string) => {
    rmSync(path, { force: true });
    editorFile(state, {}, path);
  });
}

/**
 * How a log is read is the same on every engine, and an engine knows the kinds of records only. On a server four logs have all of these: entries of
 * several lines and written again, rewinds, labels, titles, compactions, ends that are held.
 */
const WRITTEN_BY = ON_SERVER ? (["Claude Code", "Codex", "Gemini CLI", "pi"] as const) : (Object.keys(LOGS) as (keyof typeof LOGS)[]);

describe("a watched store is equal to one into which the complete files are imported", () => {
  test.each(WRITTEN_BY)("the log of %s, with a sync after each line and in the middle of each", async (program) => {
    const [path, lines] = LOGS[program];
    const content = jsonl(lines);
    await watchedEqualsImported([grown(path, content, lineCuts(content))]);
  });

  test.each(WRITTEN_BY)("the log of %s, with syncs at any moments", async (program) => {
    const [path, lines] = LOGS[program];
    const content = jsonl(lines);
    await fc.assert(
      fc.asyncProperty(anyCuts(content), async (cuts) => watchedEqualsImported([grown(path, content, cuts)])),
      { numRuns: runs(8) },
    );
  });

  test("a log that ends with a rewind, which adds no entry", async () => {
    const rewinds = [
      [LOGS["Gemini CLI"], [gemini.user("z", "no"), { $rewindTo: "z" }]],
      [LOGS.Codex, [codex.message("user", "no"), codex.rollback(1)]],
      [LOGS["Kimi Code"], [kimi.said("msg_9", "no"), kimi.record("context.undo", { count: 1 })]],
      [LOGS["Grok Build"], [grok.ended(1), grok.prompt(3, "no"), grok.update("rewind_marker", { target_prompt_index: 3 })]],
      [LOGS["Qwen Code"], [qwen.user("z", "c9", "no"), qwen.system("w9", "c9", "rewind")]],
    ] as const;
    for (const [[path, lines], end] of rewinds) {
      const content = jsonl([...lines, ...end]);
      await watchedEqualsImported([grown(path, content, lineCuts(content).slice(-4))]);
    }
  });

  test("the database of opencode, with a sync after each transaction", async () => {
    const all = opencodeStates();
    const times = ["message", "part"].map((table) => `UPDATE ${table} SET time_updated = ?`);
    const states = all.map((sessions, at) => replaced((path) => opencode.writeDatabase(path, sessions), at === all.length - 1, times));
    await watchedEqualsImported([{ path: ".local/share/opencode/opencode.db", states }]);
  });

  test("the database of a chat of Cursor, with a sync after each state", async () => {
    const path = `.cursor/chats/0123456789abcdef0123456789abcdef/${CHAT}/store.db`;
    await watchedEqualsImported([{ path, states: chatStates() }]);
  });

  test("the database of Cursor's editor, with a sync after each state", async () => {
    await watchedEqualsImported([{ path: ".config/Cursor/User/globalStorage/state.vscdb", states: editorStates() }]);
  });
});

describe("what a program has not finished", () => {
  const content = jsonl(LOGS.Codex[1].slice(0, 11));
  const [path] = LOGS.Codex;

  test("is no entry, until it is left for a while: then a sync takes it as it is", async () => {
    const home = new WatchedHome(await openedStore());
    await home.write(path, content);
    const session = await home.store.openSession(codex.THREAD);
    const roles = async () => (await session.path()).map((entry) => (entry.type === "message" ? entry.message.role : entry.type));
    await session.refresh();
    expect((await roles()).at(-1)).toBe("user");
    home.leave(path);
    await home.sync();
    await session.refresh();
    expect((await roles()).at(-1)).toBe("assistant");
  });

  test("is told with the time from which on it counts as complete, and the file is read again though it did not change", async () => {
    const home = new WatchedHome(await openedStore());
    await home.write(path, content);
    const [agent] = (await home.sync()).agents;
    expect(agent).toMatchObject({ changedFiles: 1, sessions: [{ entriesAdded: 0, outcome: "unchanged" }] });
    const untilMs = agent?.sessions[0]?.heldUntilMs ?? 0;
    expect(untilMs).toBeGreaterThan(Date.now());
    // Other processes read it from the store.
    const held = (nowMs: number) => home.store.sources.heldSessions(nowMs);
    expect(await held(untilMs - 1)).toEqual([{ sessionId: codex.THREAD, untilMs }]);
    expect(await held(untilMs)).toEqual([]);
    home.leave(path);
    expect((await home.sync()).agents[0]?.sessions).toMatchObject([{ entriesAdded: 1, heldUntilMs: null }]);
    expect((await home.sync()).agents[0]).toMatchObject({ changedFiles: 0 });
    expect(await held(untilMs - 1)).toEqual([]);
  });

  test("is imported from a file that is in no folder of an agent, and left out of one that is", async () => {
    const home = new WatchedHome(await openedStore());
    await home.write(path, content);
    const environment = { env: {}, home: home.folder, platform: "linux" } as const;
    const inFolder = await importPath(await openedStore(), home.folder, { environment });
    const elsewhere = await importPath(await openedStore(), home.folder);
    const [held, whole] = [inFolder, elsewhere].map(({ sessions }) => sessions[0]);
    expect([held?.heldUntilMs, whole?.heldUntilMs]).toEqual([expect.any(Number), null]);
    expect((whole?.entriesAdded ?? 0) - (held?.entriesAdded ?? 0)).toBe(1);
  });

  test("of a file whose time is far in the future is complete", async () => {
    const home = new WatchedHome(await openedStore());
    await home.write(path, content);
    home.leave(path, 86_400);
    expect((await home.sync()).agents[0]?.sessions).toMatchObject([{ heldUntilMs: null }]);
  });
});
