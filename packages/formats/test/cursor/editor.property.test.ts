import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { openedStore, raw } from "../../../session-core/test/world/stores.js";
import { cursorFormat } from "../../src/cursor/format.js";
import { importPath } from "../../src/transfer/import-path.js";
import { answer, composer, editorFile, prompt, thought, tool } from "./editor-files.js";

const sessionsOf = (path: string): readonly SourceSession[] => [...cursorFormat.sessions(path)];

function recordsOf(path: string): readonly SourceRecord[] {
  return sessionsOf(path).flatMap((session) => [...session.records()]);
}

const treeOf = (path: string): readonly string[] =>
  recordsOf(path).map((record) => {
    if (record.kind === "entry") return `${record.parentId ?? ""}>${record.id}`;
    return record.kind === "leaf" ? `leaf ${record.entryId}` : record.kind;
  });

describe("a chat of Cursor's editor", () => {
  test("becomes a session: reasoning and text with the call that follows, results, models, usage, a summary", () => {
    const bubbles = {
      u1: prompt("read a.ts", { modelInfo: { modelName: "claude-4.5-sonnet" }, contextWindowStatusAtCreation: { tokensUsed: 700 } }),
      t1: thought("I need the file."),
      a1: answer("Reading."),
      f1: tool({ result: '{"contents":"let a","totalLines":1}' }),
      f2: tool({
        toolCallId: "c2",
        name: "run_terminal_cmd",
        rawArgs: "{oops",
        params: "",
        status: "error",
        error: '{"modelVisibleErrorMessage":"no shell"}',
      }),
      f3: tool({ toolCallId: "c3", name: "grep", status: "started", result: "" }),
      b1: answer(""),
      s1: answer("It declares a.", {
        tokenCount: { inputTokens: 10, outputTokens: 4 },
        conversationSummary: JSON.stringify({ summary: "a.ts was read", clientShouldStartSendingFromInclusiveBubbleId: "a1" }),
      }),
      x1: { type: 9, hologram: true },
    };
    const path = editorFile(
      composer("chat-1", Object.keys(bubbles), bubbles, {
        workspaceIdentifier: { uri: { fsPath: "/home/ada/app" } },
        unifiedMode: "agent",
      }),
    );
    expect(sessionsOf(path).map(({ header }) => header)).toMatchSnapshot();
    expect(recordsOf(path).map((record) => (record.kind === "entry" ? record.payload : record))).toMatchSnapshot();
  });

  test("that a call of another one started is imported and linked to it, also if the id of the call has a line break", async () => {
    const [starter, started, last] = ["11111111-2222-4333-8444-555555555555", "task-call_1\nfc_1", "zzz"];
    const path = editorFile({
      ...composer(starter, ["u1"], { u1: prompt("Look around") }, { subagentComposerIds: [started] }),
      ...composer(started, ["u2"], { u2: prompt("Look") }),
      ...composer(last, ["u3"], { u3: prompt("Later") }, { subagentInfo: { parentComposerId: started, toolCallId: "c2" } }),
    });
    const store = await openedStore();
    const { sessions, failed } = await importPath(store, path);
    expect(failed).toEqual([]);
    const [, agent, other] = await Promise.all(sessions.map(async ({ sessionId }) => (await store.openSession(sessionId)).record()));
    expect(agent).toMatchObject({ kind: "subagent", parent: { sessionId: starter }, firstText: "Look" });
    expect(other).toMatchObject({ id: last, kind: "subagent", parent: { sessionId: agent?.id, toolCallId: "c2" } });
  });

  test("has the bubbles that it no longer shows as branches behind what was older", () => {
    const [u1, a1, u2, a2, u3, a3] = [prompt("1"), answer("1"), prompt("2"), answer("2"), prompt("3"), answer("3")];
    const path = editorFile(composer("chat-1", ["u1", "a1", "u3", "a3"], { u1, a1, u2, a2, u3, a3 }));
    expect(treeOf(path)).toEqual([">u1", "u1>a1", "a1>u3", "u3>a3", "a1>u2", "u2>a2", "leaf a3"]);
  });

  test("of old versions has its bubbles in its record; older ones are tabs of a workspace", () => {
    const inline = {
      conversation: [
        { bubbleId: "u1", type: 1, text: "hi" },
        { type: 2, text: "hello" },
      ],
      fullConversationHeadersOnly: [],
    };
    expect(treeOf(editorFile({ "composerData:old": { composerId: "old", ...inline } })).slice(0, 2)).toEqual([
      ">u1",
      expect.stringMatching(/^u1>[0-9a-z]{12}$/),
    ]);
    const mapped = { conversationMap: { m1: { type: 1, text: "hi" } } };
    expect(treeOf(editorFile({ "composerData:old": mapped }))).toEqual([">m1", "leaf m1"]);
    const tabs = [
      {
        tabId: "tab-1",
        chatTitle: "Old",
        lastSendTime: 5,
        bubbles: [
          { type: "user", text: "hi" },
          { type: "ai", rawText: "yo" },
        ],
      },
    ];
    const path = editorFile({}, { "workbench.panel.aichat.view.aichat.chatdata": { tabs } });
    writeFileSync(join(dirname(path), "workspace.json"), JSON.stringify({ folder: "file:///home/ada/my%20app" }));
    expect(sessionsOf(path).map(({ header }) => header)).toEqual([
      { sessionId: "tab-1", kind: "conversation", title: "Old", createdAtMs: 5, cwd: "/home/ada/my app" },
    ]);
    expect(recordsOf(path).filter(({ kind }) => kind === "entry")).toHaveLength(2);
  });

  test("has the folder of the workspace that lists it, and the chat that started it", () => {
    const path = editorFile({
      ...composer("parent", ["u"], { u: prompt("x") }, { subagentComposerIds: ["child"] }),
      ...composer("child", ["u"], { u: prompt("x") }),
      ...composer("other", ["u"], { u: prompt("x") }, { subagentInfo: { parentComposerId: "parent", toolCallId: "c\n1" } }),
      ...composer("draft", [], {}),
    });
    const workspace = join(dirname(dirname(path)), "workspaceStorage", "0a1b");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "workspace.json"), JSON.stringify({ folder: "file:///home/ada/app" }));
    editorFile({}, { "composer.composerData": { allComposers: [{ composerId: "parent" }] } }, join(workspace, "state.vscdb"));
    expect(sessionsOf(path).map(({ header: { sessionId, kind, parent, cwd } }) => ({ sessionId, kind, parent, cwd }))).toEqual([
      { sessionId: "child", kind: "subagent", parent: { sessionId: "parent", toolCallId: undefined }, cwd: undefined },
      { sessionId: "other", kind: "subagent", parent: { sessionId: "parent", toolCallId: "c\n1" }, cwd: undefined },
      { sessionId: "parent", kind: "conversation", parent: undefined, cwd: "/home/ada/app" },
    ]);
  });

  test("keeps its other bubbles if the type of one is nested too deeply", async () => {
    const path = editorFile(composer("chat-1", ["u1", "x1", "a1"], { u1: prompt("1"), x1: { type: "deep" }, a1: answer("1") }));
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    raw(path, (file) => file.prepare(`UPDATE cursorDiskKV SET value = replace(value, '"deep"', ?)`).run(deep));
    const { sessions } = await importPath(await openedStore(), path);
    expect(sessions.map(({ entriesAdded }) => entriesAdded)).toEqual([3]);
  });

  test("is imported again while it grows: the reply that Cursor writes comes when it is complete", async () => {
    const store = await openedStore();
    const [u1, a1, more] = [prompt("1"), answer("Hel"), answer("Hello")];
    const [now, path] = [{ lastUpdatedAt: Date.now(), status: "generating" }, editorFile(composer("chat-1", ["u1"], { u1 }))];
    const added = [await importPath(store, path)];
    expect(recordsOf(editorFile(composer("chat-1", ["u1", "a1"], { u1, a1 }, now), {}, path)).map(({ kind }) => kind)).toEqual([
      ...["entry", "open", "entry", "leaf"],
    ]);
    added.push(await importPath(store, path));
    added.push(await importPath(store, editorFile(composer("chat-1", ["u1", "a1"], { u1, a1: more }), {}, path)));
    expect(added.map(({ sessions }) => sessions.map(({ sessionId, entriesAdded }) => [sessionId, entriesAdded]))).toEqual([
      ...[[["chat-1", 1]], [["chat-1", 0]], [["chat-1", 1]]],
    ]);
  });

  test("says whether it changed", () => {
    const revision = (fields: object): string | undefined =>
      sessionsOf(editorFile(composer("c", ["u"], { u: prompt("x") }, fields)))[0]?.revision;
    expect(revision({})).toBe(revision({}));
    expect(revision({ status: "error" })).not.toBe(revision({}));
    expect(revision({ status: "generating" })).not.toBe(revision({}));
  });

  test("of any bubbles: each is an entry, merged or a problem, and a second import adds nothing", async () => {
    const odd = fc.oneof(
      fc.constantFrom<unknown>(
        prompt("x"),
        answer(""),
        answer("y"),
        thought("z"),
        tool({}),
        tool({ rawArgs: 3, result: { a: 1 } }),
        "{",
        "[]",
      ),
      fc.record({ type: fc.constantFrom(1, 2, "x"), text: fc.jsonValue(), thinking: fc.jsonValue(), toolFormerData: fc.jsonValue() }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 12 }), fc.array(fc.nat(14), { maxLength: 9 }), async (written, shown) => {
        const bubbles = Object.fromEntries(written.map((value, at) => [`b${at}`, JSON.stringify(value)]));
        const path = editorFile(
          composer(
            "c",
            shown.map((at) => `b${at}`),
            bubbles,
          ),
        );
        const lines = new Set(recordsOf(path).flatMap((record) => lineOf(record)));
        expect(lines.size).toBe(written.length);
        if (written.length === 0) return;
        const store = await openedStore();
        await importPath(store, path);
        expect((await importPath(store, path)).sessions.map(({ entriesAdded }) => entriesAdded)).toEqual([0]);
      }),
      { numRuns: runs(40) },
    );
  });
});

function lineOf(record: SourceRecord): readonly number[] {
  if (record.kind === "problem") return record.problem.line === null ? [] : [record.problem.line];
  return "line" in record ? [record.line] : [];
}
