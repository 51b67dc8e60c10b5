import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import { openSqlite } from "@bough/session-core/sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { cursorFormat } from "../../src/cursor/format.js";
import { importPath } from "../../src/transfer/import-path.js";
import {
  ask,
  CHAT,
  type ChatMessage,
  type ChatWrite,
  call,
  chatFile,
  field,
  idOfMessage,
  info,
  reply,
  result,
  say,
  stateOf,
  summary,
  system,
  transcriptFile,
  writeChat,
} from "./chat-files.js";

const sessionsOf = (path: string): readonly SourceSession[] => [...cursorFormat.sessions(path)];

function recordsOf(path: string): readonly SourceRecord[] {
  return sessionsOf(path).flatMap((session) => [...session.records()]);
}

/** The entries of a file as `parent>entry`, by what a message says. */
function treeOf(path: string, messages: Readonly<Record<string, ChatMessage>>): readonly string[] {
  const nameOf = new Map(Object.entries(messages).map(([name, message]) => [idOfMessage(message), name]));
  const name = (id: string | null) => (id === null ? "" : (nameOf.get(id) ?? id));
  return recordsOf(path).flatMap((record) => {
    if (record.kind === "entry") return [`${name(record.parentId)}>${name(record.id)}`];
    return record.kind === "leaf" ? [`leaf ${name(record.entryId)}`] : [record.kind];
  });
}

describe("a chat of Cursor's command line", () => {
  test("becomes a session: prompts, replies with reasoning and calls, results, the model and the title", () => {
    const messages = [
      system,
      info,
      {
        ...ask("list"),
        content: [{ type: "text", text: "<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>\n<user_query>\nlist\n</user_query>" }],
      },
      reply(
        { type: "reasoning", text: "ls will do", signature: "s1", providerOptions: { cursor: { modelName: "composer-2" } } },
        { type: "redacted-reasoning", data: "abc" },
        { type: "text", text: "Listing." },
        call("c1", { command: "ls" }),
        call("c2", "no object"),
      ),
      result("c1", "a.ts"),
      result("c2", "no such tool", true),
      { role: "assistant", content: [{ type: "hologram", x: 1 }] },
      { role: "narrator", content: "what is this" },
    ];
    const folder = Buffer.from("file:///home/ada/my%20app");
    const path = chatFile([{ messages, state: messages.map((_, at) => at), fields: [field(9, folder)] }]);
    const [session] = sessionsOf(path);
    expect(session?.header).toMatchSnapshot();
    expect(recordsOf(path).map((record) => (record.kind === "entry" ? record.payload : record))).toMatchSnapshot();
  });

  test("has the messages of older states that were left as branches, without unfinished replies", () => {
    const [q1, partly, a1, q2, a2, q3] = [ask("one"), say("Hel"), say("Hello"), ask("two"), say("left"), ask("three")];
    const path = chatFile([
      { messages: [system, q1, partly], state: [0, 1, 2] },
      { messages: [a1, q2, a2], state: [0, 1, 3, 4, 5] },
      { messages: [q3], state: [0, 1, 3, 6] },
    ]);
    expect(treeOf(path, { system, q1, partly, a1, q2, a2, q3 })).toEqual([
      ...[">system", "system>q1", "q1>a1", "a1>q3"],
      ...["merged", "a1>q2", "q2>a2", "leaf q3"],
    ]);
  });

  test("that was summarized has a compaction after what the summary replaced, which keeps the end", () => {
    const [q1, a1, q2, a2, short, q3] = [ask("one"), say("1"), ask("two"), say("2"), summary("one was asked"), ask("three")];
    const tokens = field(5, Buffer.concat([field(1, 900), field(2, 1000)]));
    const path = chatFile([
      { messages: [system, q1, a1, q2, a2], state: [0, 1, 2, 3, 4], fields: [tokens] },
      { messages: [short], state: [0, 5, 3, 4] },
      { messages: [q3], state: [0, 5, 3, 4, 6] },
    ]);
    expect(treeOf(path, { system, q1, a1, q2, a2, short, q3 })).toEqual([
      ...[">system", "system>q1", "q1>a1", "a1>q2", "q2>a2", "a2>short", "short>q3", "leaf q3"],
    ]);
    expect(recordsOf(path).find((record) => record.kind === "entry" && record.id === idOfMessage(short))).toMatchObject({
      payload: { type: "compaction", summary: "one was asked", firstKeptEntryId: idOfMessage(q2), tokensBefore: 900 },
    });
  });

  test("that was summarized is read alike if the row of a summary was written again, behind the states that name it", () => {
    const [q1, a1, one, q2, two, q3] = [ask("one"), say("1"), summary("first"), ask("two"), summary("second"), ask("three")];
    const path = chatFile([
      { messages: [q1, a1], state: [0, 1] },
      { messages: [one, q2], state: [2, 3] },
      { messages: [two, q3], state: [4, 5] },
    ]);
    const database = openSqlite(path);
    for (const message of [two, one])
      database.prepare("REPLACE INTO blobs SELECT id, data FROM blobs WHERE id = ?").run(idOfMessage(message));
    database.close();
    expect(treeOf(path, { q1, a1, one, q2, two, q3 })).toEqual([">q1", "q1>a1", "a1>one", "one>q2", "q2>two", "two>q3", "leaf q3"]);
  });

  test("has equal messages twice, and messages without a state as a branch of their own", () => {
    const [go, yes, lost] = [ask("go on"), say("yes"), say("lost")];
    const path = chatFile([{ messages: [go, yes, lost], state: [0, 1, 0] }]);
    const [, , again] = recordsOf(path);
    expect(again).toMatchObject({ kind: "entry", parentId: idOfMessage(yes), id: expect.stringMatching(/^[0-9a-z]{12}$/) });
    expect(treeOf(path, { go, yes, lost }).slice(3)).toEqual([">lost", expect.stringMatching(/^leaf [0-9a-z]{12}$/)]);
  });

  test("is imported again with its new messages only, also after a summary and a rewind", async () => {
    const [q1, a1, short, q2] = [ask("one"), say("1"), summary("s"), ask("two")];
    const writes: readonly ChatWrite[] = [
      { messages: [system, q1, a1], state: [0, 1, 2] },
      { messages: [short, q2], state: [0, 3, 4] },
      { messages: [ask("other")], state: [0, 1, 5] },
    ];
    const root = tempFolder();
    const store = await openedStore();
    const added: number[] = [];
    for (const end of [1, 2, 3]) {
      const { sessions } = await importPath(store, chatFile(writes.slice(0, end), {}, root));
      added.push(sessions[0]?.entriesAdded ?? -1);
      expect(sessions.map(({ sessionId }) => sessionId)).toEqual([CHAT]);
    }
    expect(added).toEqual([3, 2, 1]);
  });

  test("has its subagents as sessions: in a database of their own, or in its states", () => {
    const nested = stateOf([idOfMessage(say("found"))]);
    const subagent = field(16, Buffer.concat([field(1, Buffer.from("sub-1")), field(2, Buffer.concat([field(1, nested), field(2, 77)]))]));
    const path = chatFile([{ messages: [ask("one"), say("found")], state: [0], fields: [subagent] }]);
    const [, child] = sessionsOf(path);
    expect(child?.header).toMatchObject({ sessionId: "sub-1", kind: "subagent", createdAtMs: 77, parent: { sessionId: CHAT } });
    expect([...(child?.records() ?? [])].map(({ kind }) => kind)).toEqual(["open", "entry"]);
    expect(treeOf(path, {}).filter((line) => line.startsWith(">"))).toHaveLength(2);
    const own = chatFile([{ messages: [ask("x")], state: [0] }], { subagentInfo: { parentAgentId: "p", toolCallId: "c\n1" } });
    expect(sessionsOf(own)[0]?.header).toMatchObject({ kind: "subagent", parent: { sessionId: "p", toolCallId: "c\n1" } });
  });

  test("without its newest state or with missing messages is imported as far as it goes, with one problem each", () => {
    const gone = chatFile([{ messages: [ask("one"), say("1")] }]);
    expect(recordsOf(gone).map(({ kind }) => kind)).toEqual(["problem", "entry", "entry", "leaf"]);
    const holes = chatFile([{ messages: [ask("one")], state: [0, 7] }]);
    writeChat(holes, [{ fields: [], state: [] }], {});
    expect(recordsOf(holes).map(({ kind }) => kind)).toEqual(["entry", "leaf"]);
  });
});

const line = (role: string, text: string) => ({ role, message: { content: [{ type: "text", text }] } });

describe("the database and the transcript of one chat", () => {
  test("are one session: of the database if it has messages, else of the transcript", async () => {
    const root = tempFolder();
    const database = chatFile([{ messages: [ask("from the database")], state: [0] }], {}, root);
    const transcript = transcriptFile(root, CHAT, [line("user", "from the transcript"), line("assistant", "yes")]);
    writeFileSync(join(dirname(database), "meta.json"), JSON.stringify({ title: "Mine", cwd: "/home/ada/app" }));
    for (const path of [database, transcript, root]) {
      expect(sessionsOf(database)[0]?.header).toMatchObject({ title: "Mine", cwd: "/home/ada/app" });
      const { sessions } = await importPath(await openedStore(), path);
      expect(sessions.map(({ sessionId, path: source, entriesAdded }) => [sessionId, source, entriesAdded])).toEqual([[CHAT, database, 1]]);
    }
    const empty = tempFolder();
    const without = chatFile([], {}, empty);
    const only = transcriptFile(empty, CHAT, [line("user", "from the transcript"), line("assistant", "yes")]);
    for (const path of [without, only, empty]) {
      const { sessions } = await importPath(await openedStore(), path);
      expect(sessions.map(({ sessionId, path: source, entriesAdded }) => [sessionId, source, entriesAdded])).toEqual([[CHAT, only, 2]]);
    }
  });

  test("a transcript has the folder that the person trusts, and a subagent's the chat that started it", () => {
    const root = tempFolder();
    const path = transcriptFile(root, "child", [line("user", "x")], join(CHAT, "subagents"));
    writeFileSync(join(root, "projects", "home-ada-app", ".workspace-trusted"), JSON.stringify({ workspacePath: "/home/ada/app" }));
    expect(sessionsOf(path).map(({ header }) => header)).toMatchObject([
      { sessionId: "child", kind: "subagent", parent: { sessionId: CHAT }, cwd: "/home/ada/app" },
    ]);
  });
});

describe("of any chat", () => {
  const message = fc.oneof(
    fc.constantFrom(system, info, ask("go"), say("yes"), summary("s"), result("c", "r"), reply(call("c", {}))),
    fc.record({ role: fc.constantFrom("user", "assistant", "tool", "x"), content: fc.jsonValue() }),
  );
  const write = fc.record({ messages: fc.array(message, { maxLength: 4 }), state: fc.array(fc.nat(9), { maxLength: 9 }) });

  test("every message is an entry, merged or a problem, and a second import adds nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 5 }), async (writes) => {
        const count = writes.flatMap(({ messages }) => messages).length;
        const whole = writes.map(({ messages, state }) => ({ messages, state: state.filter((at) => at < count) }));
        const path = chatFile(whole);
        const lines = new Set(recordsOf(path).flatMap((record) => ("line" in record ? [record.line] : [])));
        expect(lines.size).toBe(new Set(writes.flatMap(({ messages }) => messages.map((one) => JSON.stringify(one)))).size);
        const store = await openedStore();
        if (count === 0) return;
        await importPath(store, path);
        expect((await importPath(store, path)).sessions.map(({ outcome }) => outcome)).toEqual(["unchanged"]);
      }),
      { numRuns: runs(40) },
    );
  });
});
