import { join } from "node:path";
import type { Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { openedStore, raw, tempFolder } from "../../../session-core/test/world/stores.js";
import { importPath } from "../../src/transfer/import-path.js";
import { START, sessionInfo, writeDatabase } from "./fixture.js";

// The table `session_message`: its types are those of opencode 1.18's own schema; a public database of Kilo has such rows.

interface Row {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

async function importedFrom(rows: readonly Row[], name = "opencode.db") {
  const path = join(tempFolder(), name);
  writeDatabase(path, [{ info: sessionInfo("ses_whole"), messages: [] }]);
  raw(path, (database) => {
    database.exec(
      "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, time_updated INTEGER, data TEXT)",
    );
    const insert = database.prepare("INSERT INTO session_message VALUES (?, 'ses_whole', ?, ?, ?, ?, ?)");
    for (const [at, { id, type, data }] of rows.entries())
      insert.run(id, type, at, START + at, START + at, JSON.stringify({ time: { created: START + at * 1000 }, ...data }));
  });
  const store = await openedStore();
  const { sessions } = await importPath(store, path);
  return { sessions, session: await store.openSession("ses_whole"), again: () => importPath(store, path) };
}

const messagesOf = async (session: Session) => (await session.path()).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));

const model = { providerID: "kilo", id: "auto" };

describe("a session whose messages are rows with their parts", () => {
  test("has its prompts, replies, thinking, calls with results, models and usage", async () => {
    const tokens = { input: 12, output: 18, reasoning: 0, cache: { read: 1, write: 2 } };
    const call = {
      ...{ type: "tool", id: "call_1", name: "read", time: { created: START + 1000, completed: START + 1500 } },
      state: { status: "completed", input: { filePath: "/a.ts" }, content: [{ type: "text", text: "export {}" }], structured: {} },
    };
    const failed = {
      ...{ type: "tool", id: "call_2", name: "bash", time: { created: START + 1000, completed: START + 1600 } },
      state: { status: "error", input: { command: "x" }, content: [], structured: {}, error: { type: "unknown", message: "no x" } },
    };
    const content = [{ type: "reasoning", id: "r", text: "Read it." }, { type: "text", id: "t", text: "I read it." }, call, failed];
    const { sessions, session, again } = await importedFrom([
      { id: "msg_1", type: "user", data: { text: "read a.ts" } },
      { id: "msg_2", type: "synthetic", data: { text: "A file has changed." } },
      { id: "msg_3", type: "assistant", data: { agent: "build", model, content, finish: "stop", cost: 0.25, tokens } },
    ]);
    expect(sessions).toMatchObject([{ sessionId: "ses_whole", problems: [] }]);
    expect(await messagesOf(session)).toMatchObject([
      { role: "user", content: [{ type: "text", text: "read a.ts" }] },
      { role: "custom", customType: "opencode.synthetic" },
      {
        ...{ role: "assistant", provider: "kilo", model: "auto", usage: { input: 12, output: 18, cacheRead: 1, cost: { total: 0.25 } } },
        content: [{ type: "thinking" }, { type: "text" }, { type: "toolCall", name: "read" }, { type: "toolCall", name: "bash" }],
      },
      { role: "toolResult", toolCallId: "call_1", toolName: "read", content: [{ text: "export {}" }], isError: false },
      { role: "toolResult", toolCallId: "call_2", content: [{ text: "no x" }], isError: true },
    ]);
    expect((await again()).sessions).toMatchObject([{ entriesAdded: 0 }]);
  });

  test("has its commands and compactions, and keeps what it does not know", async () => {
    const { session } = await importedFrom([
      { id: "msg_1", type: "user", data: { text: "go" } },
      { id: "msg_2", type: "shell", data: { callID: "sh_1", command: "ls", output: "a.ts" } },
      { id: "msg_3", type: "compaction", data: { reason: "manual", summary: "They listed files.", recent: "" } },
      { id: "msg_4", type: "agent-switched", data: { agent: "plan" } },
    ]);
    const entries = await session.path();
    expect(entries.map(({ type }) => type)).toEqual(["message", "message", "message", "compaction", "foreign"]);
    expect(entries[1]).toMatchObject({ message: { content: [{ type: "toolCall", name: "bash", arguments: { command: "ls" } }] } });
    expect(entries[3]).toMatchObject({ id: "msg_3", summary: "They listed files.", trigger: "manual" });
  });

  test("of Kilo too", async () => {
    const { sessions } = await importedFrom([{ id: "msg_1", type: "user", data: { text: "go" } }], "kilo.db");
    expect(sessions).toMatchObject([{ format: "kilo", entriesAdded: 1 }]);
  });
});
