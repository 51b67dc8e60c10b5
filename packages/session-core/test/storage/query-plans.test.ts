import Database from "better-sqlite3";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Session } from "../../src/session/session.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { entryNamed, grow, plant } from "../world/grow.js";
import { raw, storePath } from "../world/stores.js";

afterEach(() => vi.restoreAllMocks());

/** The plan of every statement that `act` has SQLite prepare, in a store with two sessions, one of them compacted. */
async function plansOf(act: (session: Session, store: Store) => Promise<unknown>): Promise<string> {
  const path = storePath();
  const first = await openStore({ path, durability: "normal" });
  const { session } = await grow("s1 m1 h1 u1 a1 @u1 a2 u2 k1 r1:k1 c1:u2 u3 a3", { store: first });
  await grow("u1 a1", { store: first });
  await first.close();
  const store = await openStore({ path });
  const again = await store.openSession(session.id);
  // Statements are prepared once a connection, so what is prepared from here on is what this act runs.
  const prepared = vi.spyOn(Database.prototype, "prepare");
  await act(again, store);
  const statements = prepared.mock.calls.map(([sql]) => sql).filter((sql) => /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT)/i.test(sql));
  vi.restoreAllMocks();
  await store.close();
  expect(statements.length).toBeGreaterThan(0);
  return raw(path, (file) => statements.map((sql) => planOf(file, sql)).join("\n"));
}

function planOf(file: Database.Database, sql: string): string {
  const parameters = Array.from({ length: sql.split("?").length - 1 }, () => "0");
  const rows = file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { readonly detail: string }[];
  return rows.map(({ detail }) => detail).join("\n");
}

// A whole walk over a table of the store; a walk over what the statement itself has made is none.
const WHOLE_TABLE =
  /^SCAN (entry|session|leaf|leaf_move|label|value|large_value|large|file_operation|usage_total|token_counter|entry_token_count|parent|child|tip|payload|payload_block)\b(?! USING (COVERING )?INDEX)/m;

test("a search within a session starts at the index of words, and asks for the entries that it finds", async () => {
  const plan = await plansOf((session) => session.search({ query: "u3" }));
  expect(plan).toContain("SCAN entry_text VIRTUAL TABLE");
  // `=`: asked for one row at a time, once for each entry of the session.
  expect(plan).not.toMatch(/SCAN entry_text VIRTUAL TABLE INDEX \d+:=/);
});

describe("what SQLite does for a search", () => {
  test.each<[string, (session: Session, store: Store) => Promise<unknown>]>([
    ["of the whole store", (_session, store) => store.search({ query: "u3 nothing" })],
    ["with private entries", (_session, store) => store.search({ query: "u3", includePrivate: true })],
    ["for some of the words", (session) => session.search({ query: "u3 a3", atLeast: 1 })],
    ["with a spelling mistake", (_session, store) => store.search({ query: "sayd", relax: true })],
    ["in named entries", (session) => session.search({ query: "u3", seqs: [3, 4, 5] })],
  ])("%s: looks words up, and asks the index of words for no single row", async (_what, act) => {
    const plan = await plansOf(async (session, store) => {
      await store.catchUpSearch();
      await act(session, store);
    });
    expect(plan).toContain("SCAN entry_text VIRTUAL TABLE");
    expect(plan).not.toMatch(/SCAN entry_text VIRTUAL TABLE INDEX \d+:=/);
    expect(plan).not.toMatch(/^SCAN private_entry/m);
  });

  test("looks private entries up by row number", async () => {
    const plan = await plansOf((session) => session.search({ query: "u3" }));
    expect(plan).toMatch(/USING ROWID SEARCH ON TABLE private_entry FOR IN-OPERATOR/);
  });

  test("without words reads the entries of one session by its index, the newest first", async () => {
    const plan = await plansOf((session) => session.search({ query: "", roles: ["user"] }));
    expect(plan).toMatch(/SEARCH session USING .*\(id=\?\)/);
    expect(plan).toMatch(/SEARCH entry USING (COVERING )?INDEX sqlite_autoindex_entry_1 \(session_seq=\?\)/);
    expect(plan).not.toMatch(WHOLE_TABLE);
    expect(plan).not.toMatch(/USE TEMP B-TREE FOR ORDER BY/);
  });
});

describe("what SQLite does for", () => {
  test.each<[string, (session: Session, store: Store) => Promise<unknown>]>([
    ["a context", (session) => session.context()],
    ["a context at another entry", (session) => session.context({ leafId: "a1" })],
    ["the children of an entry", (session) => session.tree.children("u1")],
    ["the first entries", (session) => session.tree.children(null)],
    ["a page of the outline", (session) => session.tree.outline({ limit: 2 })],
    ["the outline of a path", (session) => session.tree.path("a3", 2)],
    ["some rows of the outline", (session) => session.tree.rowsAt([2, 3])],
    ["everything since", (session) => session.entriesSince(3, 2)],
    ["a scan up", (session) => session.scan({ limit: 2, types: ["message"] })],
    ["a scan down", (session) => session.scan({ order: "down", stopAt: "u1" })],
    ["a walk", async (session) => (await session.walk().next()).value],
    ["an entry by id", (session) => session.entry("a1")],
    ["an entry by a name", (session) => session.resolve("k")],
    ["tips and branch points", async (session) => [await session.tree.tips(), await session.tree.branchPoints()]],
    ["an ancestor", (session) => session.tree.commonAncestor("a1", "a3")],
    ["labels", (session) => session.labels.list()],
    ["a value", (session) => session.values.get("k")],
    ["values of a prefix", (session) => session.values.list({ prefix: "a/", limit: 2 })],
    ["keys, last first", (session) => session.values.keys({ order: "desc", after: "b", limit: 2 })],
    ["a conditional write of a value", (session) => session.values.set("k", 1, { ifEquals: undefined })],
    ["a deletion of values", (session) => session.values.deletePrefix("a/")],
    ["a fork of the tree", (session, store) => store.forkSession(session.id, { tree: true })],
    ["a fork of a path", (session, store) => store.forkSession(session.id, { values: true })],
    ["a change of metadata", (session) => session.setMetadata({ owner: "u7" })],
    ["opening or creating a session", (_, store) => store.openOrCreateSession("new", { metadata: { owner: "u7" } }, { leaf: "worker" })],
    ["an append below a parent", (session) => session.append(entryNamed("u9"), { parentId: "u1" })],
    [
      "token counts",
      async (session) => [await session.tokenCounts.save("c", new Map([["a1", 1]])), await session.tokenCounts.get("c", ["a1", "a3"])],
    ],
    ["file operations", (session) => session.fileOperations()],
    ["an append", (session) => session.append(entryNamed("u9"))],
    ["a move, its undo and redo", async (session) => [await session.moveLeaf("u1"), await session.undoMove(), await session.redoMove()]],
  ])("%s walks no whole table", async (_what, act) => {
    expect(await plansOf(act)).not.toMatch(WHOLE_TABLE);
  });

  test.each<[string, (session: Session) => Promise<unknown>]>([
    ["values of a prefix", (session) => session.values.list("a/")],
    ["values, last first", (session) => session.values.list({ order: "desc" })],
    ["keys", (session) => session.values.keys("a/")],
    ["a deletion of values", (session) => session.values.deletePrefix("a/")],
  ])("%s compares the ends of the range and sorts nothing", async (_, act) => {
    const plan = await plansOf(act);
    expect(plan).toContain("SEARCH value USING PRIMARY KEY (session_seq=? AND key>? AND key<?)");
    expect(plan).not.toContain("TEMP B-TREE");
  });

  test("some rows of the outline are read one by one, not by the index of the session", async () => {
    expect(await plansOf((session) => session.tree.rowsAt([2, 3]))).toMatch(/SEARCH entry USING INTEGER PRIMARY KEY \(rowid=\?\)/);
  });

  test("a context reads entries by row: each step up is one look-up", async () => {
    expect(await plansOf((session) => session.context())).toMatch(/SEARCH entry USING INTEGER PRIMARY KEY \(rowid=\?\)/);
  });

  test("each page of sessions starts where the last one ended, in an index, and sorts nothing", async () => {
    const path = storePath();
    const store = await openStore({ path, durability: "normal" });
    for (let at = 0; at < 4; at += 1) await grow("u1", { store });
    const prepared = vi.spyOn(Database.prototype, "prepare");
    const first = await store.listSessions({ limit: 2 });
    await store.listSessions({ limit: 2, cursor: first.next ?? "" });
    const lists = prepared.mock.calls.map(([sql]) => sql).filter((sql) => /from session /i.test(sql));
    vi.restoreAllMocks();
    await store.close();
    const plans = raw(path, (file) => lists.map((sql) => planOf(file, sql)));
    expect(plans).toEqual([
      "SEARCH session USING INDEX session_by_activity (listing=?)",
      "SEARCH session USING INDEX session_by_activity (listing=? AND active_at_ms<?)",
    ]);
  });

  test.each([
    ["compaction", "c1"],
    ["system message", "s1"],
  ])("taking a %s out of the context finds those above and their edits in the index of marks, in order", async (_what, name) => {
    const plan = await plansOf(async (session) => {
      const targetId = name.replace("1", "2");
      await plant(session, targetId);
      await session.append({ type: "context_edit", targetId, replacement: null });
    });
    expect(plan).not.toMatch(WHOLE_TABLE);
    expect(plan).toMatch(/SEARCH entry USING COVERING INDEX entry_marks \(session_seq=\? AND kind=\? AND rowid<\?\)/);
    expect(plan).toMatch(/SEARCH entry USING INDEX entry_marks \(session_seq=\? AND kind=\? AND rowid>\?\)/);
    expect(plan).not.toMatch(/USE TEMP B-TREE/);
  });

  test("opening a leaf reads that leaf, however many there are", async () => {
    const path = storePath();
    const store = await openStore({ path, durability: "normal" });
    const { session } = await grow("u1", { store });
    const prepared = vi.spyOn(Database.prototype, "prepare");
    await store.openSession(session.id, { leaf: "one" });
    await (await openStore({ path })).openSession(session.id, { leaf: "one" });
    const selects = prepared.mock.calls.map(([sql]) => sql).filter((sql) => /^select.* from "leaf"/i.test(sql));
    vi.restoreAllMocks();
    await store.close();
    const plans = new Set(raw(path, (file) => selects.map((sql) => planOf(file, sql))));
    expect([...plans]).toEqual(["SEARCH leaf USING PRIMARY KEY (session_seq=? AND name=?)"]);
  });

  test("the list of sessions reads no entry", async () => {
    expect(await plansOf((_session, store) => store.listSessions())).not.toMatch(/\bentry\b/);
  });
});

describe("a context", () => {
  test("reads the entries from the first kept one on, and none of what lies before, however long", async () => {
    const { store, session } = await grow("");
    await session.write(Array.from({ length: 2_000 }, (_, at) => ({ kind: "entry", entry: entryNamed(`u${at}`) }) as const));
    await plant(session, "c1:u1998 a1 a2");
    const path = await store.storage.contextPath(session.id, { leafName: "main" }, null);
    expect(path.entries.map(({ id }) => id)).toEqual(["u1998", "u1999", "c1", "a1", "a2"]);
  });

  test("read again after an append reads what was appended and nothing else", async () => {
    const { store, session } = await grow("u1 a1 u2");
    const before = await store.storage.contextPath(session.id, { leafName: "main" }, null);
    await plant(session, "a2 u3");
    const news = await store.storage.contextPath(session.id, { leafName: "main" }, before.endSeq);
    expect(news.entries.map(({ id }) => id)).toEqual(["a2", "u3"]);
  });
});
