import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportClaude, exportCodex, exportOpencode, exportPi, importPath } from "@bough/formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { imported, sourceOf } from "../../../../formats/test/world/sources.js";
import { assistantMessage, userMessage } from "../../../src/entry/builders.js";
import type { ModelUsage } from "../../../src/port/records.js";
import type { SourceRecord, SourceSession } from "../../../src/port/source.js";
import type { Session } from "../../../src/session/session.js";
import { copySessions as copyStore } from "../../../src/store/copy-sessions.js";
import type { Store } from "../../../src/store/store.js";
import { grow } from "../../world/grow.js";
import { collected, findingsOf, openedStore, tempFolder } from "../../world/stores.js";

// An entry that several sessions have is one entry: its usage counts once, a search shows it once, and what begins with it is a fork.

/** A conversation of two turns, of which each reply has one token. */
async function conversation(store: Store, id = "original"): Promise<Session> {
  const session = await store.createSession({ id });
  const usage = { input: 10, output: 1, cost: { total: 1 } };
  for (const turn of ["first", "second"]) {
    await session.append(userMessage(`${turn} zebra`));
    await session.append(assistantMessage(`${turn} reply`, { provider: "p", model: "m", usage }));
  }
  return session;
}

const sum = (usage: readonly ModelUsage[]) => usage.reduce((total, { outputTokens }) => total + outputTokens, 0);

async function used(of: Pick<Session | Store, "statistics">): Promise<readonly [own: number, inherited: number]> {
  const { usage, inheritedUsage } = await of.statistics();
  return [sum(usage), sum(inheritedUsage)];
}

const WRITERS = { pi: exportPi, claude: exportClaude, codex: exportCodex, opencode: exportOpencode } as const;
type Program = keyof typeof WRITERS;
const NEW_ID = "01a20704-8a67-7db8-aff9-1ebb0e03b7f3";

/** The file of a new session of a program, which goes on with this one. */
async function resumedFile(session: Session, program: Program, sessionId = NEW_ID): Promise<string> {
  const name = {
    pi: `x_${sessionId}.jsonl`,
    claude: `${sessionId}.jsonl`,
    codex: `rollout-2026-01-02T03-04-05-${sessionId}.jsonl`,
    opencode: `${sessionId}.json`,
  };
  const file = join(tempFolder(), name[program]);
  writeFileSync(file, (await collected(WRITERS[program](session, { continues: { sessionId, cwd: "/p" } }))).join(""));
  return file;
}

test("a fork that is copied to a store without its source counts there, and is found, also when it grew and is copied again", async () => {
  const [from, to] = [await openedStore(), await openedStore()];
  await imported(from, sourceOf("u1 a1 u2", [], { sessionId: "original" }));
  await imported(from, sourceOf("u1 a1 u3", [], { sessionId: "imported-fork" }));
  await conversation(from, "appended");
  const fork = await from.forkSession("appended", { id: "fork" });
  for (let round = 0; round < 2; round += 1) {
    await copyStore(from, to, { sessions: ["imported-fork", "fork"], update: true });
    expect(await used(await to.openSession("fork"))).toEqual([2 + round, 0]);
    expect((await to.search({ query: "u1", types: ["message"] })).total).toBe(1);
    expect((await to.search({ query: "zebra", types: ["message"] })).total).toBe(2);
    await fork.append(assistantMessage("later", { provider: "p", model: "m", usage: { input: 1, output: 1 } }));
  }
  expect(await findingsOf(to)).toEqual([]);
});

describe("a session that was resumed in a program and read from there", () => {
  test.each<Program>(["pi", "claude", "codex", "opencode"])("in %s counts in its source, and is a fork of it", async (program) => {
    const store = await openedStore();
    const session = await conversation(store);
    const file = await resumedFile(session, program);
    const [{ sessionId } = { sessionId: "" }] = (await importPath(store, file)).sessions;
    const copy = await store.openSession(sessionId);
    expect(await used(store)).toEqual([2, 2]);
    expect([await used(session), await used(copy)]).toEqual([
      [2, 0],
      [0, 2],
    ]);
    expect((await copy.record()).parent).toMatchObject({ sessionId: "original" });
    expect((await store.search({ query: "zebra" })).total).toBe(2);
    expect(await findingsOf(store)).toEqual([]);
  });

  test.each<Program>(["pi", "claude", "codex", "opencode"])("in %s counts again when its source was deleted", async (program) => {
    const store = await openedStore();
    const session = await conversation(store);
    await importPath(store, await resumedFile(session, program));
    await store.deleteSession("original");
    expect(await used(store)).toEqual([2, 0]);
    expect((await store.search({ query: "zebra" })).total).toBe(2);
  });

  test("in one program after the other counts once", async () => {
    const store = await openedStore();
    let session = await conversation(store);
    for (const [at, program] of (["pi", "codex", "opencode", "claude", "opencode", "pi"] as const).entries()) {
      const file = await resumedFile(session, program, `${NEW_ID.slice(0, -1)}${at}`);
      const [{ sessionId } = { sessionId: "" }] = (await importPath(store, file)).sessions;
      session = await store.openSession(sessionId);
      expect(await used(store)).toEqual([2, 2 * (at + 1)]);
    }
    expect((await store.search({ query: "zebra" })).total).toBe(2);
  });
});

describe("a fork", () => {
  test("counts when its source was deleted; of several forks the first", async () => {
    const store = await openedStore();
    const session = await conversation(store);
    const fork = await store.forkSession(session.id, { id: "fork" });
    const other = await store.forkSession("fork", { id: "other", tree: true });
    expect(await used(store)).toEqual([2, 4]);
    await store.deleteSession("original");
    expect([await used(fork), await used(other), await used(store)]).toEqual([
      [2, 0],
      [0, 2],
      [2, 2],
    ]);
    await store.deleteSession("fork");
    expect([await used(other), await used(store)]).toEqual([
      [2, 0],
      [2, 0],
    ]);
  });
});

/** A request of an agent: a prompt and its reply, with a word and times that no other request has. */
type Request = number;

/** A file of an agent: its requests in order. `renamed`: the agent gave copied records new ids. */
function fileOf(sessionId: string, requests: readonly Request[], renamed = ""): SourceSession {
  let parentId: string | null = null;
  const records = requests.flatMap((request): SourceRecord[] => {
    const at = 1_000_000 + request * 10;
    const usage = { input: 5, output: 1 };
    const [prompt, reply] = [`u${request}${renamed}`, `a${request}${renamed}`];
    const entries: SourceRecord[] = [
      { kind: "entry", line: 1, id: prompt, parentId, createdAtMs: at, payload: userMessage(`prompt${request}x`) },
      {
        kind: "entry",
        line: 2,
        id: reply,
        parentId: prompt,
        createdAtMs: at + 1,
        payload: assistantMessage(`reply${request}x`, { provider: "p", model: "m", usage }),
      },
    ];
    parentId = reply;
    return entries;
  });
  return { header: { sessionId, kind: "conversation", createdAtMs: 1_000_000 + (requests[0] ?? 0) * 10 }, records: () => records };
}

describe("a file of an agent that begins with the entries of another one", () => {
  test.each([
    ["with their ids, as `claude --fork-session`", ""],
    ["with ids of its own, as a fork of opencode", "-again"],
  ])("%s, is a fork of that session, and counts its own requests only", async (_how, renamed) => {
    const store = await openedStore();
    await imported(store, fileOf("original", [1, 2]));
    await imported(store, fileOf("copy", [1, 2, 3], renamed));
    const copy = await store.openSession("copy");
    expect([await used(store), await used(copy)]).toEqual([
      [3, 2],
      [1, 2],
    ]);
    expect((await copy.record()).parent).toEqual({ sessionId: "original", entryId: "a2", toolCallId: null });
    expect(await copy.inheritedSeqs()).toHaveLength(4);
    expect((await store.totalsOf(["copy"])).get("copy")).toMatchObject({ inheritedEntries: 4 });
    expect(await store.search({ query: "reply2x" })).toMatchObject({
      total: 1,
      hits: [{ sessionId: "original", copies: [{ sessionId: "copy", entryId: `a2${renamed}` }] }],
    });
    expect(await copy.search({ query: "reply2x" })).toMatchObject({
      total: 1,
      hits: [{ sessionId: "copy", copies: [{ sessionId: "original", entryId: "a2" }] }],
    });
    expect(await findingsOf(store)).toEqual([]);
  });

  test("is named with its other forks by a search, in the order of their ids", async () => {
    const store = await openedStore();
    await imported(store, fileOf("original", [1, 2]));
    for (const id of ["c", "a", "b"]) await imported(store, fileOf(id, [1, 2, 3]));
    const { hits } = await store.search({ query: "reply2x" });
    expect(hits.map(({ sessionId, copies }) => [sessionId, copies.map((copy) => copy.sessionId)])).toEqual([["original", ["a", "b", "c"]]]);
  });

  test("is that fork too if it was imported first, and the other one was created before it", async () => {
    const store = await openedStore();
    const copied = fileOf("copy", [1, 2, 3]);
    await imported(store, { ...copied, header: { ...copied.header, createdAtMs: 2_000_000 } });
    await imported(store, fileOf("original", [1, 2]));
    expect(await used(await store.openSession("original"))).toEqual([2, 0]);
    expect(await used(await store.openSession("copy"))).toEqual([1, 2]);
    expect((await store.findSession("copy"))?.parent).toMatchObject({ sessionId: "original" });
    expect((await store.findSession("original"))?.parent).toBeNull();
  });

  test("is forked at the last entry that both have, also if that came into the other session later", async () => {
    const store = await openedStore();
    // A reply that is still being written is left out.
    await imported(store, fileOf("original", [1]));
    await imported(store, fileOf("copy", [1, 2, 3], "-again"));
    expect((await store.findSession("copy"))?.parent).toMatchObject({ sessionId: "original", entryId: "a1" });
    await imported(store, fileOf("original", [1, 2]));
    expect((await store.findSession("copy"))?.parent).toMatchObject({ sessionId: "original", entryId: "a2" });
  });

  const ORDERS = [
    ["original", "one", "two"],
    ["original", "two", "one"],
    ["one", "original", "two"],
    ["one", "two", "original"],
    ["two", "original", "one"],
    ["two", "one", "original"],
  ] as const;

  test.each(ORDERS)("is a fork of that session whichever of it and its forks are imported first: %s, %s, %s", async (...order) => {
    const files = { original: fileOf("original", [1, 2, 4]), one: fileOf("one", [1, 2, 3]), two: fileOf("two", [1, 2, 5]) };
    const created = { original: 1_000_010, one: 1_000_040, two: 1_000_060 };
    const [found, stated] = [await openedStore(), await openedStore()];
    const linksIn = async (store: Store) =>
      Promise.all((["original", "one", "two"] as const).map(async (id) => (await store.findSession(id))?.parent?.sessionId ?? null));
    for (const id of order) {
      const header = { ...files[id].header, createdAtMs: created[id] };
      await imported(found, { ...files[id], header });
      const parent = id === "two" ? { sessionId: "one" } : undefined;
      await imported(stated, { ...files[id], header: { ...header, ...(parent && { parent }) } });
    }
    expect(await linksIn(found)).toEqual([null, "original", "original"]);
    // What a file states of its source stays.
    expect(await linksIn(stated)).toEqual([null, "original", "one"]);
  });

  test("is no fork of a session with the same prompt and another reply", async () => {
    const store = await openedStore();
    await imported(store, fileOf("one", [1]));
    const [prompt] = [...fileOf("other", [1]).records()];
    await imported(store, { header: { sessionId: "other", kind: "conversation" }, records: () => (prompt === undefined ? [] : [prompt]) });
    expect((await store.findSession("other"))?.parent).toBeNull();
  });
});

test("a reply counts once for the id of its response, wherever in another file it is, and whatever else was written of it", async () => {
  const store = await openedStore();
  const reply = (id: string, text: string): SourceRecord => {
    const message = { provider: "p", model: "m", usage: { output: 1 }, responseId: "msg_1" };
    return { kind: "entry", line: 1, id, parentId: null, createdAtMs: 7, payload: assistantMessage(text, message) };
  };
  await imported(store, { header: { sessionId: "one", kind: "conversation" }, records: () => [reply("a", "part")] });
  const [other] = [...fileOf("other", [4]).records()];
  const records = other === undefined ? [] : [other, reply("b", "whole")];
  await imported(store, { header: { sessionId: "other", kind: "conversation" }, records: () => records });
  expect(await used(store)).toEqual([1, 1]);
});

test("the counts of a store say how many of its entries are copies", async () => {
  const store = await openedStore();
  const { session } = await grow("u1 a1 u2", { store, session: { id: "original" } });
  const fork = await store.forkSession("original", { id: "fork" });
  await fork.append(userMessage("more"));
  expect(await store.statistics()).toMatchObject({ entries: 7, inheritedEntries: 3 });
  expect(await session.statistics()).toMatchObject({ entries: 3, inheritedEntries: 0 });
  expect(await fork.statistics()).toMatchObject({ entries: 4, inheritedEntries: 3 });
});

test("a search that leaves out the original finds the copy in the session that came into the store first", async () => {
  const store = await openedStore();
  await grow("u1 a1", { store, session: { id: "original", cwd: "/a" } });
  for (const id of ["zulu", "mike", "alpha"]) await store.forkSession("original", { id, cwd: "/b" });
  const { hits } = await store.search({ query: "a1", cwd: "/b", types: ["message"] });
  expect(hits.map(({ sessionId }) => sessionId)).toEqual(["zulu"]);
});

test("a search in a directory or of an agent finds the copy that is there, once", async () => {
  const store = await openedStore();
  const inFolder = (session: SourceSession, cwd: string): SourceSession => ({ ...session, header: { ...session.header, cwd } });
  await imported(store, inFolder(fileOf("original", [1]), "/a"));
  await imported(store, inFolder(fileOf("copy", [1, 2]), "/b"));
  await imported(store, inFolder(fileOf("second", [1, 3]), "/b"));
  const found = async (request: object) => (await store.search({ query: "reply1x", ...request })).hits.map(({ sessionId }) => sessionId);
  expect(await found({})).toEqual(["original"]);
  expect(await found({ cwd: "/b" })).toEqual(["copy"]);
  expect(await found({ cwd: "/a" })).toEqual(["original"]);
  expect(await found({ cwd: "/c" })).toEqual([]);
  expect(await found({ sessionIds: ["second", "copy", "none"] })).toEqual(["copy"]);
  expect(await found({ sessionIds: ["original", "second"] })).toEqual(["original"]);
  expect(await found({ sessionIds: [] })).toEqual([]);
  await store.forkSession("original", { cwd: "/c" });
  expect(await found({ agents: ["bough"] })).toHaveLength(1);
});

/** What is done with a store: a file with the requests of another one up to a place and new ones, in any order; forks, resumed sessions. */
interface Plan {
  readonly kind: "file" | "fork" | "resume";
  readonly from: number;
  readonly cut: number;
  readonly added: number;
  readonly renamed: boolean;
  readonly order: number;
  readonly program: Program;
  readonly deleted: boolean;
}

const plans = fc.array(
  fc.record<Plan>({
    kind: fc.constantFrom("file", "file", "fork", "resume"),
    from: fc.nat({ max: 6 }),
    cut: fc.nat({ max: 4 }),
    added: fc.integer({ min: 0, max: 2 }),
    renamed: fc.boolean(),
    order: fc.nat({ max: 99 }),
    program: fc.constantFrom("pi", "claude", "codex"),
    deleted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

type Present = Map<string, readonly Request[]>;

async function countsOnce(store: Store, present: Present): Promise<void> {
  const requests = new Set([...present.values()].flat());
  expect((await used(store))[0]).toBe(requests.size);
  for (const request of requests) expect([request, (await store.search({ query: `"reply${request}x"` })).total]).toEqual([request, 1]);
}

async function importFiles(store: Store, given: readonly Plan[], present: Present): Promise<void> {
  const files: { readonly plan: Plan; readonly id: string; readonly requests: readonly Request[] }[] = [];
  let next = 0;
  for (const plan of given.filter(({ kind }) => kind === "file")) {
    const source = files[plan.from % Math.max(1, files.length)]?.requests ?? [];
    const own = Array.from({ length: Math.max(plan.added, source.length === 0 || plan.cut === 0 ? 1 : 0) }, () => (next += 1));
    files.push({ plan, id: `file${files.length}`, requests: [...source.slice(0, plan.cut), ...own] });
  }
  for (const { plan, id, requests } of files.toSorted((a, b) => a.plan.order - b.plan.order)) {
    await imported(store, fileOf(id, requests, plan.renamed ? `-${id}` : ""));
    present.set(id, requests);
    await countsOnce(store, present);
  }
}

async function copySessions(store: Store, given: readonly Plan[], present: Present): Promise<void> {
  for (const [at, { kind, from, program }] of given.entries()) {
    const [id, requests] = [...present][from % Math.max(1, present.size)] ?? [];
    if (kind === "file" || id === undefined || requests === undefined) continue;
    const session = await store.openSession(id);
    if (kind === "fork") present.set((await store.forkSession(id)).id, requests);
    else {
      const [made] = (await importPath(store, await resumedFile(session, program, `${NEW_ID.slice(0, -1)}${at}`))).sessions;
      present.set(made?.sessionId ?? "", requests);
    }
    await countsOnce(store, present);
  }
}

test("totals are those of the union of all requests, and a search finds each once, whatever was copied, imported and deleted", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (given) => {
      const store = await openedStore();
      const present: Present = new Map();
      await importFiles(store, given, present);
      await copySessions(store, given, present);
      for (const [at, id] of [...present.keys()].entries()) {
        if (given[at]?.deleted !== true) continue;
        await store.deleteSession(id);
        present.delete(id);
        await countsOnce(store, present);
      }
      expect(await findingsOf(store)).toEqual([]);
    }),
    { numRuns: runs(25) },
  );
});
