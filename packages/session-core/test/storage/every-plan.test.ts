import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import type { Session } from "../../src/session/session.js";
import { PLACES_OF_WORDS } from "../../src/sqlite/file/connection.js";
import { declared } from "../../src/sqlite/query.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { grow } from "../world/grow.js";
import { raw, storePath } from "../world/stores.js";

// Every query of the library with its plan is in query-plans.txt. A query that is new or has another plan fails the test until the file is
// written again (`npx vitest run -u`) and the plan was read: does it cost what it returns?

afterEach(() => vi.restoreAllMocks());

const SOURCE = join(import.meta.dirname, "..", "..", "src");

/** Statements that walk a table of the store, or all entries of a session, by their start, and why they may. */
const WALKS: readonly (readonly [start: string, why: string])[] = [
  ["SELECT coalesce(sum(row_count), 0) AS entries", "measures the whole store for `bough pack` and `bough doctor`; one row a session"],
  ["SELECT id, seq, metadata_json FROM session WHERE (? IS NULL", "verify reads everything"],
  ["SELECT id, seq FROM session WHERE ? IS NULL OR id = ?", "verify reads everything"],
  ['select "seq", coalesce(title, first_text)', "a title is compared in JavaScript, if no id matches what a person typed"],
  [
    "select * from \"session\" where kind = 'subagent' AND instr",
    "the last part of a subagent's id, if no id starts with what a person typed",
  ],
  ['delete from "entry_text" where "rowid" in', "deletes all entries of a session"],
  ['update "store_state" set "deleted_seq"', "max() reads the last entry of the session"],
  ['delete from "session"', "deletes all that a session has"],
  ['INSERT INTO "', "copies all entries of a session into a fork of its whole tree"],
  ["SELECT min(seq) AS seq FROM entry", "min() reads the first entry of the session"],
  ['select "session"."id" as "sessionId", "source_session"', "the files of all sessions, each of which is looked at"],
  ["SELECT sum(entry_count) AS total", "the entries of the store, for a question: one row a session"],
  ["SELECT count(*) AS sessions", "totals of the whole store: one row a session"],
  ["SELECT kind, sum(entries) AS count FROM kind_count WHERE TRUE", "totals of the whole store: a row for each kind of a session"],
  ["SELECT word FROM word WHERE instr", "parts of words: each different word of the store is compared, 0.1 µs a word"],
  ["DELETE FROM word WHERE word NOT IN", "after a deletion, which merges the whole index anyway"],
  ["SELECT label.label, entry.seq, session.id AS session_id", "labels that match a search: all of the searched sessions are compared"],
  ["SELECT entry_seq FROM private_entry", "the commands that a user kept out of the conversation, of which there are few"],
  ['SELECT min(seq) AS "from", max(seq) AS "to" FROM entry', "reads the first and the last entry of the session"],
  ["SELECT count(*) AS total FROM entry_text CROSS JOIN entry", "min() and max() read the first and the last entry of the session"],
  ["SELECT entry_text.rowid AS seq, bm25(entry_text)", "min() and max() read the first and the last entry of the session"],
  ["SELECT count(*) AS entries FROM entry WHERE session_seq", "counts the copies of a session, which have an index of their own"],
  ["SELECT entry.origin FROM entry WHERE session_seq = ? AND inherited = 0", "a deletion, which reads all entries of the session anyway"],
  ["SELECT count(*) AS count FROM entry WHERE inherited = 1", "totals: counts the copies, which have an index of their own"],
  ["SELECT seq FROM entry WHERE inherited = 1 LIMIT 1", "looks whether the index of copies is empty"],
  [
    "SELECT seq FROM entry WHERE session_seq = ? AND inherited = 1 ORDER BY seq",
    "lists the copies of a session, which have an index of their own",
  ],
  ["WITH leading AS MATERIALIZED", "reads the copies that a session begins with, once, when they were imported"],
  [
    "SELECT session.id AS sessionId, session.cwd, entry.id AS entryId",
    "the calls of the store are compared with a path, 0.1 µs each: no index holds paths",
  ],
  ["SELECT provider, model, sum(replies)", "totals of the whole store: a row for each model of a session"],
];

/** A table of the store that is walked, or a search of all entries of a session. A table of one row does not grow. */
const WALK =
  /^(SCAN (entry|session|leaf|leaf_move|label|value|large_value|file_operation|usage_total|token_counter|entry_token_count|entry_waypoint|payload|payload_block|tip|branch_point|kind_count|session_metadata|private_entry|word|source_file|source_session|parent|child|above|other|member)\b(?! VIRTUAL)|SEARCH entry\b.*\(session_seq=\?\)$)/m;

/** Calls whose statements are built for each call, so that they are not among the declared ones. */
const BUILT: readonly (readonly [what: string, call: (store: Store, session: Session) => Promise<unknown>])[] = [
  ["sessions", (store) => store.listSessions({ limit: 1 })],
  ["the next page of sessions", (store) => store.listSessions({ cursor: "5.5" })],
  ["sessions of a directory", (store) => store.listSessions({ cwd: "/a" })],
  ["the next page of sessions of a directory", (store) => store.listSessions({ cwd: "/a", cursor: "5.5" })],
  ["sessions below a directory", (store) => store.listSessions({ under: ["/a"] })],
  [
    "sessions below two directories, since a time",
    (store) => store.listSessions({ under: ["/a", "/b"], sinceMs: 1, untilMs: 9, cursor: "5.5" }),
  ],
  ["sessions since a time", (store) => store.listSessions({ sinceMs: 1, untilMs: 9 })],
  ["sessions of an agent", (store) => store.listSessions({ agent: "pi" })],
  ["sessions of a parent", (store) => store.listSessions({ parentId: "s", kind: "all" })],
  ["all sessions", (store) => store.listSessions({ kind: "all", archived: "all", empty: true })],
  ["archived sessions", (store) => store.listSessions({ archived: true })],
  ["sessions by a rare member", (store) => store.listSessions({ metadata: { owner: "u1", app: "x" } })],
  ["sessions by a member that many have", (store) => store.listSessions({ metadata: { app: "x" }, cursor: "5.5" })],
  ["totals of a session", (_, session) => session.statistics()],
  ["totals of the store", (store) => store.statistics()],
  ["a search", (store) => store.search({ query: "u1" })],
  ["a search in a session with filters", (_, session) => session.search({ query: "u1", roles: ["user"], types: ["message"], sinceMs: 1 })],
  ["a search for words only", (store) => store.search({ query: '"u1"' })],
  ["a search for a literal text", (store) => store.search({ query: "u1()" })],
  ["a search with an expression", (_, session) => session.search({ query: "/u1/", places: ["prose"] })],
  ["a question", (store) => store.search({ query: "which u1 is not indexed?", relax: true })],
  ["a question in a session, by file", (_, session) => session.search({ query: "which u1 is not indexed?", relax: true, path: "a.ts" })],
  ["a search of an agent's sessions", (store) => store.search({ query: "u1", agents: ["pi"] })],
  ["a search of chosen sessions", (store) => store.search({ query: "u1", sessionIds: ["a", "b"] })],
  ["a search in a directory, by file", (store) => store.search({ query: "u1", cwd: "/a", path: "a.ts" })],
];

/** The files that build statements for each call; those of `verify` read everything. */
const BUILDERS = [
  "sqlite/search/entry-scan.ts",
  "sqlite/search/hits.ts",
  "sqlite/search/index-hits.ts",
  "sqlite/search/label-hits.ts",
  "sqlite/search/question-search.ts",
  "sqlite/search/search.ts",
  "sqlite/search/term-rows.ts",
  "sqlite/sessions/session-list.ts",
  "sqlite/verify/row-rules.ts",
];

const sources = () => readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const oneLine = (sql: string) => sql.replace(/\s+/g, " ").trim();

function planOf(file: Database.Database, sql: string): string {
  const parameters = Array.from({ length: sql.split("?").length - 1 }, () => "0");
  if (sql.includes("temp.entry_text_place")) file.exec(PLACES_OF_WORDS);
  const rows = file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { readonly detail: string }[];
  return rows.map(({ detail }) => `\n    ${detail}`).join("");
}

/** A store with more than a thousand sessions of one member. */
async function peopled(path: string): Promise<void> {
  const store = await openStore({ path, durability: "normal" });
  await grow("u1 a1", { store, session: { id: "s", cwd: "/a", metadata: { app: "x", owner: "u1" } } });
  await store.catchUpSearch();
  await (await store.openSession("s")).append(userMessage("u1 is not indexed"));
  await store.close();
  raw(path, (file) =>
    file.exec(`
      WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < 1100)
        INSERT INTO session (id, kind, created_at_ms, active_at_ms) SELECT 'made' || n, 'conversation', n, n FROM made;
      INSERT INTO session_metadata SELECT 'app', '"x"', seq FROM session WHERE id <> 's'`),
  );
}

async function statementsOf(path: string, call: (store: Store, session: Session) => Promise<unknown>): Promise<readonly string[]> {
  const store = await openStore({ path, mode: "read-only" });
  const session = await store.openSession("s");
  const prepared = vi.spyOn(Database.prototype, "prepare");
  await call(store, session);
  const statements = prepared.mock.calls.map(([sql]) => oneLine(sql));
  vi.restoreAllMocks();
  await store.close();
  return statements;
}

test("every query has the plan that is written down, and walks a table only where it says why", async () => {
  for (const name of sources()) await import(join(SOURCE, name));
  const path = storePath();
  await peopled(path);
  const fixed = new Set(declared.map((query) => oneLine(query.compile().sql)));
  const planned = (sql: string) => raw(path, (file) => `${sql}${planOf(file, sql)}`);
  const plans = [...fixed].toSorted().map(planned);
  for (const [what, call] of BUILT) {
    const built = (await statementsOf(path, call)).filter((sql) => /^(SELECT|WITH)/i.test(sql) && !fixed.has(sql));
    expect(built, what).not.toEqual([]);
    plans.push(...built.map((sql) => `-- ${what}\n${planned(sql)}`));
  }
  await expect(`${plans.join("\n\n")}\n`).toMatchFileSnapshot("query-plans.txt");

  const statements = plans.map((plan) => plan.replace(/^-- .*\n/, ""));
  const walking = statements.filter((plan) =>
    WALK.test(
      plan
        .split("\n")
        .map((line) => line.trim())
        .join("\n"),
    ),
  );
  expect(walking.filter((plan) => !WALKS.some(([start]) => plan.startsWith(start))).map((plan) => plan.slice(0, 150))).toEqual([]);
  expect(WALKS.filter(([start]) => !walking.some((plan) => plan.startsWith(start)))).toEqual([]);
});

test("statements are built for each call only in the files of which every call is above", () => {
  const builders = sources().filter((name) => /\bdynamicQuery[<(]/.test(readFileSync(join(SOURCE, name), "utf8")));
  expect(builders.filter((name) => name !== "sqlite/query.ts").toSorted()).toEqual(BUILDERS);
});
