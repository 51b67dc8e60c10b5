import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  importSessionToStore,
  listSessions,
  listSubagents,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk";
import { BoughSessionStore } from "@bough/adapters/claude-agent-sdk";
import { openStore, type Store } from "@bough/session-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, conversation, FOLDER, PROJECT, SESSION, uuid, writeFiles } from "./transcripts.js";

// The SDK's functions over this store, beside the same functions over its store in memory and over local files.

const key = { projectKey: PROJECT, sessionId: SESSION };
const dir = FOLDER;

let config: string;
let store: Store;
let bough: BoughSessionStore;
let memory: InMemorySessionStore;
let before: string | undefined;

beforeEach(async () => {
  config = mkdtempSync(join(tmpdir(), "bough-claude-config-"));
  before = process.env["CLAUDE_CONFIG_DIR"];
  process.env["CLAUDE_CONFIG_DIR"] = config;
  writeFiles(config);
  store = await openStore({ path: ":memory:" });
  bough = new BoughSessionStore(store);
  memory = new InMemorySessionStore();
  for (const sessionStore of [bough, memory]) await importSessionToStore(SESSION, sessionStore, { dir, batchSize: 4 });
});

afterEach(async () => {
  if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"];
  else process.env["CLAUDE_CONFIG_DIR"] = before;
  const violations = [];
  for await (const violation of store.verify()) violations.push(violation);
  await store.close();
  rmSync(config, { recursive: true, force: true });
  expect(violations).toEqual([]);
});

describe("a conversation whose id is in two projects", () => {
  const other = { ...key, projectKey: `${PROJECT}-2` };
  const line = (text: string) => ({ type: "user", uuid: uuid(text.length), message: { role: "user", content: text } });

  test("stays as it is when that of the other project is deleted, and goes on", async () => {
    await bough.append(other, [line("first")]);
    await bough.delete(key);
    for (const opened of [bough, new BoughSessionStore(store)]) {
      expect(await opened.load(key)).toBeNull();
      expect(await opened.load(other)).toEqual([line("first")]);
    }
    await bough.append(other, [line("second one")]);
    expect(await bough.load(other)).toEqual([line("first"), line("second one")]);
    expect((await bough.listSessions(other.projectKey)).map(({ sessionId }) => sessionId)).toEqual([SESSION]);
    await bough.append(key, [line("anew")]);
    expect(await bough.load(key)).toEqual([line("anew")]);
    expect(await bough.load(other)).toHaveLength(2);
  });

  test("a line that is no object, or has no type, is refused, and the transcript stays as it was", async () => {
    for (const bad of ["null", '"text"', "[1]", "7", "{}", '{"uuid":"a","type":3}'])
      await expect(bough.append(key, [JSON.parse(bad)])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await bough.load(key)).toEqual(conversation());
  });
});

describe("a local session that the SDK copies into the store", () => {
  test("is loaded as it is in the file", async () => {
    expect(await bough.load(key)).toEqual(conversation());
    expect(await bough.load({ ...key, subpath: "subagents/agent-x7" })).toEqual(agent());
  });

  test("is not doubled by a second copy", async () => {
    await importSessionToStore(SESSION, bough, { dir });
    expect(await bough.load(key)).toEqual(conversation());
  });

  test("has the messages of the file", async () => {
    const local = await getSessionMessages(SESSION, { dir });
    expect(await getSessionMessages(SESSION, { dir, sessionStore: bough })).toEqual(local);
    expect(local.length).toBeGreaterThan(2);
    const page = { dir, limit: 2, offset: 1, includeSystemMessages: true };
    expect(await getSessionMessages(SESSION, { ...page, sessionStore: bough })).toEqual(await getSessionMessages(SESSION, page));
  });

  test("has the agents of the file and their messages", async () => {
    expect(await listSubagents(SESSION, { dir, sessionStore: bough })).toEqual(["x7"]);
    const wanted = await getSubagentMessages(SESSION, "x7", { dir, sessionStore: memory });
    expect(await getSubagentMessages(SESSION, "x7", { dir, sessionStore: bough })).toEqual(wanted);
  });

  test("is listed with its title", async () => {
    const [found] = await listSessions({ dir, sessionStore: bough });
    expect(found).toMatchObject({ sessionId: SESSION, customTitle: "Tabs in the parser", cwd: FOLDER, gitBranch: "main" });
    const wanted = await getSessionInfo(SESSION, { dir, sessionStore: memory });
    expect(await getSessionInfo(SESSION, { dir, sessionStore: bough })).toEqual({ ...wanted, lastModified: expect.any(Number) });
    expect(await listSessions({ dir: "/elsewhere", sessionStore: bough })).toEqual([]);
  });

  test("can be renamed again and again, and tagged; programs of Bough see both", async () => {
    for (const title of ["Blanks", "Blanks and tabs"]) await renameSession(SESSION, title, { dir, sessionStore: bough });
    await tagSession(SESSION, "lexer", { dir, sessionStore: bough });
    await bough.flush();
    expect(await getSessionInfo(SESSION, { dir, sessionStore: bough })).toMatchObject({ customTitle: "Blanks and tabs", tag: "lexer" });
    const session = await store.openSession(SESSION);
    expect(await session.record()).toMatchObject({ title: "Blanks and tabs" });
    expect(await session.values.get("claude.tag")).toBe("lexer");
  });

  test("keeps a title that a person gave in Bough", async () => {
    await store.renameSession(SESSION, "Mine");
    await renameSession(SESSION, "Theirs", { dir, sessionStore: bough });
    expect(await (await store.openSession(SESSION)).record()).toMatchObject({ title: "Mine" });
  });

  test("can be forked up to a message, into a session of its own", async () => {
    const upToMessageId = uuid(7);
    const made = await forkSession(SESSION, { dir, sessionStore: bough, upToMessageId, title: "Another way" });
    const wanted = await forkSession(SESSION, { dir, sessionStore: memory, upToMessageId, title: "Another way" });
    const textsOf = async (id: string, sessionStore: BoughSessionStore | InMemorySessionStore) =>
      (await getSessionMessages(id, { dir, sessionStore })).map(({ type, message }) => [type, message]);
    expect(await textsOf(made.sessionId, bough)).toEqual(await textsOf(wanted.sessionId, memory));
    await bough.flush();
    expect(await (await store.openSession(made.sessionId)).record()).toMatchObject({ title: "Another way", cwd: FOLDER });
    expect((await listSessions({ dir, sessionStore: bough })).map(({ sessionId }) => sessionId).sort()).toEqual(
      [made.sessionId, SESSION].sort(),
    );
  });

  test("is deleted with its agents", async () => {
    await deleteSession(SESSION, { dir, sessionStore: bough });
    expect(await bough.load(key)).toBeNull();
    expect((await store.listSessions({ kind: "all", empty: true, archived: "all" })).items).toEqual([]);
    await bough.append(key, [...conversation()]);
    expect(await bough.load(key)).toEqual(conversation());
  });

  test("can be searched, and its agent is a child session with its call", async () => {
    await bough.flush();
    expect((await store.search({ query: "set of blanks" })).hits[0]).toMatchObject({ sessionId: SESSION });
    const [child] = (await store.listSessions({ kind: "subagent" })).items;
    expect(child).toMatchObject({
      id: `${SESSION}.x7`,
      title: "Look around",
      parent: { sessionId: SESSION, entryId: uuid(2), toolCallId: "c2" },
    });
  });
});

describe("a store", () => {
  test("answers null for what was never appended", async () => {
    expect(await bough.load({ projectKey: PROJECT, sessionId: "none" })).toBeNull();
    expect(await bough.listSubkeys({ projectKey: PROJECT, sessionId: "none" })).toEqual([]);
  });

  test("keeps projects apart that have a session of one name", async () => {
    const other = { projectKey: "-work-other", sessionId: SESSION };
    await bough.append(other, [{ type: "user", uuid: uuid(1), parentUuid: null, message: { role: "user", content: "other" } }]);
    expect(await bough.load(other)).toHaveLength(1);
    expect(await bough.load(key)).toEqual(conversation());
    await bough.delete(other);
    expect(await bough.load(key)).toEqual(conversation());
  });

  test("lists a conversation once, also after a fork of its whole tree", async () => {
    await store.forkSession(SESSION, { tree: true });
    expect(await bough.listSessions(PROJECT)).toHaveLength(1);
    for (const { id } of (await store.listSessions({ kind: "subagent" })).items) await store.forkSession(id, { tree: true });
    expect(await bough.listSubkeys(key)).toEqual(["subagents/agent-x7"]);
  });

  test("has nothing left to flush after a flush, however many transcripts there were", async () => {
    const place = await openStore({ path: ":memory:" });
    const many = new BoughSessionStore(place);
    const message = { role: "user", content: "hello" };
    for (let at = 0; at < 40; at += 1)
      await many.append({ projectKey: PROJECT, sessionId: `session-${at}` }, [{ type: "user", uuid: uuid(at), parentUuid: null, message }]);
    await many.flush();
    await place.close();
    await many.flush();
  });

  test("keeps odd lines as they are", async () => {
    const odd = { projectKey: PROJECT, sessionId: "22222222-2222-4333-8444-555555555555" };
    const lines = [
      {
        type: "user",
        uuid: "u",
        parentUuid: null,
        message: { role: "user", content: [] },
        "=": { "~": 1 },
        "a.b": [["^"], { $: [0, "x"] }],
      },
      { type: "=", nothing: null, deep: { deeper: { deepest: ["x".repeat(50), "x".repeat(50)] } } },
      { type: "user", uuid: "v", parentUuid: "u", message: "no message", empty: {}, list: [[], {}, [{}]] },
      { type: "assistant", uuid: "w", parentUuid: "missing", message: { content: [{ type: "text", text: "é\u0000\ud800" }] } },
      { type: "user", uuid: "u", parentUuid: "w", message: { role: "user", content: "the same uuid" } },
    ];
    for (const line of lines) await bough.append(odd, [line]);
    expect(await bough.load(odd)).toEqual(lines);
    await bough.flush(odd);
    expect(await bough.load(odd)).toEqual(lines);
    expect(await new BoughSessionStore(store).load(odd)).toEqual(lines);
  });

  test("an append that fails writes nothing, and the next one works", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    await expect(bough.append(key, [{ type: "user", uuid: uuid(900), parentUuid: null, circular }])).rejects.toThrow();
    await bough.append(key, [{ type: "tag", tag: "after" }]);
    expect(await bough.load(key)).toEqual([...conversation(), { type: "tag", tag: "after" }]);
  });
});
