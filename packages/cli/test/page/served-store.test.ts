import { execFileSync } from "node:child_process";
import { assistantMessage, openStore, type Store, userMessage } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { sessionPage } from "../../src/page/page.js";
import { ServedSession } from "../../src/page/served-session.js";
import { ServedStore } from "../../src/page/served-store.js";
import type { Answer } from "../../src/page/server.js";
import { StoreWatcher } from "../../src/session/store-watcher.js";
import { NOON, world } from "../world.js";

/** Long enough to be known wherever it stands, and no rule knows its form. */
const SECRET = "q7ZpW4vKx2LmN8sRt5Yb";

async function newStore(): Promise<Store> {
  const store = await openStore({ path: world().store, durability: "normal" });
  onTestFinished(() => store.close());
  return store;
}

const EXECUTE = 'new (require("better-sqlite3"))(process.argv[1]).exec(process.argv[2])';

/** A command that the person kept out of the conversation. */
function command(text: string) {
  return { type: "message", message: { role: "bashExecution", command: text, output: "dear diary", excludeFromContext: true } } as const;
}

/** A server of all sessions of a store, as it is after a start: it has opened none. */
function serve(store: Store): ServedStore {
  return new ServedStore(store, { only: undefined, withSecrets: false, store: undefined, now: () => Date.now() });
}

async function ask(served: ServedStore, path: readonly string[], query: Record<string, string> = {}): Promise<string> {
  return textOf(await served.answer({ path, query: new URLSearchParams(query), root: "/r/" } as Parameters<ServedStore["answer"]>[0]));
}

async function textOf(answer: Answer): Promise<string> {
  if (answer?.kind === "json") return JSON.stringify(answer.value);
  let text = "";
  if (answer?.kind === "page") for await (const piece of answer.pieces) text += piece;
  return text;
}

test("each part of a session that was forgotten is masked where only another entry says what is secret", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "secret", title: `Log in with ${SECRET}` });
  const a = await session.append(userMessage(`Log in with ${SECRET}`));
  await session.append(userMessage(`{"password": "${SECRET}"}`));
  await session.moveLeaf(a.id);
  const b = await session.append(userMessage(`A zebrafish, and ${SECRET}`));
  const parts: readonly (readonly [part: string, query: Record<string, string>])[] = [
    ["find", { q: "zebrafish" }],
    ["state", { tip: b.id, rows: "3" }],
    ["where", { e: b.id }],
    ["block", { tip: b.id, from: "0", to: "2" }],
    ["rows", { line: "0", chunk: "0" }],
    ["compare", { a: a.id, b: b.id }],
  ];
  for (const [part, query] of parts) {
    const text = await ask(serve(store), ["secret", part], query);
    expect(text, part).toContain("[password 1]");
    expect(text, part).not.toContain(SECRET);
  }
});

test("a search needs words or a filter of entries, and judges filters of sessions against the session", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "parser", cwd: "/home/ada/parser" });
  await session.append([userMessage("Mend the zebrafish"), assistantMessage("The zebrafish is mended.")]);
  const served = serve(store);
  const total = async (q: string) => (JSON.parse(await ask(served, ["parser", "find"], { q })) as { total: number }).total;
  for (const q of ["role:", "agent:", "dir:parser"]) expect(await total(q), q).toBe(0);
  expect(await total("role:user")).toBe(1);
  expect(await total("since:1d")).toBe(2);
  expect(await total("zebrafish dir:parser")).toBe(2);
  for (const q of ["zebrafish dir:site", "zebrafish model:gpt", "zebrafish cost:>1"]) expect(await total(q), q).toBe(0);
});

test("an exported page has the subagents of an entry that has nothing to read", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "main" });
  await session.append(userMessage("Send one"));
  const { id } = await session.append({ type: "custom", customType: "mark", data: 1 });
  const parent = { sessionId: "main", entryId: id, toolCallId: null };
  const subagent = await store.createSession({ id: "red", kind: "subagent", parent });
  await subagent.append(userMessage("Look at the anglerfish"));
  let text = "";
  for await (const piece of sessionPage(session, { subagents: [subagent] })) text += piece;
  expect(text).toContain("Look at the anglerfish");
});

test("a served page links the subagents of an entry that has nothing to read", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "main" });
  await session.append(userMessage("Send one"));
  const { id } = await session.append({ type: "custom", customType: "mark", data: 1 });
  await store.createSession({
    id: "red",
    title: "Look at it",
    kind: "subagent",
    parent: { sessionId: "main", entryId: id, toolCallId: null },
  });
  expect(await ask(serve(store), ["main"])).toContain("Look at it");
});

test("a page of a session without a title and a text of the user has the name that lists have", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "quiet" });
  await session.append(assistantMessage("Hello."));
  let page = "";
  for await (const piece of sessionPage(session)) page += piece;
  for (const text of [page, await ask(serve(store), ["quiet"])]) expect(text).toContain("<title>(untitled)</title>");
});

test("what is private is known as soon as the outline has it, while the rest of a long session is read", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "long" });
  await session.append(command("cat diary"));
  await session.append(Array.from({ length: 1_200 }, (_, at) => userMessage(`Message ${at}`)));
  const served = new ServedSession(session, new StoreWatcher(store, () => NOON), { showsPrivate: false });
  const updated = served.update();
  for (let size = 0; size < 1_201; size = served.index.size) {
    await new Promise(setImmediate);
    if (served.index.size > 0) expect(served.isPrivate(0)).toBe(true);
  }
  await updated;
});

test("a choice of branches has one that begins with a private command, from its first entry that is shown", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "tried" });
  const question = await session.append(userMessage("What now?"));
  await session.append(assistantMessage("Rest."));
  await session.moveLeaf(question.id);
  await session.append(command("cat diary"));
  await session.append(userMessage("Write on."));
  let page = "";
  for await (const piece of sessionPage(session)) page += piece;
  const served = await ask(serve(store), ["tried"]);
  for (const text of [page, served]) {
    expect([...text.matchAll(/<a class="branch"[^>]*>([^<]*)/g)].map(([, said]) => said)).toEqual(["Rest.", "Write on."]);
    expect(text.includes("diary")).toBe(false);
  }
});

test("a leaf below which everything is private has no choice of branches", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "tried" });
  const question = await session.append(userMessage("What now?"));
  await session.append(command("cat diary"));
  await session.moveLeaf(question.id);
  let page = "";
  for await (const piece of sessionPage(session)) page += piece;
  for (const text of [page, await ask(serve(store), ["tried"])]) expect(text.includes('class="fork"')).toBe(false);
});

test("a comparison names no private command, as the last common entry or as the one that was marked", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "tried" });
  const hidden = await session.append(command("cat diary"));
  const a = await session.append(userMessage("Write on."));
  await session.moveLeaf(hidden.id);
  const b = await session.append(userMessage("Rest."));
  for (const marked of [a.id, hidden.id]) {
    const text = await ask(serve(store), ["tried", "compare"], { a: marked, b: b.id });
    expect(text).toContain("A private command</a>");
    expect(text).not.toContain("diary");
  }
});

test("a list has a session whose time no date can have", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "far", title: "Far" });
  await session.append({ ...userMessage("What now?"), createdAtMs: Number.MAX_SAFE_INTEGER });
  expect(await ask(serve(store), [""])).toContain("Far</a>");
});

test("a read that fails after the rows loses none of them", async () => {
  const { store: path } = world();
  const store = await openStore({ path, durability: "normal" });
  onTestFinished(() => store.close());
  const execute = (sql: string) => execFileSync(process.execPath, ["-e", EXECUTE, path, sql], { cwd: import.meta.dirname });
  const session = await store.createSession({ id: "grown" });
  const { id } = await session.append(userMessage("What now?"));
  const served = new ServedSession(session, new StoreWatcher(store, () => NOON), { showsPrivate: false });
  await served.update();
  expect(served.shape.lines()).toHaveLength(1);
  await session.append(assistantMessage("Rest."));
  execute("ALTER TABLE label RENAME TO gone");
  await expect(served.update()).rejects.toThrow();
  execute("ALTER TABLE gone RENAME TO label");
  await session.moveLeaf(id);
  await served.update();
  expect(served.shape.lines()).toHaveLength(2);
});

test("an address with an entry that is not in the session leads to its branch", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "short" });
  await session.append(userMessage("What now?"));
  expect(await ask(serve(store), ["short"], { at: "nowhere" })).toMatch(/<article[^>]*>.*What now\?/s);
});

test("a page says what the replies above cost, with those of subagents", async () => {
  const store = await newStore();
  const reply = (total: number) => assistantMessage("Done.", { usage: { input: 1, output: 1, cost: { total } } });
  const session = await store.createSession({ id: "main" });
  const { id } = await session.append(reply(1));
  const parent = { sessionId: "main", entryId: id, toolCallId: null };
  const subagent = await store.createSession({ id: "red", kind: "subagent", parent });
  await subagent.append(reply(2));
  let page = "";
  for await (const piece of sessionPage(session, { subagents: [subagent] })) page += piece;
  expect(/The replies above cost [^<]*/.exec(page)?.[0]).toBe("The replies above cost $3.0000.");
});

test("the list of sessions says that it has only those of the best matches", async () => {
  const store = await newStore();
  for (const id of ["one", "two"]) {
    const session = await store.createSession({ id });
    await session.append(Array.from({ length: 300 }, (_, at) => userMessage(`The zebrafish ${id} ${at}`)));
  }
  const said = async (q: string) => /id="said"[^>]*>([^<]*)/.exec(await ask(serve(store), [""], { q }))?.[1];
  expect(await said("zebrafish")).toBe("2 sessions, the best 400 of 600 matches");
  expect(await said('"zebrafish one 7"')).toBe("1 session, 1 match");
});

test("the tree of a served page has the branches that leave a branch before its first row", async () => {
  const store = await newStore();
  const session = await store.createSession({ id: "tried" });
  const question = await session.append(userMessage("What fails?"));
  const change = await session.append({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" });
  await session.append(assistantMessage("The parser."));
  await session.moveLeaf(change.id);
  await session.append(assistantMessage("The writer."));
  await session.moveLeaf(question.id);
  await session.append(assistantMessage("Nothing."));
  let page = "";
  for await (const piece of sessionPage(session)) page += piece;
  const saidIn = (text: string) => [...text.matchAll(/<span class="said">([^<]*)/g)].map(([, said]) => said);
  expect(saidIn(page)).toEqual(["What fails?", "The parser.", "The writer.", "Nothing."]);
  expect(saidIn(await ask(serve(store), ["tried", "rows"], { line: "0", chunk: "0" }))).toEqual(saidIn(page));
});

test("thousands of branches inside each other that show nothing cost no stack", async () => {
  const store = await newStore();
  const depth = 3_000;
  const hidden = { type: "custom", customType: "note" };
  const entry = (id: string, parentId: string | null, payload: unknown = hidden) =>
    ({ kind: "entry", line: 1, id, parentId, createdAtMs: 1, payload }) as const;
  const chain = Array.from({ length: depth }, (_, at) => entry(`c${at}`, at === 0 ? "first" : `c${at - 1}`));
  // The newest child continues a line: each link of the chain leaves the line of the one above it.
  const newer = Array.from({ length: depth }, (_, at) => entry(`n${depth - at}`, `c${depth - 1 - at}`));
  const records = [
    entry("first", null, userMessage("What fails?")),
    ...chain,
    entry("end", `c${depth - 1}`, userMessage("Deep down")),
    ...newer,
    entry("last", "first", userMessage("At the top")),
  ];
  const header = { sessionId: "nested", kind: "conversation" } as const;
  await store.importSession({ header, records: () => records }, { format: "test", path: "/nested.jsonl" });
  let page = "";
  for await (const piece of sessionPage(await store.openSession("nested"))) page += piece;
  expect(page).toContain('<span class="said">Deep down');
  expect(await ask(serve(store), ["nested", "rows"], { line: "0", chunk: "0" })).toContain('<span class="said">Deep down');
});

/** A store of which somebody else seems to write, and what is listed of it. */
function written(store: Store) {
  const listeners: ((change: { readonly sessionIds: null }) => void)[] = [];
  const lists: unknown[] = [];
  const watched = new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        if (key === "onChange") listeners.push(given[0] as (typeof listeners)[0]);
        if (key === "listSessions") lists.push(given[0]);
        return Reflect.apply(member, target, given);
      };
    },
  });
  const tell = () => {
    for (const listener of listeners) listener({ sessionIds: null });
  };
  return { watched, tell, lists };
}

test("many writes are few events of a list, the last of them included, and each reads the sessions once for all who ask", async () => {
  const store = await newStore();
  await store.createSession({ id: "first", title: "First" }, { writes: [{ kind: "entry", entry: userMessage("one") }] });
  const { watched, tell, lists } = written(store);
  const served = serve(watched);
  await served.start("/r/");
  onTestFinished(() => served.end());
  const page = await ask(served, [""]);
  await ask(served, [""], { q: "dir:home" });
  expect(page).toContain("First");
  expect(lists.filter((filter) => JSON.stringify(filter) === "{}")).toHaveLength(1);

  const answer = await served.answer({ path: ["", "events"], query: new URLSearchParams(), root: "/r/" });
  if (answer?.kind !== "events") throw new TypeError("no events");
  const gone = new AbortController();
  let events = 0;
  const following = answer.follow(async () => {
    events += 1;
    if (events === 2) gone.abort();
  }, gone.signal);
  for (let at = 0; at < 50; at += 1) {
    await store.renameSession("first", `Title ${at}`);
    tell();
  }
  expect(events).toBe(1);
  await following;
  expect(await ask(served, [""])).toContain("Title 49");
});
