import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { BoughSessionStore } from "@bough/adapters/claude-agent-sdk";
import { findOrphanedSessions, importPath, syncSessions } from "@bough/formats";
import { type Entry, openStore, type Store } from "@bough/session-core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runs } from "../../../.ci/test-runs.js";
import { agent, conversation, PROJECT, SESSION, TranscriptWriter, writeFiles } from "./transcripts.js";

const key = { projectKey: PROJECT, sessionId: SESSION };
const agentKey = { ...key, subpath: "subagents/agent-x7" };

let folder: string;
let stores: Store[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-claude-sdk-"));
  stores = [];
});
afterEach(async () => {
  for (const store of stores) {
    const violations = [];
    for await (const violation of store.verify()) violations.push(violation);
    expect(violations).toEqual([]);
  }
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(path = ":memory:"): Promise<Store> {
  const store = await openStore({ path });
  stores.push(store);
  return store;
}

/** The entries of a session by id, without their numbers in the store. */
async function entriesOf(store: Store, id: string): Promise<ReadonlyMap<string, object>> {
  const session = await store.openSession(id);
  const found = new Map<string, object>();
  for await (const { seq: _seq, ...entry } of session.entries()) found.set(entry.id, entry satisfies Omit<Entry, "seq">);
  return found;
}

async function sessionOf(store: Store, id: string) {
  const session = await store.openSession(id);
  const { title, titleSource, kind, parent, cwd, createdAtMs, entryCount, messageCount } = await session.record();
  const { usage } = await session.statistics();
  return {
    title,
    titleSource,
    kind,
    parent,
    cwd,
    createdAtMs,
    entryCount,
    messageCount,
    usage,
    leaf: session.leafId,
    entries: await entriesOf(store, id),
  };
}

async function importedStore(lines?: readonly SessionStoreEntry[]): Promise<Store> {
  const store = await opened();
  await importPath(store, writeFiles(folder, SESSION, lines));
  return store;
}

async function mirror(store: Store, batches: readonly (readonly SessionStoreEntry[])[]): Promise<BoughSessionStore> {
  const sessions = new BoughSessionStore(store);
  for (const batch of batches) await sessions.append(key, [...batch]);
  await sessions.append(agentKey, [...agent()]);
  await sessions.flush();
  return sessions;
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 });

function batchesOf(lines: readonly SessionStoreEntry[], ends: readonly number[]) {
  const places = [...new Set(ends.map((end) => Math.floor(end * lines.length)))].sort((a, b) => a - b);
  return [0, ...places].map((place, at) => lines.slice(place, places[at] ?? lines.length));
}

describe("a mirrored session", () => {
  test("is the session that an import makes of the same transcript, however the lines are split into batches", async () => {
    const wanted = await importedStore();
    const [main, child] = [await sessionOf(wanted, SESSION), await sessionOf(wanted, `${SESSION}.x7`)];
    await fc.assert(
      fc.asyncProperty(shares, async (ends) => {
        const store = await openStore({ path: ":memory:" });
        const sessions = await mirror(store, batchesOf(conversation(), ends));
        expect(await sessionOf(store, SESSION)).toEqual(main);
        expect(await sessionOf(store, `${SESSION}.x7`)).toEqual(child);
        expect(await sessions.load(key)).toEqual(conversation());
        expect(await new BoughSessionStore(store).load(key)).toEqual(conversation());
        await store.close();
      }),
      { numRuns: runs(40) },
    );
  });

  test("is not changed by an import of its files", async () => {
    const store = await opened();
    await mirror(store, [conversation()]);
    const { sessions } = await importPath(store, writeFiles(folder));
    expect(sessions.map(({ sessionId, outcome, entriesAdded }) => [sessionId, outcome, entriesAdded])).toEqual([
      [SESSION, "unchanged", 0],
      [`${SESSION}.x7`, "unchanged", 0],
    ]);
    expect((await store.listSessions({ kind: "all" })).items).toHaveLength(2);
  });

  test("is the session that a sync finds in its files, whole or while both grow", async () => {
    const store = await opened();
    const environment = { env: { CLAUDE_CONFIG_DIR: folder }, home: folder, platform: process.platform };
    const sessions = new BoughSessionStore(store);
    for (const [at, line] of conversation().entries()) {
      await sessions.append(key, [line]);
      writeFiles(folder, SESSION, conversation().slice(0, at + 1));
      await syncSessions(store, { environment });
    }
    await sessions.append(agentKey, [...agent()]);
    await sessions.flush();
    const { agents } = await syncSessions(store, { environment });
    expect(agents.flatMap((each) => each.sessions).map(({ entriesAdded }) => entriesAdded)).toEqual(expect.not.arrayContaining([1]));
    const wanted = await importedStore();
    const texts = async (from: Store) => (await (await from.openSession(SESSION)).context()).messages;
    expect(await texts(store)).toEqual(await texts(wanted));
    expect((await store.listSessions({ kind: "all" })).items).toHaveLength(2);
    expect(await findOrphanedSessions(store)).toEqual(new Set());
  });

  test("counts the usage of a reply of three lines once", async () => {
    const store = await opened();
    await mirror(
      store,
      conversation().map((line) => [line]),
    );
    const { usage } = await (await store.openSession(SESSION)).statistics();
    expect(usage).toMatchObject([{ replies: 5, outputTokens: 5 * 50 }]);
  });

  test("goes on after another object has read it from the store, in the middle of a reply", async () => {
    const wanted = await sessionOf(await importedStore(), SESSION);
    const store = await opened();
    for (const line of conversation()) await new BoughSessionStore(store).append(key, [line]);
    await new BoughSessionStore(store).append(agentKey, [...agent()]);
    await new BoughSessionStore(store).flush(key);
    expect(await sessionOf(store, SESSION)).toEqual(wanted);
  });

  test("has the lines of a reply that is still written, before their entry", async () => {
    const store = await opened();
    const sessions = new BoughSessionStore(store);
    const begun = conversation().slice(0, 4);
    await sessions.append(key, [...begun]);
    expect(await sessions.load(key)).toEqual(begun);
    expect([...(await entriesOf(store, SESSION)).values()]).toMatchObject([{ type: "foreign" }, { message: { role: "user" } }]);
  });
});

describe("an imported session", () => {
  test("stays one session when the SDK appends the same transcript", async () => {
    const store = await importedStore();
    const before = await sessionOf(store, SESSION);
    const sessions = await mirror(store, batchesOf(conversation(), [0.2, 0.5, 0.7]));
    expect(await sessionOf(store, SESSION)).toEqual(before);
    expect(await sessions.load(key)).toEqual(conversation());
    expect((await store.listSessions({ kind: "all" })).items).toHaveLength(2);
  });

  test("that was read in the middle of a reply stays one session", async () => {
    const store = await importedStore(conversation().slice(0, 4));
    const sessions = await mirror(
      store,
      conversation().map((line) => [line]),
    );
    expect(await sessions.load(key)).toEqual(conversation());
    const session = await store.openSession(SESSION);
    const path = await session.path();
    expect(path.at(-1)).toMatchObject({ message: { content: [{ text: "The lexer takes tabs now." }] } });
    expect((await store.listSessions({ kind: "all" })).items).toHaveLength(2);
  });

  test("goes on with lines that the SDK appends after it", async () => {
    const store = await importedStore();
    const writer = new TranscriptWriter(SESSION, undefined, 100);
    writer.user("And spaces?", conversation().at(-1)?.uuid ?? null);
    writer.text("m9", "They work.");
    await new BoughSessionStore(store).append(key, writer.lines);
    const path = await (await store.openSession(SESSION)).path();
    expect(path.slice(-3)).toMatchObject([
      { message: { role: "assistant" } },
      { message: { content: "And spaces?" } },
      { message: { role: "assistant" } },
    ]);
  });
});

describe("two stores on one file", () => {
  test("lose no line when they append at once, and the summary has the last title", async () => {
    const path = join(folder, "sessions.db");
    const [one, other] = [new BoughSessionStore(await opened(path)), new BoughSessionStore(await opened(path))];
    const writers = [new TranscriptWriter(SESSION, undefined, 1000), new TranscriptWriter(SESSION, undefined, 2000)];
    await one.append(key, [...conversation()]);
    const work = [one, other].map(async (sessions, at) => {
      const writer = writers[at] ?? new TranscriptWriter();
      for (let number = 0; number < 8; number += 1) {
        const from = writer.lines.length;
        writer.user(`question ${number} of ${at}`, writer.last ?? conversation().at(-1)?.uuid ?? null);
        writer.text(`t${at}.${number}`, `answer ${number} of ${at}`);
        await sessions.append(key, writer.lines.slice(from));
      }
    });
    await Promise.all(work);
    await one.append(key, [{ type: "custom-title", customTitle: "Both", sessionId: SESSION }]);
    const lines = (await other.load(key)) ?? [];
    expect(lines).toHaveLength(conversation().length + 2 * 16 + 1);
    expect(new Set(lines.map((line) => line.uuid ?? JSON.stringify(line))).size).toBe(lines.length);
    expect(await other.listSessionSummaries(PROJECT)).toMatchObject([{ sessionId: SESSION, data: { customTitle: "Both" } }]);
    for (const writer of writers) expect(lines.filter((line) => writer.lines.some(({ uuid }) => uuid === line.uuid))).toEqual(writer.lines);
  });

  test("append although the other one was faster a hundred times", async () => {
    const path = join(folder, "sessions.db");
    const slow = await opened(path);
    const [one, other] = [new BoughSessionStore(slow), new BoughSessionStore(await opened(path))];
    await one.append(key, [...conversation()]);
    const faster = new TranscriptWriter(SESSION, undefined, 1000);
    const importSession = slow.importSession.bind(slow);
    let left = 100;
    slow.importSession = async (...parameters) => {
      if (left > 0) {
        faster.user(`question ${left--}`, faster.last ?? conversation().at(-1)?.uuid ?? null);
        await other.append(key, faster.lines.slice(-1));
      }
      return importSession(...parameters);
    };
    const last = new TranscriptWriter(SESSION, undefined, 2000);
    last.user("the slow one", conversation().at(-1)?.uuid ?? null);
    await one.append(key, last.lines);
    expect(left).toBe(0);
    expect((await one.load(key))?.slice(conversation().length)).toEqual([...faster.lines, ...last.lines]);
  });
});
