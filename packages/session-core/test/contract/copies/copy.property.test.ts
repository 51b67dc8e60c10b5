import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { assistantMessage, userMessage } from "../../../src/entry/builders.js";
import { SessionNotFoundError } from "../../../src/errors/session-errors.js";
import type { CopiedEntry, CopiedState } from "../../../src/port/session-copy.js";
import { type CopyOptions, copySessions } from "../../../src/store/copy-sessions.js";
import type { Store } from "../../../src/store/store.js";
import { grow, plant } from "../../world/grow.js";
import { oldStore } from "../../world/old-stores.js";
import { findingsOf, openedStore, raw, storePath } from "../../world/stores.js";
import { type Step, steps, TreeModel } from "../../world/tree-model.js";

/** All that a store has of its sessions, except the row numbers, in the order of their ids. */
async function contents(store: Store) {
  const { items } = await store.listSessions({ kind: "all", archived: "all", empty: true });
  const ids = items.map(({ id }) => id).toSorted();
  return Promise.all(ids.map(async (id) => ({ ...(await stateOf(store, id)), row: { id }, entries: await entriesOf(store, id) })));
}

async function stateOf(store: Store, id: string): Promise<CopiedState> {
  const state = await store.storage.copies.state(id);
  if (state === undefined) throw new SessionNotFoundError(id);
  return state;
}

async function entriesOf(store: Store, id: string): Promise<readonly CopiedEntry[]> {
  const all: CopiedEntry[] = [];
  for (;;) {
    const part = await store.storage.copies.entries(id, all.length, Number.MAX_SAFE_INTEGER);
    if (part.length === 0) return all;
    all.push(...part);
  }
}

/** A text of random characters, which no server can make shorter for its index. */
function incompressible(length: number): string {
  const random = randomOf(4);
  return Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(random() * 20_000))).join("");
}

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const outcomes = async (from: Store, to: Store, options?: CopyOptions) =>
  Object.fromEntries((await copySessions(from, to, options)).sessions.map((one) => [one.sessionId, one.difference ?? one.outcome]));

/** A store with two sessions and a subagent of the first, which have all that a session can have. */
async function filled(given?: Store): Promise<Store> {
  const store = given ?? (await openedStore());
  const { session } = await grow("s1 u1 k1 r1:k1 a1 @u1 a2 u2 c1:u2 u3 x1:a2 m1 h1 d1 n1", {
    store,
    session: { id: "main", cwd: "/home/ada/project", metadata: { owner: "u7", 2: [1], 1: 1.5 } },
  });
  await session.undoMove();
  await session.redoMove();
  await session.labels.set("u2", "here");
  await session.values.set("small", { "2": 1, "1": [null] });
  await session.values.set("large", "x".repeat(100_000));
  await session.tokenCounts.save("o200k/1", new Map([["u1", 3]]));
  await (await store.openSession("main", { leaf: "other" })).append({ type: "custom", customType: "data", data: {} });
  await store.createSession({ id: "agent", kind: "subagent", parent: { sessionId: "main", entryId: "k1", toolCallId: "k1" } });
  await (await store.openSession("agent")).append({
    type: "message",
    message: {
      role: "bashExecution",
      command: "ls",
      output: "",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      excludeFromContext: true,
    },
  });
  const fork = await store.forkSession("main", { title: "Fork\u0000 of it", id: "fork" });
  await plant(fork, "u9 a9");
  await store.archiveSession("fork", true);
  await store.createSession({ id: "empty" });
  return store;
}

describe("a copy of a store", () => {
  test("has everything that the source has", async () => {
    const [from, to] = [await filled(), await openedStore()];
    expect(await outcomes(from, to)).toEqual({ main: "copied", agent: "copied", fork: "copied", empty: "copied" });
    expect(await contents(to)).toEqual(await contents(from));
    expect(await to.statistics()).toEqual(await from.statistics());
    expect(await findingsOf(to)).toEqual([]);
  });

  test("copied back is the same", async () => {
    const [file, back] = [{ path: ":memory:" }, await openedStore({ path: ":memory:" })];
    const [from, to] = [await filled(await openedStore(file)), await openedStore()];
    await copySessions(from, to);
    await copySessions(to, back);
    expect(await contents(back)).toEqual(await contents(from));
    expect(await findingsOf(back)).toEqual([]);
  });

  test("goes on as the source does, whatever its tree", async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, after) => {
        const [from, to] = [await openedStore(), await openedStore()];
        await from.createSession({ id: "tree" });
        const model = new TreeModel();
        await take(from, model, before);
        await copySessions(from, to);
        expect(await contents(to)).toEqual(await contents(from));
        await take(to, copyOf(model), after);
        await take(from, model, after);
        expect(await withoutTimes(to)).toEqual(await withoutTimes(from));
        expect(await findingsOf(to)).toEqual([]);
      }),
      { numRuns: runs(20) },
    );
  });
});

function copyOf({ parents, leaf }: TreeModel): TreeModel {
  const copy = new TreeModel();
  for (const [id, parent] of parents) copy.parents.set(id, parent);
  copy.leaf = leaf;
  return copy;
}

/** Does steps in the session `tree`. */
async function take(store: Store, model: TreeModel, next: readonly Step[]): Promise<void> {
  const session = await store.openSession("tree");
  for (const step of next) {
    const word = model.take(step);
    if (word === "undo") await session.undoMove();
    else if (word === "redo") await session.redoMove();
    else if (word !== undefined) await plant(session, word);
    model.leaf = session.leafId;
  }
}

async function withoutTimes(store: Store) {
  return (await contents(store)).map(({ entries, leaves, moves }) => ({
    entries: entries.map(({ createdAtMs: _at, ...entry }) => entry),
    leaves,
    moves: moves.map(({ movedAtMs: _at, ...move }) => move),
  }));
}

describe("a copy into a store that has sessions", () => {
  test("leaves those that are equal, and those that differ", async () => {
    const [from, to] = [await filled(), await openedStore()];
    await copySessions(from, to);
    await to.renameSession("main", "Mine");
    await plant(await from.openSession("fork"), "u10");
    const before = await contents(to);
    expect(await outcomes(from, to)).toEqual({
      main: "other title, titleSource",
      agent: "unchanged",
      fork: "1 entry fewer there, other leaves, activeAtMs",
      empty: "unchanged",
    });
    expect(await contents(to)).toEqual(before);
  });

  test("brings them to the state of the source if asked to", async () => {
    const [from, to] = [await filled(), await openedStore()];
    await copySessions(from, to);
    await to.renameSession("main", "Mine");
    await (await to.openSession("main")).values.set("theirs", 1);
    await plant(await from.openSession("fork"), "u10 @u1 a11");
    expect(await outcomes(from, to, { update: true })).toMatchObject({ main: "updated", agent: "unchanged", fork: "updated" });
    expect(await contents(to)).toEqual(await contents(from));
    expect(await findingsOf(to)).toEqual([]);
  });

  test("never touches a session with other entries", async () => {
    const [from, to] = [await openedStore(), await openedStore()];
    await grow("u1 a1 u2", { store: from, session: { id: "s" } });
    await grow("u1 a2", { store: to, session: { id: "s" } });
    const before = await contents(to);
    expect(await outcomes(from, to, { update: true })).toEqual({ s: "other entries" });
    await plant(await to.openSession("s"), "a3 u3");
    expect((await copySessions(from, to, { update: true })).sessions).toMatchObject([{ outcome: "different" }]);
    expect((await contents(to))[0]?.entries.slice(0, 2)).toEqual(before[0]?.entries);
  });

  test("only says what it would do, when asked to", async () => {
    const [from, to] = [await filled(), await openedStore()];
    expect(await outcomes(from, to, { dryRun: true })).toMatchObject({ main: "copied", empty: "copied" });
    expect(await contents(to)).toEqual([]);
  });

  test("takes the sessions that are named, with their subagents", async () => {
    const [from, to] = [await filled(), await openedStore()];
    expect(await outcomes(from, to, { sessions: ["main"] })).toEqual({ main: "copied", agent: "copied" });
    await expect(copySessions(from, to, { sessions: ["empty", "nothing"] })).rejects.toThrow(SessionNotFoundError);
    expect(await to.findSession("empty")).toBeUndefined();
  });
});

describe("a copy that ends early", () => {
  async function long(length = 1200): Promise<Store> {
    const store = await openedStore();
    const entry = (at: number) => ({ kind: "entry" as const, entry: { type: "custom" as const, customType: "n", data: at } });
    const writes = Array.from({ length }, (_, at) => entry(at));
    await store.createSession({ id: "long", metadata: { owner: "u7" }, title: "Long" }, { writes });
    return store;
  }

  test("goes on at the part where it ended", async () => {
    const [from, to] = [await long(), await openedStore()];
    const ending = new AbortController();
    const stopped = copySessions(from, to, { signal: ending.signal, onProgress: () => ending.abort(new Error("stopped")) });
    await expect(stopped).rejects.toThrow("stopped");
    expect(await to.findSession("long")).toMatchObject({ entryCount: 500, metadata: { owner: "u7", "bough:copying": true } });
    expect(await findingsOf(to)).toEqual([]);
    expect((await copySessions(from, to)).sessions).toMatchObject([{ outcome: "copied", entriesAdded: 700 }]);
    expect(await contents(to)).toEqual(await contents(from));
    expect(await findingsOf(to)).toEqual([]);
  });

  test("does not go on in a session that somebody else has appended to", async () => {
    // Ten parts: the append of the other one comes between two of them.
    const [from, to] = [await long(5000), await openedStore()];
    const other: Promise<unknown>[] = [];
    const append = async () => (await to.openSession("long")).append(userMessage("mine"), { onConflict: "follow" });
    const onProgress = () => {
      if (other.length === 0) other.push(append());
    };
    const [result] = (await copySessions(from, to, { onProgress })).sessions;
    await Promise.all(other);
    expect(result).toMatchObject({ outcome: "failed", error: { code: "SESSION_CHANGED" } });
    expect((await copySessions(from, to)).sessions).toMatchObject([{ outcome: "different", difference: "other entries" }]);
  });

  test("tells how far it is", async () => {
    const [from, to] = [await long(), await openedStore()];
    const seen: unknown[] = [];
    await copySessions(from, to, { onProgress: ({ sessionsDone, entriesDone }) => seen.push([sessionsDone, entriesDone]) });
    expect(seen).toEqual([
      [0, 500],
      [0, 1000],
      [0, 1200],
      [1, 0],
    ]);
  });
});

describe("a copy from or into a damaged or an old file", () => {
  test("is compared with its source, entry by entry if asked to", async () => {
    const [from, path] = [await filled(), storePath()];
    const to = await openedStore({ path });
    await copySessions(from, to);
    const digests = async (options?: CopyOptions) => (await copySessions(from, to, options)).sessions.map(({ digest }) => digest?.length);
    expect(await digests()).toEqual([undefined, undefined, undefined, undefined]);
    expect(await digests({ verify: true })).toEqual([64, 64, 64, 64]);
    raw(path, (file) => file.exec("UPDATE payload SET json = replace(json, 'u2', 'u3')"));
    expect(await outcomes(from, to)).toMatchObject({ main: "unchanged" });
    expect(await outcomes(from, to, { verify: true })).toMatchObject({ main: "other entries", agent: "unchanged" });
  });

  test("leaves out a session with a missing payload, and copies the others", async () => {
    const path = storePath();
    const [from, to] = [await filled(await openedStore({ path })), await openedStore()];
    raw(path, (file) => file.exec("DELETE FROM payload WHERE entry_seq = (SELECT min(seq) FROM entry)"));
    const { sessions } = await copySessions(from, to);
    expect(sessions.filter(({ outcome }) => outcome === "failed")).toMatchObject([
      { sessionId: "main", error: { code: "PAYLOAD_DAMAGED" } },
    ]);
    expect((await contents(to)).map(({ row }) => row.id)).toEqual(["agent", "empty", "fork"]);
  });

  test.each([1, 2, 3, 4] as const)("of version %i, opened only to read it, is one of the current version", async (version) => {
    const old = await openedStore({ path: oldStore(version), mode: "read-only" });
    const to = await openedStore();
    const upgraded = await openedStore({ path: oldStore(version) });
    await copySessions(old, to);
    expect(await findingsOf(to)).toEqual([]);
    const plain = async (store: Store) => (await contents(store)).map(({ row, entries }) => [row, entries.map(({ payload }) => payload)]);
    expect(await plain(to)).toEqual(await plain(upgraded));
  });
});

test("names of any length are taken by every engine, copied, and found", async () => {
  const long = incompressible(3000);
  const from = await openedStore();
  const session = await from.createSession({ id: "a", cwd: `/${long}`, parent: { sessionId: long, entryId: null, toolCallId: null } });
  await session.append(assistantMessage("x", { model: long, provider: long, usage: { input: 1, output: 1 } }));
  await session.append(assistantMessage("y", { model: long, provider: long, usage: { input: 1, output: 1 } }));
  const [key, value] = [incompressible(480), incompressible(480).split("").toReversed().join("")];
  await (await from.createSession({ id: "b", metadata: { [key]: value } })).append(userMessage("z"));
  const to = await openedStore();
  expect(await outcomes(from, to)).toEqual({ a: "copied", b: "copied" });
  const kinds = { kind: "all", empty: true } as const;
  for (const store of [from, to]) {
    expect((await store.listSessions({ ...kinds, cwd: `/${long}` })).items.map(({ id }) => id)).toEqual(["a"]);
    expect((await store.listSessions({ ...kinds, cwd: `/${long}x` })).items).toEqual([]);
    expect((await store.listSessions({ ...kinds, under: [`/${long.slice(0, 2000)}`] })).items).toEqual([]);
    expect((await store.listSessions({ ...kinds, parentId: long })).items.map(({ id }) => id)).toEqual(["a"]);
    expect((await store.listSessions({ ...kinds, metadata: { [key]: value } })).items.map(({ id }) => id)).toEqual(["b"]);
    expect((await store.totalsOf(["a"])).get("a")?.usage).toMatchObject([{ model: long, replies: 2 }]);
  }
});
