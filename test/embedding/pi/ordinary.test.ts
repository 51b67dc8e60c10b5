import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BoughPiStorage, BoughSessionRepo } from "@bough/adapters/pi";
import { exportBough, exportPi, importPath, syncSessions } from "@bough/formats";
import { assistantMessage, openStore, type Store, userMessage } from "@bough/session-core";
import { BACKGROUND_CONTEXT as HERE } from "@earendil-works/pi-agent-core/harness/context";
import { NodeExecutionEnv } from "@earendil-works/pi-agent-core/harness/env/nodejs";
import {
  appendList,
  branchTip,
  type CommitResult,
  entryLabel,
  insertEntry,
  JsonlSessionRepo,
  list,
  type NewEntry,
  type Session,
  setValue,
  value,
} from "@earendil-works/pi-agent-core/harness/session";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realSession } from "../../../.ci/real-sessions.mjs";

// A session of pi is an ordinary session of Bough, and the other way round.

let folder: string;
let store: Store;
let repo: BoughSessionRepo;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "bough-pi-"));
  store = await openStore({ path: join(folder, "sessions.db") });
  repo = new BoughSessionRepo(store);
});
afterEach(async () => {
  await repo.close(HERE);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 12, output: 3, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { ...NO_COST, total: 0.25 } };

function user(text: string) {
  return { role: "user" as const, content: [{ type: "text" as const, text }], timestamp: 1 };
}

function reply(text: string) {
  const from = { api: "anthropic-messages" as const, provider: "anthropic", model: "claude" };
  return {
    role: "assistant" as const,
    content: [{ type: "text" as const, text }],
    ...from,
    usage: USAGE,
    stopReason: "stop" as const,
    timestamp: 2,
  };
}

async function conversation(session: Session, ...texts: readonly string[]): Promise<readonly string[]> {
  const branch = (await session.branch("main", HERE)) ?? (await session.createBranch("main", null, HERE));
  const ids: string[] = [];
  for (const [at, text] of texts.entries()) ids.push(await branch.appendMessage(at % 2 === 0 ? user(text) : reply(text), HERE));
  return ids;
}

function commit(session: Session, ...writes: Parameters<BoughPiStorage["commit"]>[0]): Promise<CommitResult> {
  return session.mutate((mutator) => mutator.commit(writes, HERE), HERE);
}

describe("a session that pi wrote", () => {
  test("is the session that a sync finds in pi's file of it: the same ids, and nothing is added", async () => {
    const pi = await repo.create({ cwd: folder }, HERE);
    const ids = await conversation(pi, "What is a tab?", "Nine.", "Why?", "Tradition.");
    const lines: string[] = [];
    for await (const line of exportPi(await store.openSession(pi.metadata.id))) lines.push(line);
    mkdirSync(join(folder, "sessions"));
    writeFileSync(join(folder, "sessions", `2026-01-01T00-00-00-000Z_${pi.metadata.id}.jsonl`), lines.join(""));
    const environment = { env: { PI_CODING_AGENT_DIR: folder }, home: folder, platform: process.platform };
    const { agents } = await syncSessions(store, { agents: ["pi"], environment });
    const [session] = agents.flatMap((agent) => agent.sessions);
    expect(session).toMatchObject({ sessionId: pi.metadata.id, outcome: "unchanged", entriesAdded: 0, entriesKnown: ids.length });
    expect((await store.listSessions({ kind: "all" })).items).toHaveLength(1);
    expect((await (await store.openSession(pi.metadata.id)).path()).map(({ id }) => id)).toEqual(ids);
  });

  test("is a tree of messages with usage; name, labels and branches of pi are title, labels and leaves", async () => {
    const pi = await repo.create({ id: "s", cwd: "/work" }, HERE);
    const [question = ""] = await conversation(pi, "Tabs?", "Eight.");
    await pi.createBranch("other", question, HERE);
    await (await pi.branch("other", HERE))?.appendMessage(reply("Four."), HERE);
    await pi.setName("Width of tabs", HERE);
    await pi.setLabel(question, "start", HERE);

    const session = await store.openSession("s");
    expect(await session.record()).toMatchObject({ title: "Width of tabs", cwd: "/work", entryCount: 3, messageCount: 3 });
    expect(await session.labels.list()).toMatchObject([{ entryId: question, label: "start" }]);
    expect((await session.leaves()).map(({ name }) => name)).toEqual(["main", "other"]);
    expect(await session.tree.branchPoints()).toMatchObject([{ id: question }]);
    expect((await session.statistics()).usage).toMatchObject([{ model: "claude", replies: 2, inputTokens: 24, costUsd: 0.5 }]);
    expect(await session.leafMoves()).toEqual([]);
    for await (const violation of store.verify()) throw new Error(violation.message);
  });

  test("goes on where Bough left it: entries, a moved leaf and labels of another program", async () => {
    const pi = await repo.create({ id: "s" }, HERE);
    const [question = ""] = await conversation(pi, "Tabs?", "Eight.");
    const session = await store.openSession("s");
    await session.moveLeaf(question);
    const answer = await session.append(assistantMessage("Four."));
    await session.labels.set(answer.id, "better");

    const branch = await pi.branch("main", HERE);
    expect(await branch?.getTipId(HERE)).toBe(answer.id);
    expect(await pi.getLabel(answer.id, HERE)).toBe("better");
    await branch?.appendMessage(user("Thanks."), HERE);
    const path = (await branch?.findEntries({ order: "oldestFirst" }, HERE)) ?? [];
    expect(path.map((entry) => (entry.type === "message" ? entry.message.role : entry.type))).toEqual(["user", "assistant", "user"]);
    expect(path.map(({ seq }) => seq)).toEqual([...path.map(({ seq }) => seq)].sort((a, b) => a - b));
    expect((await pi.getStats(HERE)).messageCount).toBe(4);
    expect((await session.refresh()) === path.at(-1)?.id).toBe(true);
  });

  test("is a file that pi reads, after an export", async () => {
    const pi = await repo.create({ id: "0197a1b2-0000-7000-8000-000000000001", cwd: folder }, HERE);
    await conversation(pi, "Tabs?", "Eight.", "Sure?", "Yes.");
    await pi.setName("Tabs", HERE);
    const sessionsRoot = join(folder, "pi");
    const files = new JsonlSessionRepo({ fileSystem: new NodeExecutionEnv({ cwd: folder }), sessionsRoot });
    // pi itself makes the folder for this working directory.
    await (await files.create({ cwd: folder }, HERE)).close(HERE);
    const [directory = ""] = readdirSync(sessionsRoot);
    const lines: string[] = [];
    for await (const line of exportPi(await store.openSession(pi.metadata.id))) lines.push(line);
    writeFileSync(join(sessionsRoot, directory, `2026-01-01T00-00-00-000Z_${pi.metadata.id}.jsonl`), lines.join(""));

    const metadata = (await files.list({ cwd: folder }, HERE)).find(({ id }) => id === pi.metadata.id);
    if (metadata === undefined) throw new Error("pi does not list the file");
    const read = await files.open(metadata, HERE);
    const messages = async (session: Session) =>
      ((await (await session.branch("main", HERE))?.findEntries({ order: "oldestFirst", type: "message" }, HERE)) ?? []).map((entry) =>
        entry.type === "message" ? entry.message : undefined,
      );
    expect(await messages(read)).toEqual(await messages(pi));
    expect(await read.getName(HERE)).toBe("Tabs");
    await read.close(HERE);
  });

  test("keeps its numbers in order after it was exported from one store and imported into another", async () => {
    await (await store.createSession()).write(Array.from({ length: 50 }, () => ({ kind: "entry", entry: userMessage("filler") })));
    const pi = await repo.create({ id: "s" }, HERE);
    await conversation(pi, "Tabs?", "Eight.");
    const notes = list<string>("app.notes");
    for (const note of ["one", "two"]) await pi.appendList(notes, note, HERE);
    const file = join(folder, "s.jsonl");
    const lines: string[] = [];
    for await (const line of exportBough(await store.openSession("s"))) lines.push(line);
    writeFileSync(file, lines.join(""));

    const other = await openStore({ path: join(folder, "other.db") });
    await importPath(other, file);
    const copy = await new BoughSessionRepo(other).open({ id: "s" });
    const before = await copy.readList(notes, undefined, HERE);
    expect(before.map((element) => element.value)).toEqual(["one", "two"]);
    const { seqs } = await commit(
      copy,
      insertEntry({ id: "next", parentId: null, type: "custom", customType: "x" }),
      setValue(value("app"), 1),
    );
    expect(seqs[0]).toBeGreaterThan(before.at(-1)?.seq ?? Number.POSITIVE_INFINITY);
    expect((await copy.getEntry("next", HERE))?.seq).toBe(seqs[0]);
    await copy.close(HERE);
    await other.close();
  });
});

describe("what pi gives is kept", () => {
  test("values and elements larger than 64 KiB", async () => {
    const pi = await repo.create({}, HERE);
    const [big, notes] = [value<string>("app.big"), list<string>("app.notes")];
    const text = "ü".repeat(200_000);
    await pi.setValue(big, text, HERE);
    await pi.appendList(notes, text, HERE);
    expect((await pi.getValue(big, HERE))?.value).toBe(text);
    expect((await pi.readList(notes, undefined, HERE)).map((element) => element.value)).toEqual([text]);
  });

  test.each<[string, object]>([
    ["of a role that an application defined", { role: "artifact", name: "plan", timestamp: 5 }],
    ["with a block of a type that is not pi's", { role: "user", content: [{ type: "video", url: "x" }], timestamp: 5 }],
    [
      "with an image that is not base64",
      { role: "user", content: [{ type: "image", data: "http://x/y.png", mimeType: "image/png" }], timestamp: 5 },
    ],
  ])("a message %s", async (_what, message) => {
    const pi = await repo.create({}, HERE);
    const branch = await pi.createBranch("main", null, HERE);
    // An application declares such messages by merging into pi's types.
    const id = await branch.appendMessage(message as ReturnType<typeof user>, HERE);
    expect(await pi.getEntry(id, HERE)).toMatchObject({ type: "message", message });
    expect(await pi.findEntries({ type: "message" }, HERE)).toHaveLength(1);
    expect(await pi.getStats(HERE)).toMatchObject({ messageCount: 1 });
  });

  test("a compaction whose tail is not on the path, and one with details and usage", async () => {
    const pi = await repo.create({}, HERE);
    const [, parentId = ""] = await conversation(pi, "Tabs?", "Eight.");
    const shared = { type: "compaction" as const, summary: "Tabs.", tokensBefore: 9, fromHook: true };
    const given: NewEntry[] = [
      { ...shared, id: "own", parentId, retainedTail: [user("told otherwise")], details: { files: ["a"] }, usage: USAGE },
      { ...shared, id: "none", parentId, retainedTail: [] },
    ];
    for (const entry of given) await commit(pi, insertEntry(entry));
    const read = await pi.getEntries(["own", "none"], HERE);
    for (const entry of given) expect(read.get(entry.id)).toMatchObject(entry);
  });
});

describe("errors are those of pi", () => {
  test.each<[string, RegExp, (pi: Session) => Promise<unknown>]>([
    ["an id that is taken", /^Session already exists: s$/, () => repo.create({ id: "s" }, HERE)],
    ["a session that is open", /^Session is already open: s$/, () => repo.open({ id: "s" })],
    ["deleting a session that is open", /^Session is open: s$/, () => repo.delete({ id: "s" })],
    ["a session that is not there", /^Unknown session: t$/, () => repo.open({ id: "t" })],
    ["deleting what is not there", /^Unknown session: t$/, () => repo.delete({ id: "t" })],
    ["forking what is not there", /^Unknown session: t$/, () => repo.fork({ id: "t" }, { scope: "tree" })],
    ["a branch that is not there", /^Unknown source branch: x$/, () => repo.fork({ id: "s" }, { scope: "branch", branch: "x" })],
    [
      "a parent that is not there",
      /^Missing parent entry: gone$/,
      (pi) => commit(pi, insertEntry({ id: "n", parentId: "gone", type: "custom", customType: "x" })),
    ],
    [
      "an id of an entry that is taken",
      /^Duplicate entry or usage id: e$/,
      (pi) => commit(pi, insertEntry({ id: "e", parentId: null, type: "custom", customType: "x" })),
    ],
    ["a path that is not there", /^Unknown branch start: gone$/, (pi) => pi.scanBranch({ start: "gone" }, HERE)],
    ["a tip that is not there", /^Missing parent entry: gone$/, (pi) => commit(pi, setValue(branchTip("main"), "gone"))],
  ])("%s", async (_what, message, work) => {
    const pi = await repo.create({ id: "s" }, HERE);
    await commit(pi, insertEntry({ id: "e", parentId: null, type: "custom", customType: "x" }));
    await expect(work(pi)).rejects.toThrow(message);
    await pi.setLabel("of nothing", "kept for pi", HERE);
    expect((await pi.getValue(entryLabel("of nothing"), HERE))?.value).toBe("kept for pi");
  });
});

const SESSIONS = realSession("pi");

describe("a session that Bough imported", () => {
  test("keeps after a compaction what the compaction names, in the order of its list", async () => {
    const session = await store.createSession({ id: "codex" });
    await session.append([userMessage("First?"), assistantMessage("One."), userMessage("Second?"), assistantMessage("Two.")]);
    const [first, , second] = await session.path();
    const keptEntryIds = [second?.id ?? "", first?.id ?? "", null];
    const { id } = await session.append({ type: "compaction", summary: "Tabs.", firstKeptEntryId: first?.id ?? "", keptEntryIds });
    const pi = await repo.open({ id: "codex" });
    expect(await pi.getEntry(id, HERE)).toMatchObject({ retainedTail: [{ content: "Second?" }, { content: "First?" }] });
  });

  test("opens with its tree, name, labels, model and compactions", async () => {
    const entry = (id: string, parentId: string | null, rest: object) => ({ id, parentId, timestamp: "2026-01-01T00:00:00.000Z", ...rest });
    const message = (text: string, at: number) => ({ type: "message", message: at % 2 === 0 ? user(text) : reply(text) });
    const lines = [
      { type: "session", version: 3, id: "old", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/work" },
      entry("e1", null, { type: "model_change", provider: "anthropic", modelId: "claude" }),
      entry("e2", "e1", message("First?", 0)),
      entry("e3", "e2", message("One.", 1)),
      entry("e4", "e3", message("Second?", 0)),
      entry("e5", "e4", { type: "compaction", summary: "It counted.", firstKeptEntryId: "e3", tokensBefore: 10 }),
      entry("e6", "e5", { type: "custom_message", customType: "note", content: "Count on.", display: true }),
      entry("e7", "e6", { type: "label", targetId: "e2", label: "begin" }),
      entry("e8", "e7", { type: "session_info", name: "Counting" }),
    ];
    const file = join(folder, "old.jsonl");
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await importPath(store, file);
    expect(await repo.list()).toEqual([]);
    const [metadata] = await repo.listSessions({ all: true });
    expect(metadata).toMatchObject({ id: "old", cwd: "/work", createdAt: Date.parse("2026-01-01") });

    const pi = await repo.open({ id: "old" });
    expect(await repo.list()).toEqual([metadata]);
    expect(await pi.getName(HERE)).toBe("Counting");
    expect(await pi.getLabel("e2", HERE)).toBe("begin");
    expect(await pi.getValue(value("pi.lane.config", "main"), HERE)).toMatchObject({
      value: { model: { provider: "anthropic", modelId: "claude" } },
    });
    const path = (await (await pi.branch("main", HERE))?.findEntries({ order: "oldestFirst" }, HERE)) ?? [];
    expect(path.map(({ type, customType }) => customType ?? type)).toEqual([
      "model_change",
      "message",
      "message",
      "message",
      "compaction",
      "message",
    ]);
    expect(path[4]).toMatchObject({
      type: "compaction",
      retainedTail: [reply("One."), user("Second?")],
      tokensBefore: 10,
      fromHook: false,
    });
    expect(path[5]).toMatchObject({ message: { role: "custom", customType: "note", content: "Count on.", display: true } });
    expect((await pi.getStats(HERE)).messageCount).toBe(4);
    await conversation(pi, "Third?");
    expect((await store.openSession("old")).leafId).toBe(await (await pi.branch("main", HERE))?.getTipId(HERE));
  });

  test.runIf(existsSync(SESSIONS))("real files of pi open and go on", async () => {
    for (const name of readdirSync(SESSIONS)) {
      const { sessions } = await importPath(store, join(SESSIONS, name));
      for (const { sessionId } of sessions) {
        const pi = await repo.open({ id: sessionId });
        const branch = await pi.branch("main", HERE);
        const session = await store.openSession(sessionId);
        expect((await branch?.findEntries({ order: "oldestFirst" }, HERE))?.length).toBe((await session.path()).length);
        await branch?.appendMessage(user("Go on."), HERE);
        expect((await session.context()).messages.at(-1)).toMatchObject({ role: "user" });
        await pi.close(HERE);
      }
    }
    for await (const violation of store.verify()) throw new Error(violation.message);
  });
});

describe("a commit", () => {
  test("is written although another writer was faster a hundred times", async () => {
    const session = await store.createSession({ id: "busy" });
    const slow = await BoughPiStorage.open(store, session);
    const fast = await BoughPiStorage.open(store, await store.openSession("busy"));
    const write = session.write.bind(session);
    let left = 100;
    session.write = async (batch) => {
      if (left > 0) await fast.commit([appendList(list("app.turns"), left--)]);
      return write(batch);
    };
    await slow.commit([appendList(list("app.turns"), 0)]);
    const turns = await fast.readList(list("app.turns"), { limit: 1000 });
    expect(turns.map((turn) => turn.value)).toEqual(Array.from({ length: 101 }, (_one, at) => 100 - at));
  });
});
