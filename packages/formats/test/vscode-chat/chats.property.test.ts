import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRecord, SourceSession } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { describe, expect, test } from "vitest";
import { collected, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { importPath } from "../../src/transfer/import-path.js";
import { syncSessions } from "../../src/transfer/sync.js";
import { vscodeChatFormat } from "../../src/vscode-chat/format.js";
import { headOf } from "../file-head.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { fileOf } from "../world/sources.js";

const ID = "11111111-2222-4333-8444-555555555555";

const request = (requestId: string, rest: JsonObject = {}): JsonObject => ({
  requestId,
  timestamp: 1_700_000_000_000,
  message: { text: `do ${requestId}`, parts: [] },
  variableData: { variables: [] },
  agent: { id: "github.copilot.editsAgent", extensionId: { value: "GitHub.copilot-chat" } },
  modelId: "copilot/gpt-5",
  response: [{ value: `did ${requestId}` }],
  result: {},
  modelState: { value: 1, completedAt: 2 },
  ...rest,
});
const state = (...requests: readonly JsonObject[]) => ({
  version: 3,
  sessionId: ID,
  creationDate: 1_690_000_000_000,
  initialLocation: "panel",
  responderUsername: "GitHub Copilot",
  customTitle: "A chat",
  requests,
});
const whole = (...requests: readonly JsonObject[]) => ({ kind: 0, v: state(...requests) });
const set = (k: readonly unknown[], v: unknown) => ({ kind: 1, k, v });
const push = (k: readonly unknown[], v: readonly unknown[], i?: number) => ({ kind: 2, k, v, ...(i === undefined ? {} : { i }) });

const round = (id: string, response: string, toolCalls: readonly JsonObject[] = [], rest = {}) => ({ id, response, toolCalls, ...rest });
const call = (id: string, name: string, args: string) => ({ id, name, arguments: args });
const metadata = (toolCallRounds: readonly JsonObject[], rest = {}) => ({ result: { metadata: { toolCallRounds, ...rest } } });

function sessionOf(lines: readonly object[], name = `${ID}.jsonl`): SourceSession | undefined {
  return [...vscodeChatFormat.sessions(fileOf([...lines, ""], name))][0];
}

const recordsOf = (lines: readonly object[]): readonly SourceRecord[] => [...(sessionOf(lines)?.records() ?? [])];
const entriesOf = (lines: readonly object[]) => recordsOf(lines).flatMap((record) => (record.kind === "entry" ? [record] : []));
const payloadsOf = (...requests: readonly JsonObject[]) => entriesOf([whole(...requests)]).map(({ payload }) => payload);
const treeOf = (lines: readonly object[]) => Object.fromEntries(entriesOf(lines).map(({ id, parentId }) => [id, parentId]));
const leafOf = (lines: readonly object[]) => recordsOf(lines).find(({ kind }) => kind === "leaf");

describe("an exported chat", () => {
  const {
    creationDate: _,
    sessionId: __,
    ...exported
  } = state(request("a", { timestamp: Date.UTC(2025, 8, 12) }), request("b", { timestamp: Date.UTC(2025, 8, 13) }));

  async function imported(chat: JsonObject) {
    const store = await openedStore();
    const path = join(tempFolder(), "chat.json");
    writeFileSync(path, JSON.stringify(chat, null, 2));
    utimesSync(path, new Date(Date.UTC(2026, 0, 1)), new Date(Date.UTC(2026, 0, 1)));
    await importPath(store, path);
    const [session] = (await store.listSessions()).items;
    const entries = session === undefined ? [] : await collected((await store.openSession(session.id)).entries());
    return { session, times: entries.map(({ createdAtMs }) => createdAtMs) };
  }

  test("was created at its first request and active at its last entry", async () => {
    const { session } = await imported(exported);
    expect(session).toMatchObject({ createdAtMs: Date.UTC(2025, 8, 12), activeAtMs: Date.UTC(2025, 8, 13) });
  });

  test("without any time has that of the file", async () => {
    const requests = [request("a", { timestamp: undefined }), request("b", { timestamp: undefined })];
    const { session, times } = await imported({ ...exported, requests });
    expect(session).toMatchObject({ createdAtMs: Date.UTC(2026, 0, 1) });
    expect(new Set(times)).toEqual(new Set([Date.UTC(2026, 0, 1)]));
  });
});

describe("the log of a chat", () => {
  test("is replayed: values are set, lists grow, members go", () => {
    const log = [
      whole(),
      push(["requests"], [request("a", { response: [] })]),
      push(["requests", 0, "response"], [{ value: "one " }]),
      push(["requests", 0, "response"], [{ value: "two" }]),
      set(["requests", 0, "message", "text"], "other"),
      { kind: 3, k: ["customTitle"] },
    ];
    expect(entriesOf(log).map(({ payload }) => payload)).toMatchObject([
      { type: "model_change", provider: "github-copilot", modelId: "gpt-5" },
      { message: { role: "user", content: "other" } },
      { message: { role: "assistant", content: [{ text: "one two" }], provider: "github-copilot", model: "gpt-5" } },
    ]);
    expect(sessionOf(log)?.header).toMatchObject({ sessionId: ID, title: undefined, createdAtMs: 1_690_000_000_000 });
  });

  test("keeps undone requests as branches: each below the request that was before it", () => {
    const log = [
      whole(request("a")),
      push(["requests"], [request("b"), request("c")]),
      push(["requests"], [request("d")], 1),
      set(["requests", 1], request("e")),
    ];
    expect(treeOf(log)).toEqual({
      "model:a": null,
      a: "model:a",
      "p0:a": "a",
      b: "p0:a",
      "p0:b": "b",
      c: "p0:b",
      "p0:c": "c",
      d: "p0:a",
      "p0:d": "d",
      e: "p0:a",
      "p0:e": "e",
    });
    expect(leafOf(log)).toEqual({ kind: "leaf", name: "main", entryId: "p0:e" });
  });

  test("tells requests with one id apart by their place, and a request by the id that it has when the list changes", () => {
    const log = [
      whole(request("a"), request("a")),
      push(["requests"], [request("a")]),
      set(["requests", 0, "requestId"], "z"),
      push(["requests"], [request("b")]),
    ];
    expect(treeOf(log)).toMatchObject({ z: "model:z", a: "p0:z", "a#1": "p0:a", "a#2": "p0:a", b: "p0:a#2" });
  });

  test("has entries with the UUID of their request, so that short ids differ at their start", () => {
    const [a, b] = ["request_4e5049a2-1111-4111-8111-111111111111", "request_99a049a2-1111-4111-8111-111111111111"];
    expect(entriesOf([whole(request(a), request(b))]).map(({ id, formerId }) => [id, formerId])).toEqual([
      [`model:${a.slice(8)}`, `${a}:model`],
      [a.slice(8), a],
      [`p0:${a.slice(8)}`, `${a}:p0`],
      [b.slice(8), b],
      [`p0:${b.slice(8)}`, `${b}:p0`],
    ]);
  });

  test("that was written anew keeps its requests, also those undone before", () => {
    const log = [whole(request("a"), request("b")), whole(request("a"), request("c")), whole()];
    expect(treeOf(log)).toMatchObject({ b: "p0:a", c: "p0:a" });
    expect(leafOf(log)).toEqual({ kind: "leaf", name: "main", entryId: null });
  });

  test("has its leaf before requests that will be removed when the next one is sent", () => {
    expect(leafOf([whole(request("a"), request("b", { shouldBeRemovedOnSend: { requestId: "b" } }))])).toMatchObject({ entryId: "p0:a" });
  });

  test("never changes prototypes or leaves holes in lists; such a change is a foreign entry", () => {
    const bad = [
      set(["__proto__", "polluted"], 1),
      set(["requests", 4_000_000_000], {}),
      push(["constructor"], [1]),
      { kind: 9, k: ["x"] },
      set([], {}),
    ];
    const entries = entriesOf([whole(request("a")), ...bad]);
    expect(
      entries.filter(({ payload }) => JSON.stringify(payload).includes("foreign")).map(({ line, parentId }) => [line, parentId]),
    ).toEqual([
      [2, "p0:a"],
      [3, "p0:a"],
      [5, "p0:a"],
      [6, "p0:a"],
    ]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("without a request is no session: VS Code writes one for each window", () => {
    expect(sessionOf([whole(), set(["inputState"], {})])).toBeUndefined();
  });

  test("of a newer version is read as far as it goes, and says so", () => {
    expect(recordsOf([{ kind: 0, v: { ...state(request("a")), version: 4 } }])[0]).toMatchObject({ kind: "problem", problem: { line: 1 } });
  });

  test("of any mutation every line is an entry, part of one or reported", async () => {
    await nothingIsLost([{ name: `${ID}.jsonl`, content: Buffer.from(EVERYTHING.map((line) => `${JSON.stringify(line)}\n`).join("")) }]);
  });
});

describe("a request", () => {
  const rounds = [
    round("r1", "Looking.", [call("c1", "read_file", '{"path":"a"}'), call("c2", "run", "{broken")], {
      thinking: { id: "t", text: ["Hm.", "So."] },
    }),
    round("r2", "Done."),
  ];
  const toolCallResults = {
    c1: { content: [{ value: "let a" }, { value: { node: { type: 1, children: [{ type: 2, text: "tree" }] } } }] },
  };

  test("has a reply and its results for each round; usage and errors are those of the last", () => {
    const extra = { toolCallResults, resolvedModel: "gpt-5-2026", promptTokens: 100, outputTokens: 20 };
    expect(payloadsOf(request("a", metadata(rounds, extra)))).toMatchSnapshot();
  });

  test("that was cancelled or failed says so", () => {
    expect(payloadsOf(request("a", { isCanceled: true })).at(-1)).toMatchObject({ message: { stopReason: "aborted" } });
    const failed = request("a", { response: [], result: { errorDetails: { message: "quota" } } });
    expect(payloadsOf(failed).at(-1)).toMatchObject({ message: { content: [], stopReason: "error", errorMessage: "quota" } });
  });

  test("without rounds is made of what the screen shows", () => {
    const response = [
      { kind: "thinking", value: "Hm." },
      { value: "See " },
      { kind: "inlineReference", inlineReference: { path: "/home/ada/a.ts" } },
      { kind: "markdownContent", content: { value: "." } },
      {
        kind: "toolInvocationSerialized",
        toolCallId: "c1",
        toolId: "run",
        toolSpecificData: { kind: "terminal", commandLine: { original: "ls" } },
        pastTenseMessage: { value: "Ran ls" },
      },
      { kind: "progressMessage", content: "x" },
      { value: "Done." },
    ];
    expect(payloadsOf(request("a", { response })).slice(2)).toMatchObject([
      {
        message: {
          content: [{ thinking: "Hm." }, { text: "See `a.ts`." }, { type: "toolCall", id: "c1", arguments: { command: "ls" } }],
          stopReason: "toolUse",
        },
      },
      { message: { role: "toolResult", toolCallId: "c1", content: "Ran ls" } },
      { message: { content: [{ text: "Done." }], stopReason: "stop" } },
    ]);
  });

  test("has a model change where the model changes on its branch", () => {
    expect(
      payloadsOf(request("a"), request("b"), request("c", { modelId: "copilot/o3" })).filter((payload) =>
        JSON.stringify(payload).includes("model_change"),
      ),
    ).toMatchObject([{ modelId: "gpt-5" }, { modelId: "o3" }]);
  });

  test("with a summary has a compaction after the round that is the last one in it", () => {
    const entries = entriesOf([
      whole(request("a", metadata(rounds, { toolCallResults, summary: { toolCallRoundId: "r1", text: "sum" } }))),
    ]);
    expect(entries.map(({ id }) => id)).toEqual(["model:a", "a", "r0:a", "r0:0:a", "s0:a", "r1:a"]);
    expect(entries[4]?.payload).toMatchObject({ type: "compaction", summary: "sum", firstKeptEntryId: null });
  });

  test("with a summary up to a round of an earlier request keeps what came after that round", () => {
    const later = (toolCallRoundId: string) => request("b", metadata([round("r3", "Yes.")], { summary: { toolCallRoundId, text: "sum" } }));
    const kept = (toolCallRoundId: string) =>
      payloadsOf(request("a", metadata(rounds)), later(toolCallRoundId)).find((payload) => JSON.stringify(payload).includes("compaction"));
    expect(kept("r2")).toMatchObject({ firstKeptEntryId: "b" });
    expect(kept("r1")).toMatchObject({ firstKeptEntryId: "r1:a" });
    expect(kept("unknown")).toMatchObject({ firstKeptEntryId: null });
  });

  test("whose reply was not complete when it was imported has the complete one beside it after the next import", async () => {
    const folder = tempFolder();
    const store = await openedStore();
    const half = request("b", { response: [{ value: "di" }], result: undefined, modelState: { value: 0 } });
    const write = (...lines: readonly object[]) => fileOf([...lines, ""], `${ID}.jsonl`, folder);
    const first = await importPath(store, write(whole(request("a"), half)));
    const second = await importPath(store, write(whole(request("a"), half), set(["requests", 1], request("b"))));
    expect([first, second].map(({ sessions }) => sessions.map(({ sessionId, entriesAdded }) => [sessionId, entriesAdded]))).toEqual([
      [[ID, 5]],
      [[ID, 1]],
    ]);
    expect((await store.openSession(ID)).leafId).toMatch(/:p0:b$/);
  });
});

describe("files", () => {
  const path = (...names: readonly string[]) => join(tempFolder(), ...names);

  test("are told by their shape", () => {
    expect(
      [whole(), set(["requests"], []), { ...whole(), kind: "0" }].map((line) => vscodeChatFormat.detects(headOf([{ no: "chat" }, line]))),
    ).toEqual([true, true, true]);
    expect(
      vscodeChatFormat.detects(
        headOf([
          { kind: 1, k: ["a"], other: 1 },
          { kind: 0, v: { a: 1 } },
        ]),
      ),
    ).toBe(false);
  });

  test("of a workspace have its folder; documents of older versions are read too", () => {
    const storage = path("workspaceStorage", "abc");
    mkdirSync(join(storage, "chatSessions"), { recursive: true });
    writeFileSync(join(storage, "workspace.json"), '{"folder":"file:///c%3A/Users/ada/app"}');
    const chat = join(storage, "chatSessions", `${ID}.json`);
    writeFileSync(chat, JSON.stringify(state(request("a")), null, 2));
    const [session] = vscodeChatFormat.sessions(chat);
    expect(session?.header).toMatchObject({
      sessionId: ID,
      title: "A chat",
      cwd: "c:/Users/ada/app",
      metadata: { version: 3, responderUsername: "GitHub Copilot" },
    });
    expect([...(session?.records() ?? [])].filter(({ kind }) => kind === "entry")).toHaveLength(3);
  });

  test("are found by a sync in the folder of the editor, on each system; what other extensions keep is not looked at", async () => {
    const home = tempFolder();
    const put = (...names: readonly string[]) => {
      const folder = join(home, "Code", "User", ...names);
      mkdirSync(folder, { recursive: true });
      fileOf([whole(request(names.join("-"))), ""], `${names.length}.jsonl`, folder);
    };
    put("workspaceStorage", "abc", "chatSessions");
    put("workspaceStorage", "abc", "other.extension", "chatSessions");
    put("globalStorage", "emptyWindowChatSessions");
    const environment = { env: { XDG_CONFIG_HOME: home }, home: "/home/ada", platform: "linux" } as const;
    const { agents } = await syncSessions(await openedStore(), { environment });
    expect(agents).toMatchObject([{ agent: "VS Code Copilot Chat", files: 2, sessions: [{ outcome: "created" }, { outcome: "created" }] }]);
    const foldersOn = (platform: NodeJS.Platform, env = {}) =>
      vscodeChatFormat.agents?.[0]?.folders({ env, home: "/home/ada", platform })[0];
    expect(foldersOn("darwin")).toBe("/home/ada/Library/Application Support/Code/User/workspaceStorage");
    expect(foldersOn("win32", { APPDATA: "/home/ada/roaming" })).toBe("/home/ada/roaming/Code/User/workspaceStorage");
  });

  test("transcripts are read as events, unless the chat is there", async () => {
    const storage = path("workspaceStorage", "abc");
    const folder = join(storage, "GitHub.copilot-chat", "transcripts");
    mkdirSync(folder, { recursive: true });
    const event = (type: string, data: object, parentId: string | null) => ({
      type,
      data,
      id: `${type}-id`,
      timestamp: "2026-01-01T00:00:00Z",
      parentId,
    });
    const lines = [
      event(
        "session.start",
        { sessionId: ID, version: 1, producer: "copilot-agent", vscodeVersion: "1.110.0", context: { cwd: "/home/ada" } },
        null,
      ),
      event("user.message", { content: "hi", attachments: [] }, "session.start-id"),
      event(
        "assistant.message",
        { messageId: "m", content: "Yes.", toolRequests: [{ toolCallId: "c", name: "run", arguments: "{}", type: "function" }] },
        null,
      ),
      event("tool.execution_complete", { toolCallId: "c", success: true, result: { content: "x" } }, "m"),
    ];
    const transcript = fileOf([...lines, ""], `${ID}.jsonl`, folder);
    const store = await openedStore();
    const alone = await importPath(store, storage);
    expect(alone.sessions).toMatchObject([{ sessionId: ID, format: "vscode-chat", entriesAdded: 3 }]);
    mkdirSync(join(storage, "chatSessions"));
    fileOf([whole(request("a")), ""], `${ID}.jsonl`, join(storage, "chatSessions"));
    expect([...vscodeChatFormat.sessions(transcript)]).toEqual([]);
  });
});

const EVERYTHING = [
  whole(
    request("a", metadata([round("r1", "One.", [call("c1", "run", "{}")])], { toolCallResults: { c1: { content: [{ value: "x" }] } } })),
  ),
  set(["inputState"], { text: "x" }),
  push(["requests"], [request("b"), request("c", { response: [] })]),
  push(["requests", 2, "response"], [{ value: "more" }]),
  push(["requests"], [request("d", metadata([round("r2", "Two.")], { summary: { toolCallRoundId: "r1", text: "sum" } }))], 1),
  set(["customTitle"], "Other"),
  { kind: 3, k: ["inputState"] },
  push(["requests"], [request("e", { isCanceled: true })]),
];
