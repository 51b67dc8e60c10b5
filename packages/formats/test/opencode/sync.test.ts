import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@bough/session-core";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { ran, reply, START, sessionInfo, text, tool, user, writeDatabase, writeFiles } from "./fixture.js";

async function sync(store: Store, home: string) {
  const environment = { env: {}, home, platform: "linux" as const };
  const { agents } = await syncSessions(store, { agents: ["opencode"], environment });
  return agents.map(({ files, changedFiles, newFiles, sessions }) => ({
    ...{ files, newFiles, changedFiles },
    sessions: sessions.map(({ sessionId, entriesAdded }) => `${sessionId} +${entriesAdded}`),
  }));
}

function dataFolder(home: string): string {
  const data = join(home, ".local", "share", "opencode");
  mkdirSync(data, { recursive: true });
  return data;
}

test("a sync finds the databases and the session files, lists no folder of messages, and skips what is unchanged", async () => {
  const home = tempFolder();
  const data = dataFolder(home);
  const [old = ""] = writeFiles(data, [{ info: sessionInfo("ses_old"), messages: [user("msg_0", 0, [text("old")])] }]);
  for (const path of [old, join(data, "storage", "message", "ses_old")]) utimesSync(path, 1_700_000_000, 1_700_000_000);
  writeDatabase(join(data, "opencode.db"), [{ info: sessionInfo("ses_1"), messages: [user("msg_1", 0, [text("new")])] }]);
  writeDatabase(join(data, "opencode-dev.db"), [{ info: sessionInfo("ses_2"), messages: [user("msg_2", 0, [text("dev")])] }]);
  const store = await openedStore();
  const [first] = await sync(store, home);
  expect(first).toEqual({ files: 3, newFiles: 3, changedFiles: 0, sessions: ["ses_2 +1", "ses_1 +1", "ses_old +1"] });
  expect((await sync(store, home))[0]?.sessions).toEqual([]);
});

test("a session that gets its agent and model with the first prompt is the same however early it was seen", async () => {
  const home = tempFolder();
  const prompt = user("msg_1", 0, [text("one")]);
  const records = [];
  for (const seen of [{}, { agent: "build", model: { id: "m", providerID: "p" } }]) {
    const store = await openedStore();
    writeFiles(dataFolder(home), [{ info: sessionInfo("ses_1", seen), messages: [prompt] }]);
    await sync(store, home);
    records.push((await (await store.openSession("ses_1")).record()).metadata);
  }
  expect(records[0]).toEqual(records[1]);
});

test("a message that is added to a session of files is found although the session's own file did not change", async () => {
  const home = tempFolder();
  const data = dataFolder(home);
  const [file = ""] = writeFiles(data, [{ info: sessionInfo("ses_1"), messages: [user("msg_1", 0, [text("one")])] }]);
  const messages = join(data, "storage", "message", "ses_1");
  for (const path of [file, messages]) utimesSync(path, 1_700_000_000, 1_700_000_000);
  const store = await openedStore();
  expect((await sync(store, home))[0]).toMatchObject({ newFiles: 1, sessions: ["ses_1 +1"] });
  expect((await sync(store, home))[0]).toMatchObject({ changedFiles: 0, sessions: [] });
  const { info, parts } = user("msg_2", 1, [text("two")]);
  writeFileSync(join(messages, "msg_2.json"), JSON.stringify({ ...info, sessionID: "ses_1", parts }));
  utimesSync(messages, 1_700_000_100, 1_700_000_100);
  expect((await sync(store, home))[0]).toMatchObject({ changedFiles: 1, sessions: ["ses_1 +1"] });
});

test("a reply that is written while syncs read it is one reply in the end, and the leaf follows it", async () => {
  const home = tempFolder();
  const path = join(dataFolder(home), "opencode.db");
  const calling = (state: object) =>
    reply("msg_2", 10, [text("I look."), tool("c1", "bash", state)], { finish: undefined, tokens: undefined });
  writeDatabase(path, [
    { info: sessionInfo("ses_1"), messages: [user("msg_1", 0, [text("go")]), calling({ status: "pending", input: {}, raw: "" })] },
  ]);
  const live = new Database(path);
  onTestFinished(() => void live.close());
  live.pragma("journal_mode = WAL");
  const setPart = live.prepare("UPDATE part SET data = ?, time_updated = time_updated + 1 WHERE id = ?");
  const setMessage = live.prepare("UPDATE message SET data = ?, time_updated = time_updated + 1 WHERE id = ?");
  const store = await openedStore();
  await sync(store, home);
  const states = [
    { part: tool("c1", "bash", { status: "running", input: { command: "ls" }, time: { start: START } }), message: calling({}) },
    { part: ran("c1", "bash", { command: "ls" }, "a.ts", 30), message: reply("msg_2", 10, [], { finish: "tool-calls" }) },
  ];
  for (const { part, message } of states) {
    const { id: _id, ...data } = message.info;
    setPart.run(JSON.stringify(part), "prt_msg_2_001");
    setMessage.run(JSON.stringify(data), "msg_2");
    await sync(store, home);
  }
  const session = await store.openSession("ses_1");
  const path1 = await session.path();
  expect(path1.map((entry) => (entry.type === "message" ? [entry.message.role, entry.message.content] : entry.type))).toEqual([
    ["user", [{ type: "text", text: "go" }]],
    [
      "assistant",
      [
        { type: "text", text: "I look." },
        { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } },
      ],
    ],
    ["toolResult", [{ type: "text", text: "a.ts" }]],
  ]);
  expect((await store.statistics()).sessions).toBe(1);
  expect(await findingsOf(store)).toEqual([]);
});
