import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Session, type Store, userMessage } from "@bough/session-core";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { grow } from "../../session-core/test/world/grow.js";
import { findingsOf } from "../../session-core/test/world/stores.js";
import { declared } from "../src/query.js";
import { ownServer } from "./server.js";

// Every query of a store on a server with its plan is in query-plans.txt. A query that is new or has another plan fails the test until the
// file is written again (`npx vitest run -u`) and the plan was read: does it cost what it returns? Plans are those of a prepared query that
// has been used a few times, with sequential scans forbidden: one that is left has no index that could be used instead.

const server = ownServer();

const SOURCE = join(import.meta.dirname, "../src");

/** Statements that read a table, or all entries of a session, by a part of their text, and why they may. */
const WALKS: readonly (readonly [part: string, why: string])[] = [
  ["UPDATE entry SET inherited = $1", "the marks of up to 5,000 entries of a session change at once"],
  ["UPDATE entry SET origin = NULL, inherited = false", "false claims are up to all entries of the session that has just arrived"],
  ["SELECT coalesce(sum(entry_count), 0)", "the entries of the tenant, for a question: one row a session"],
  ["SELECT count(*) AS sessions", "totals of the whole store: one row a session"],
  ["SELECT counts.kind, sum(entries)", "totals of the whole store: one row a session"],
  ["SELECT inherited, provider, model, sum(replies)", "totals of the whole store: a row for each model of a session"],
  ["SELECT session.session_id AS id, coalesce(session.title", "a title is compared, if no id matches what a person typed"],
  ['SELECT session.session_id AS "sessionId", coalesce(source.path', "the files of all sessions, each of which is looked at"],
  ['SELECT DISTINCT session_id AS id FROM "', "verify reads everything"],
  ["SELECT entry.seq FROM unnest($1::integer[], $2::text[]) AS given (seq, words)", "verify reads everything"],
  ["moved (first, last, by)", "a fork copies the entries of a path"],
  ["WITH RECURSIVE name (counter)", "min() reads the first count of the session"],
  ["UPDATE entry SET preview", "an import that learns the directory of its session writes the previews again"],
  ["entry.file_operations AS operations", "the calls of the tenant are compared with a path: no index holds paths"],
  ["WITH whole AS MATERIALIZED", "hits come from the index of words; in one session, or a few, the planner may read its entries"],
  [
    "SELECT entry.session_id, entry.seq, entry.created_at_ms, entry.payload_bytes FROM entry",
    "an expression is compared with each entry of a session; parts of words with each word",
  ],
  ["AS words FROM word WHERE tenant", "parts of words: without the index of pg_trgm each different word of the tenant is compared"],
  ["SELECT session.seq, session.session_id AS id, session.title", "titles that match a search; parts of words are compared with each word"],
  ["FROM label CROSS JOIN LATERAL", "labels that match a search: all of the searched sessions are compared"],
  ["AND NOT entry.inherited AND entry.origin IS NOT NULL AND EXISTS", "a deletion, which reads all entries of the session anyway"],
  ["SELECT session_id AS id, count(*) AS entries FROM entry", "counts the copies of a session, which have an index of their own"],
  ["SELECT count(*) AS count FROM entry", "totals: counts the copies, which have an index of their own"],
  [
    "AND entry.origin = ANY($3::text[]) AND entry.inherited",
    "the copies of the source of an arriving fork, which have an index of their own",
  ],
  ["AND inherited AND session_id = $", "the copies of the session that an import added entries to, which have an index of their own"],
  ["AND inherited AND EXISTS", "lists the copies of a session, which have an index of their own"],
  [
    "UPDATE entry SET origin = known.origin FROM entry AS known",
    "entries of forks that refer to a session, when it was imported after them",
  ],
  ["AS known (id, at, origin)", "forks of a session that was imported after them; the planner may read a small fork"],
  ["WITH own AS", "reads the copies that a session begins with, once, when they were imported"],
  [
    "SELECT session_id AS id FROM session WHERE tenant = $1 AND source_format IS NOT NULL",
    "the upgrade from version 1 reads all imported sessions",
  ],
  ["SELECT session_id AS id, parent_session_id AS parent FROM session", "the upgrade from version 1 reads all forks"],
  ["UPDATE entry SET origin = coalesce( (SELECT known.origin", "the upgrade from version 1 reads the copies of a session"],
  ["UPDATE entry SET origin = given.origin", "the upgrade from version 1 reads all entries of a session"],
  ['DELETE FROM "', "deletes all that a session has"],
  ['INSERT INTO "entry"', "copies all entries of a session into a fork of its whole tree"],
  ['INSERT INTO "entry_token_count"', "copies all counts of a session into a fork of its whole tree"],
];

/** Calls whose statements are built for each call, so that they are not among the declared ones. */
const BUILT: readonly (readonly [what: string, call: (store: Store, session: Session) => Promise<unknown>])[] = [
  ["sessions", (store) => store.listSessions({ limit: 1 })],
  ["the next page of sessions", (store) => store.listSessions({ cursor: "5.5" })],
  ["sessions of a directory", (store) => store.listSessions({ cwd: "/a" })],
  ["sessions below a directory", (store) => store.listSessions({ under: ["/a"] })],
  ["sessions of an agent since a time", (store) => store.listSessions({ agent: "pi", sinceMs: 1, untilMs: 9 })],
  ["sessions of a parent", (store) => store.listSessions({ parentId: "s", kind: "all" })],
  ["all sessions", (store) => store.listSessions({ kind: "all", archived: "all", empty: true })],
  ["sessions by a rare member", (store) => store.listSessions({ metadata: { owner: "u1", app: "x" } })],
  ["sessions by a member that many have", (store) => store.listSessions({ metadata: { app: "x" }, cursor: "5.5" })],
  ["a search", (store) => store.search({ query: "u1" })],
  ["a search in a session with filters", (_, session) => session.search({ query: "u1", roles: ["user"], types: ["message"], sinceMs: 1 })],
  ["a search for a literal text", (store) => store.search({ query: "u1()" })],
  ["a search with an expression", (_, session) => session.search({ query: "/u1/", places: ["prose"] })],
  [
    "a search of an agent's sessions, in a directory, by file",
    (store) => store.search({ query: "u1", agents: ["pi"], cwd: "/a", path: "a.ts" }),
  ],
];

/** The tables that grow with the store. */
const TABLES =
  /^(session|session_metadata|session_title|entry|run|leaf|leaf_move|label|value|usage_total|entry_token_count|source_file|source_session|word)$/;

/** The columns of an index that say which rows are read: the tenant alone is no such column. */
const KEYS = /\b(session_id|path_key|listing|cwd|parent_session_id|key|words|word|path|mark|origin|held_until_ms)\b/;

/** Of the tables with many rows of one session, the columns that say which of these are read. */
const WITHIN = /\b(seq|start_seq|parent_seq|id|kind|custom_type|words|entry_seq|name|leaf_name|origin)\b/;

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Parent Relationship"?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Plan[];
}

const oneLine = (sql: string) => sql.replace(/\s+/g, " ").trim();

/** The parts of a plan that read all entries or runs of a session, and that the server repeats for each row of another part. */
function loopsIn(plan: Plan, isRepeated = false): readonly string[] {
  const { "Index Name": index = "", "Index Cond": condition = "" } = plan;
  // A search of some sessions reads each of them once.
  const isOfSessions = /session_id = session(_\d+)?\.session_id/.test(condition);
  const isLoop = isRepeated && /^(entry|run)_/.test(index) && !WITHIN.test(condition) && !isOfSessions;
  const below = (plan.Plans ?? []).flatMap((part) => {
    const isInner = plan["Node Type"] === "Nested Loop" && part["Parent Relationship"] === "Inner";
    return loopsIn(part, isRepeated || isInner || part["Parent Relationship"] === "SubPlan");
  });
  return isLoop ? [`${index} ${condition} filter ${plan.Filter}`, ...below] : below;
}

/** The parts of a plan that read more than what a key names. */
function walksIn(plan: Plan): readonly string[] {
  const below = (plan.Plans ?? []).flatMap(walksIn);
  const [type, table = "", condition = ""] = [plan["Node Type"], plan["Relation Name"], plan["Index Cond"]];
  if (type === "Seq Scan" && TABLES.test(table)) return [`reads ${table}`, ...below];
  if (!/^(Index|Bitmap Index)/.test(type)) return below;
  if (!KEYS.test(condition)) return [`reads ${plan["Index Name"]}`, ...below];
  return /^entry_/.test(plan["Index Name"] ?? "") && !WITHIN.test(condition) ? ["reads all entries of a session", ...below] : below;
}

/** A store of 3,000 sessions, one of which has 20,000 entries in 200 runs. */
async function peopled(url: string): Promise<void> {
  const store = await openStore({ url, durability: "normal" });
  await grow("u1 a1", { store, session: { id: "s", cwd: "/a", metadata: { app: "x", owner: "u1" } } });
  await store.close();
  for (const statement of [
    `INSERT INTO session (seq, created_at_ms, active_at_ms, entry_count, last_seq, tenant, session_id, kind, cwd)
      SELECT n, n, n, 3, 3, '', 'made' || n, CASE WHEN n % 3 = 0 THEN 'subagent' ELSE 'conversation' END, '/home/' || n % 50 FROM generate_series(1, 3000) AS n`,
    `INSERT INTO session_metadata SELECT '', session_id, 'app', '"x"' FROM session WHERE session_id <> 's'`,
    `UPDATE session SET last_seq = 20000, entry_count = 20000 WHERE session_id = 'made1'`,
    `INSERT INTO run SELECT 1, NULL, 0, '', session_id FROM session WHERE session_id <> 's'`,
    `INSERT INTO run SELECT n * 100 + 1, n * 100 - 50, 50, '', 'made1' FROM generate_series(1, 199) AS n`,
    `INSERT INTO leaf SELECT 3, '', session_id, 'main' FROM session WHERE session_id <> 's'`,
    `INSERT INTO entry (created_at_ms, seq, parent_seq, depth, payload_bytes, kind, is_error, omits, inherited, is_private, tenant, session_id, id,
        custom_type, preview, words, payload, origin)
      SELECT n, n, nullif(n - 1, 0), n, 50, CASE WHEN n % 1000 = 0 THEN 7 WHEN n % 500 = 0 THEN 13 ELSE 2 + n % 3 END, false, false, n % 50 = 0, false, '',
        of.session_id, 'e' || n, CASE WHEN n % 500 = 0 THEN 'note' END, 'text', to_tsvector('simple', 'word' || n), '{"message":{"role":"user","content":"text"}}', 'key' || of.session_id || n
      FROM session AS of CROSS JOIN LATERAL generate_series(1, of.last_seq) AS n WHERE of.session_id <> 's'`,
    `UPDATE session SET parent_session_id = 'made1' WHERE kind = 'subagent' AND created_at_ms < 200`,
    `UPDATE session SET parent_session_id = session_id || 'x' WHERE parent_session_id IS NULL AND session_id <> 's'`,
    `INSERT INTO session_title SELECT '', session_id, to_tsvector('simple', session_id) FROM session`,
    `INSERT INTO usage_total SELECT 1, 1, 1, 1, 0, 1, false, '', session_id, 'p', 'm', '\\x00' FROM session`,
    `INSERT INTO entry_token_count SELECT seq, 1, '', session_id, 'counter' FROM entry WHERE session_id <> 's'`,
    `INSERT INTO word SELECT '', 'word' || n FROM generate_series(1, 20000) AS n`,
    `INSERT INTO source_file SELECT '', n, '/home/' || n, '1', 'pi' FROM generate_series(1, 3000) AS n`,
    `INSERT INTO source_session SELECT NULL, '', n, 'x', '/home/' || n, 'made' || n FROM generate_series(1, 3000) AS n`,
    "ANALYZE",
  ])
    await server.run(`SET search_path = bough, public; ${statement}`, url);
}

async function statementsOf(url: string, call: (store: Store, session: Session) => Promise<unknown>): Promise<readonly pg.QueryConfig[]> {
  const store = await openStore({ url });
  const session = await store.openSession("s");
  const sent = vi.spyOn(pg.Client.prototype, "query");
  try {
    await call(store, session);
    return sent.mock.calls.flatMap(([statement]: readonly unknown[]) => (isStatement(statement) ? [withoutSchema(statement)] : []));
  } finally {
    // The files of a package share a process.
    sent.mockRestore();
    await store.close();
  }
}

/** The text as it was declared: the schema is put before the names of the tables when it is sent. */
function withoutSchema(statement: pg.QueryConfig): pg.QueryConfig {
  return { ...statement, text: statement.text.replace(/"bough"\."(\w+)"/g, "$1") };
}

function isStatement(given: unknown): given is pg.QueryConfig {
  return typeof given === "object" && given !== null && "text" in given && "values" in given;
}

/** The plan of a statement, as text, and what it reads without a key. */
async function planOf(
  client: pg.Client,
  explained: string,
  values: unknown[],
): Promise<{ readonly text: string; readonly walks: readonly string[] }> {
  const lines = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${explained}`, values);
  const trees = await client.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(
    `EXPLAIN (COSTS OFF, FORMAT JSON) ${explained}`,
    values,
  );
  return {
    text: lines.rows.map((row) => `\n    ${row["QUERY PLAN"]}`).join(""),
    walks: trees.rows.flatMap((row) => row["QUERY PLAN"].flatMap((tree) => walksIn(tree.Plan))),
  };
}

async function preparedPlanOf(client: pg.Client, sql: string) {
  const most = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  await client.query(`PREPARE planned AS ${sql}`);
  const plan = await planOf(client, `EXECUTE planned${most === 0 ? "" : `(${Array.from({ length: most }, () => "NULL").join(", ")})`}`, []);
  await client.query("DEALLOCATE planned");
  return plan;
}

test("every query has the plan that is written down, and reads a table only where it says why", async () => {
  for (const name of readdirSync(SOURCE)) await import(join(SOURCE, name));
  const url = await server.newDatabase();
  await peopled(url);
  const client = new pg.Client({
    connectionString: url,
    options: "-c search_path=bough,public -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off",
  });
  await client.connect();
  onTestFinished(() => client.end());
  const fixed = new Set(declared.map((query) => query.compile().sql));
  const plans: string[] = [];
  const unexplained: string[] = [];
  const add = (title: string, sql: string, { text, walks }: { readonly text: string; readonly walks: readonly string[] }) => {
    plans.push(`${title}${oneLine(sql)}${text}`);
    const allowed = WALKS.some(([part]) => oneLine(sql).includes(part));
    if (walks.length > 0 && !allowed) unexplained.push(`${oneLine(sql).slice(0, 200)} … ${[...new Set(walks)].join(", ")}`);
  };
  for (const sql of [...fixed].filter((one) => !/^\s*SET\b/.test(one)).toSorted()) add("", sql, await preparedPlanOf(client, sql));
  for (const [what, call] of BUILT) {
    const built = (await statementsOf(url, call)).filter(({ text }) => /^[\s(]*(SELECT|WITH)/i.test(text) && !fixed.has(text));
    expect(built, what).not.toEqual([]);
    for (const { text, values = [] } of built) add(`-- ${what}\n`, text, await planOf(client, text, values));
  }
  await expect(`${plans.join("\n\n")}\n`).toMatchFileSnapshot("query-plans.txt");
  expect(unexplained).toEqual([]);
});

/** Calls that look up entries for rows of other tables, or for other entries. */
const LOOKING_UP: readonly ((store: Store, session: Session) => Promise<unknown>)[] = [
  (_, session) => session.path(),
  (_, session) => session.list(),
  (_, session) => session.entriesById(["e1", "e2"]),
  (_, session) => session.append({ ...userMessage("other"), id: "other" }, { parentId: "e9" }),
  (_, session) => session.labels.set("e1", "label"),
  (_, session) => session.labels.list(),
  (_, session) => session.leaves(),
  (_, session) => session.moveLeaf("e2"),
  (_, session) => session.leafMoves(),
  (_, session) => session.context({ leafId: "e900" }),
  (_, session) => session.tree.children("e9"),
  (_, session) => session.tree.tips(),
  (_, session) => session.tree.branchPoints(),
  (_, session) => session.tree.tipBelow("e9"),
  (store) => store.totalsOf(["s"]),
  (store) => store.forkSession("s", { id: "fork", at: "e900" }),
  (store) => store.search({ query: "entry" }),
  (store) => store.search({ query: '"user entry"', path: "a.ts" }),
  (store) => store.search({ query: "/entry/" }),
  (store) => store.search({ query: "which one is the entry?" }),
  (store) => store.search({ query: "entry", sessionIds: ["s", "fork"] }),
  (store) => findingsOf(store),
];

test("no statement reads all entries of a session for each of many rows where the server does not know how many it has", async () => {
  const url = await server.newDatabase();
  const store = await openStore({ url, durability: "normal" });
  for (const table of ["session", "entry", "run", "label", "leaf", "leaf_move"])
    await server.run(`ALTER TABLE bough.${table} SET (autovacuum_enabled = false)`, url);
  const { session } = await grow("u1", { store, session: { id: "s", cwd: "/a" } });
  await session.append(Array.from({ length: 1000 }, (_, at) => ({ ...userMessage(`user entry ${at}`), id: `e${at}` })));
  await store.close();
  const client = new pg.Client({ connectionString: url, options: "-c search_path=bough,public -c enable_seqscan=off -c jit=off" });
  await client.connect();
  onTestFinished(() => client.end());
  const loops: string[] = [];
  for (const call of LOOKING_UP) {
    for (const { text, values = [] } of await statementsOf(url, call)) {
      const { rows } = await client.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(`EXPLAIN (FORMAT JSON) ${text}`, values);
      const found = rows.flatMap((row) => row["QUERY PLAN"].flatMap((tree) => loopsIn(tree.Plan)));
      loops.push(...found.map((part) => `${oneLine(text).slice(0, 200)} … ${part}`));
    }
  }
  expect(loops).toEqual([]);
});
