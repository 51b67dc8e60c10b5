import { rmSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { importPath } from "../../../src/transfer/import-path.js";
import * as codex from "../../codex/rollout.js";
import { ask, CHAT, call as cursorCall, reply as cursorReply, result as cursorResult, say, writeChat } from "../../cursor/chat-files.js";
import { answer, composer, editorFile, prompt } from "../../cursor/editor-files.js";
import * as gemini from "../../gemini/gemini-log.js";
import * as grok from "../../grok/grok-file.js";
import * as kimi from "../../kimi/kimi-file.js";
import * as opencode from "../../opencode/fixture.js";
import * as qwen from "../../qwen/qwen-file.js";
import { grown, lineCuts, WatchedHome, watchedEqualsImported } from "../../world/watched.js";
import { jsonl, LOGS, WRITTEN_BY } from "../../world/watched-logs.js";

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

describe("a watched store is equal to one into which the complete files are imported", () => {
  test.each(WRITTEN_BY)("the log of %s, with a sync after each line and in the middle of each", async (program) => {
    const [path, lines] = LOGS[program];
    const content = jsonl(lines);
    await watchedEqualsImported([grown(path, content, lineCuts(content))]);
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
