import { join } from "node:path";
import { buildSessionContext, type Entry } from "@bough/session-core";
import { expect, test } from "vitest";
import { hasRealSession, realSession } from "../../../../.ci/real-sessions.mjs";
import { collected, findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { SqliteStore } from "../../src/opencode/sqlite-store.js";
import { DatabaseReading } from "../../src/source/database-reading.js";
import { importPath } from "../../src/transfer/import-path.js";
import { type OpencodeSession, ran, reply, START, sessionInfo, text, tool, user, writeDatabase, writeFiles } from "./fixture.js";

const STEP = { type: "step-start", snapshot: "aa" };
const MESSAGES = [
  user("msg_1", 0, [text("Why does it fail?"), { type: "file", mime: "image/png", filename: "a.png", url: "data:image/png;base64,aGk=" }]),
  reply(
    "msg_2",
    100,
    [
      STEP,
      { type: "reasoning", text: "Look first.", metadata: { anthropic: { signature: "sig==" } }, time: { start: START } },
      text("I look."),
      ran("c1", "read", { filePath: "/home/ada/app/a.ts" }, "one", 190),
      ran("c2", "bash", { command: "npm test" }, "two", 180),
      { type: "step-finish", reason: "tool-calls", tokens: {}, cost: 0 },
      { type: "patch", hash: "bb", files: ["a.ts"] },
    ],
    { finish: "tool-calls" },
  ),
  reply("msg_3", 200, [
    STEP,
    tool("c3", "edit", { status: "error", input: { filePath: "a.ts" }, error: "no such file", time: { start: START } }),
  ]),
  user("msg_4", 300, [
    text("Called the Read tool", { synthetic: true }),
    text("Read this"),
    text("only shown", { ignored: true }),
    { type: "file", mime: "text/plain", filename: "b.ts", url: "file:///home/ada/b.ts" },
  ]),
  reply("msg_5", 400, [text("Par")], {
    finish: undefined,
    tokens: undefined,
    error: { name: "MessageAbortedError", data: { message: "stopped" } },
  }),
];

/** The entries of the only session, or of this one. */
async function imported(path: string, sessionId?: string) {
  const store = await openedStore();
  const report = await importPath(store, path);
  const session = await store.openSession(sessionId ?? report.sessions[0]?.sessionId ?? "");
  const entries = await collected(session.entries());
  expect(await findingsOf(store)).toEqual([]);
  return { store, report, session, entries };
}

const byId = (entries: readonly Entry[]) => Object.fromEntries(entries.map((entry) => [entry.id, entry]));

const ONE: OpencodeSession = { info: sessionInfo("ses_1"), messages: MESSAGES };

test("a file that the user mentioned was read, unless opencode says that it could not read it", async () => {
  const called = (filePath: string) =>
    text(`Called the Read tool with the following input: ${JSON.stringify({ filePath })}`, { synthetic: true });
  const injected = [
    called("/home/ada/app/a.ts"),
    text("one", { synthetic: true }),
    called("/home/ada/app/gone.ts"),
    text("Read tool failed to read /home/ada/app/gone.ts with the following error: ENOENT", { synthetic: true }),
  ];
  const data = tempFolder();
  writeFiles(data, [{ info: sessionInfo("ses_1"), messages: [user("msg_1", 0, [text("Look at @a.ts"), ...injected])] }]);
  const { session } = await imported(data);
  expect((await session.fileOperations()).map(({ kind, path, outcome }) => [kind, path, outcome])).toEqual([
    ["read", "/home/ada/app/a.ts", "done"],
  ]);
});

test("a session in files becomes prompts, replies and results in order, each with the id of opencode", async () => {
  const data = tempFolder();
  writeFiles(data, [ONE]);
  const { report, session, entries } = await imported(data);
  expect(report.sessions).toMatchObject([{ sessionId: "ses_1", format: "opencode", entriesAdded: 10, problemCount: 0 }]);
  expect(report.otherFiles).toBe(1);
  expect(await session.record()).toMatchObject({ title: "Fix the parser", titleSource: "auto", cwd: "/home/ada/app", createdAtMs: START });
  expect(entries.map(({ id, type }) => `${id} ${type}`)).toMatchInlineSnapshot(`
    [
      "msg_1 message",
      "msg_2 message",
      "prt_msg_2_004 message",
      "prt_msg_2_003 message",
      "msg_3 message",
      "prt_msg_3_001 message",
      "msg_4 message",
      "2:msg_4 message",
      "3:msg_4 custom",
      "msg_5 message",
    ]
  `);
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.slice(0, -1).map(({ id }) => id)]);
});

test("a reply has its blocks, model, usage, cost and what has no place in a message; results are in the order in which they ended", async () => {
  const data = tempFolder();
  writeFiles(data, [ONE]);
  const { entries } = await imported(data);
  const { msg_1, msg_2, prt_msg_2_003, msg_5, prt_msg_3_001 } = byId(entries);
  expect([msg_1, msg_2, prt_msg_2_003, prt_msg_3_001, msg_5]).toMatchInlineSnapshot(`
    [
      {
        "createdAtMs": 1790000000000,
        "id": "msg_1",
        "message": {
          "content": [
            {
              "text": "Why does it fail?",
              "type": "text",
            },
            {
              "data": "aGk=",
              "filename": "a.png",
              "mimeType": "image/png",
              "type": "image",
            },
          ],
          "role": "user",
        },
        "opencode": {
          "agent": "build",
          "model": {
            "modelID": "claude-sonnet-5",
            "providerID": "anthropic",
          },
        },
        "parentId": null,
        "seq": 1,
        "type": "message",
      },
      {
        "createdAtMs": 1790000000100,
        "id": "msg_2",
        "message": {
          "content": [
            {
              "thinking": "Look first.",
              "thinkingSignature": "sig==",
              "type": "thinking",
            },
            {
              "text": "I look.",
              "type": "text",
            },
            {
              "arguments": {
                "filePath": "/home/ada/app/a.ts",
              },
              "id": "c1",
              "name": "read",
              "type": "toolCall",
            },
            {
              "arguments": {
                "command": "npm test",
              },
              "id": "c2",
              "name": "bash",
              "type": "toolCall",
            },
          ],
          "model": "claude-sonnet-5",
          "provider": "anthropic",
          "role": "assistant",
          "stopReason": "toolUse",
          "usage": {
            "cacheRead": 800,
            "cacheWrite": 0,
            "cost": {
              "total": 0.01,
            },
            "input": 400,
            "output": 50,
            "reasoning": 20,
            "totalTokens": 1250,
          },
        },
        "opencode": {
          "agent": "build",
          "mode": "build",
          "patches": [
            {
              "files": [
                "a.ts",
              ],
              "hash": "bb",
              "type": "patch",
            },
          ],
        },
        "parentId": "msg_1",
        "seq": 2,
        "type": "message",
      },
      {
        "createdAtMs": 1790000000190,
        "id": "prt_msg_2_003",
        "message": {
          "content": [
            {
              "text": "one",
              "type": "text",
            },
          ],
          "details": {
            "metadata": {},
            "title": "read it",
          },
          "isError": false,
          "role": "toolResult",
          "toolCallId": "c1",
          "toolName": "read",
        },
        "parentId": "prt_msg_2_004",
        "seq": 4,
        "type": "message",
      },
      {
        "createdAtMs": 1790000000000,
        "id": "prt_msg_3_001",
        "message": {
          "content": [
            {
              "text": "no such file",
              "type": "text",
            },
          ],
          "isError": true,
          "role": "toolResult",
          "toolCallId": "c3",
          "toolName": "edit",
        },
        "parentId": "msg_3",
        "seq": 6,
        "type": "message",
      },
      {
        "createdAtMs": 1790000000400,
        "id": "msg_5",
        "message": {
          "content": [
            {
              "text": "Par",
              "type": "text",
            },
          ],
          "errorMessage": "stopped",
          "model": "claude-sonnet-5",
          "provider": "anthropic",
          "role": "assistant",
          "stopReason": "aborted",
          "usage": {
            "cost": {
              "total": 0.01,
            },
          },
        },
        "opencode": {
          "agent": "build",
          "error": {
            "data": {
              "message": "stopped",
            },
            "name": "MessageAbortedError",
          },
          "mode": "build",
        },
        "parentId": "3:msg_4",
        "seq": 10,
        "type": "message",
      },
    ]
  `);
});

test("a database gives the same entries as files", async () => {
  const [data, folder] = [tempFolder(), tempFolder()];
  writeFiles(data, [ONE]);
  writeDatabase(join(folder, "opencode.db"), [ONE]);
  const [files, database] = [await imported(data), await imported(folder)];
  const plain = (entries: readonly Entry[]) => entries.map(({ seq: _seq, ...entry }) => entry);
  expect(plain(database.entries)).toEqual(plain(files.entries));
  expect((await database.session.record()).title).toBe("Fix the parser");
});

test("the steps of one old message are several replies, each before its results, and the usage is counted once", async () => {
  const step = (output: number) => ({
    type: "step-finish",
    reason: "tool-calls",
    tokens: { input: 1, output, reasoning: 0, cache: {} },
    cost: 0.5,
  });
  const parts = [STEP, text("a"), ran("c1", "bash", { command: "ls" }, "out", 10), step(5), STEP, text("b"), step(7)];
  const data = tempFolder();
  writeFiles(data, [{ info: sessionInfo("ses_1"), messages: [user("msg_1", 0, [text("go")]), reply("msg_2", 5, parts)] }]);
  const { entries } = await imported(data);
  expect(entries.map(({ id }) => id)).toEqual(["msg_1", "msg_2", "prt_msg_2_002", "2:msg_2"]);
  expect(
    entries.flatMap((entry) => (entry.type === "message" && entry.message.role === "assistant" ? entry.message.usage?.output : [])),
  ).toEqual([5, 7]);
});

test("a call that was running when opencode stopped has no result, and the context closes it", async () => {
  const running = [tool("c1", "bash", { status: "running", input: { command: "sleep 9" }, time: { start: START } })];
  const pending = [tool("c2", "edit", { status: "pending", input: {}, raw: '{"filePa' })];
  const data = tempFolder();
  const messages = [user("msg_1", 0, [text("go")]), reply("msg_2", 5, [...running, ...pending], { finish: undefined })];
  writeFiles(data, [{ info: sessionInfo("ses_1"), messages }]);
  const { session, entries } = await imported(data);
  expect(entries).toHaveLength(2);
  expect(entries[1]).toMatchObject({
    message: { content: [{ arguments: { command: "sleep 9" } }, { arguments: { unreadable: '{"filePa' } }] },
  });
  expect((await buildSessionContext(session)).messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "toolResult"]);
});

test("a prompt for a summary and the reply with it are one compaction, which keeps the messages from tail_start_id on", async () => {
  const compaction = { type: "compaction", auto: true, tail_start_id: "msg_3" };
  const messages = [
    user("msg_1", 0, [text("one")]),
    reply("msg_2", 10, [text("two")]),
    user("msg_3", 20, [text("three")]),
    user("msg_4", 30, [compaction]),
    reply("msg_5", 40, [text("## Goal\nA parser.")], { summary: true, parentID: "msg_4", mode: "compaction", agent: "compaction" }),
    user("msg_6", 50, [text("Continue", { synthetic: true, metadata: { compaction_continue: true } })]),
    user("msg_7", 60, [compaction]),
    reply("msg_8", 70, [text("half")], { summary: true, parentID: "msg_7", finish: undefined, error: { name: "MessageAbortedError" } }),
  ];
  const data = tempFolder();
  writeFiles(data, [{ info: sessionInfo("ses_1"), messages }]);
  const { session, entries } = await imported(data);
  expect(entries.map(({ id, type }) => `${id} ${type}`)).toEqual([
    ...["msg_1 message", "msg_2 message", "msg_3 message", "msg_4 compaction", "msg_6 message", "msg_7 foreign", "msg_8 message"],
  ]);
  expect(entries[3]).toMatchObject({ firstKeptEntryId: "msg_3", trigger: "auto", summary: "## Goal\nA parser.", tokensBefore: 1250 });
  const { entries: inContext } = await buildSessionContext(session);
  expect(inContext).toEqual(["msg_4", "msg_3", "msg_6", "msg_8"]);
});

test("an undone message and what follows it are a branch; the leaf is before them", async () => {
  const messages = [
    user("msg_1", 0, [text("one")]),
    reply("msg_2", 10, [text("two")]),
    user("msg_3", 20, [text("undone")]),
    reply("msg_4", 30, [text("no")]),
  ];
  const data = tempFolder();
  writeFiles(data, [{ info: sessionInfo("ses_1", { revert: { messageID: "msg_3", snapshot: "aa" } }), messages }]);
  const { session, entries } = await imported(data);
  expect([entries.length, session.leafId]).toEqual([4, "msg_2"]);
});

test("an output that opencode cleared later is replaced in the context from then on, and stays in the store", async () => {
  const cleared = ran("c1", "bash", { command: "ls" }, "very long", 10, { time: { start: START, end: START + 10, compacted: START + 45 } });
  const messages = [
    ...[user("msg_1", 0, [text("go")]), reply("msg_2", 5, [cleared], { finish: "tool-calls" }), reply("msg_3", 40, [text("done")])],
    user("msg_4", 50, [text("next")]),
  ];
  const data = tempFolder();
  writeFiles(data, [{ info: sessionInfo("ses_1"), messages }]);
  const { session, entries } = await imported(data);
  expect(entries.map(({ id }) => id)).toEqual(["msg_1", "msg_2", "prt_msg_2_000", "msg_3", "prt_msg_2_000:cleared", "msg_4"]);
  const context = JSON.stringify((await buildSessionContext(session)).messages);
  expect([context.includes("very long"), context.includes("[Old tool result content cleared]")]).toEqual([false, true]);
});

const CHILD: OpencodeSession = {
  info: sessionInfo("ses_0child", { parentID: "ses_1", title: "count (@general subagent)" }),
  messages: [user("msg_8", 120, [text("count")]), reply("msg_9", 130, [text("3")])],
};
const PARENT: OpencodeSession = {
  info: sessionInfo("ses_1"),
  messages: [
    user("msg_1", 0, [text("go")]),
    reply("msg_2", 10, [
      ran("c9", "task", { prompt: "count" }, "3", 140, { metadata: { sessionId: "ses_0child", parentSessionId: "ses_1" } }),
    ]),
  ],
};

test.each(["files", "a database"])("a session that a task started is a child of its call, from %s", async (place) => {
  const data = tempFolder();
  if (place === "files") writeFiles(data, [PARENT, CHILD]);
  else writeDatabase(join(data, "opencode.db"), [PARENT, CHILD]);
  const { store } = await imported(data, "ses_1");
  const child = await (await store.openSession("ses_0child")).record();
  expect(child).toMatchObject({ kind: "subagent", parent: { sessionId: "ses_1", toolCallId: "c9" } });
});

test("the parts of a session in a database are searched once for the sessions that it started", () => {
  const reading = new DatabaseReading(writeDatabase(join(tempFolder(), "opencode.db"), [PARENT, CHILD]));
  const store = new SqliteStore(reading);
  const started = store.startedBy("ses_1");
  expect([...started]).toEqual([["ses_0child", "c9"]]);
  expect(store.startedBy("ses_1")).toBe(started);
  reading.end();
});

test("of a folder with both, sessions in the database are read from there, the others from their files", async () => {
  const data = tempFolder();
  const longer = { ...ONE, messages: [...MESSAGES, user("msg_6", 500, [text("and then")])] };
  writeFiles(data, [ONE, { info: sessionInfo("ses_old"), messages: [user("msg_0", 0, [text("old")])] }]);
  writeDatabase(join(data, "opencode.db"), [longer]);
  const { report } = await imported(data, "ses_1");
  expect(report.sessions.map(({ sessionId, path, entriesAdded }) => [sessionId, path.slice(data.length + 1), entriesAdded])).toEqual([
    ["ses_1", "opencode.db", 11],
    ["ses_old", join("storage", "session", "p1", "ses_old.json"), 1],
  ]);
});

test("no table with secrets is read", async () => {
  const path = writeDatabase(join(tempFolder(), "opencode.db"), [ONE]);
  const { entries, session } = await imported(path);
  expect(JSON.stringify([entries, await session.record()])).not.toContain("secret-token");
});

test.runIf(hasRealSession("opencode"))("published sessions of both layouts are read", async () => {
  const { store, report } = await imported(realSession("opencode"));
  expect(report.sessions.map(({ sessionId, entriesAdded, problemCount }) => [sessionId, entriesAdded, problemCount])).toEqual([
    ["s_stage0_drift", 4, 0],
    ["s_stage0_small", 4, 0],
  ]);
  const context = await buildSessionContext(await store.openSession("s_stage0_small"));
  expect(context.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
});
