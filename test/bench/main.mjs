// npm run bench: measures the store on this machine, and compares each figure with hand-written code for the same work.
//   --large     also sessions of 1,000,000 entries          --quick      small sizes, few repeats: does it still run?
//   --only NAME one group of rows (append, context, …)      --json       the report as JSON
//   --postgres  a store on a PostgreSQL server, which it starts, and nothing else
//   --document  writes docs/benchmarks.md, a table for people, and docs/benchmarks.json, all of it or the rows of --only; for a quiet machine
import Database from "better-sqlite3";
import { readOptions, refuse } from "../../.ci/program-options.mjs";
import * as append from "./append.mjs";
import * as claudeTranscripts from "./claude-transcripts.mjs";
import * as compaction from "./compaction.mjs";
import * as context from "./context.mjs";
import { writeDocuments, writeServerRows } from "./document.mjs";
import * as entryCosts from "./entry-costs.mjs";
import * as importing from "./import.mjs";
import * as langgraph from "./langgraph.mjs";
import * as locked from "./locked.mjs";
import * as memory from "./memory.mjs";
import * as navigator from "./navigator.mjs";
import * as packing from "./packing.mjs";
import * as page from "./page.mjs";
import * as pi from "./pi.mjs";
import * as picker from "./picker.mjs";
import * as postgres from "./postgres.mjs";
import * as processes from "./process.mjs";
import * as reads from "./reads.mjs";
import * as recall from "./recall.mjs";
import { HEADINGS, machine, Report, rowLine, tableLine } from "./report.mjs";
import * as search from "./search.mjs";
import * as size from "./size.mjs";
import { Stores } from "./stores.mjs";
import * as syncing from "./sync.mjs";
import * as tokens from "./tokens.mjs";
import * as tree from "./tree.mjs";
import * as writes from "./writes.mjs";

const GROUPS = [
  append,
  context,
  tree,
  reads,
  writes,
  search,
  recall,
  memory,
  importing,
  entryCosts,
  syncing,
  size,
  packing,
  locked,
  compaction,
  tokens,
  navigator,
  picker,
  page,
  langgraph,
  pi,
  claudeTranscripts,
  processes,
];

const options = readOptions(import.meta.url, {
  large: { type: "boolean", default: false },
  quick: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  postgres: { type: "boolean", default: false },
  document: { type: "boolean", default: false },
  only: { type: "string", multiple: true, default: [] },
});

const unknown = options.only.filter((name) => !GROUPS.some(({ title }) => title === name));
if (unknown.length > 0) refuse(`--only takes names of: ${GROUPS.map(({ title }) => title).join(", ")}.`);

const groups = options.postgres ? [postgres] : GROUPS.filter(({ title }) => options.only.length === 0 || options.only.includes(title));

const asTable = !options.json;
const say = (text) => process.stderr.write(`[bench] ${text}\n`);
const print = (text) => process.stdout.write(`${text}\n`);

const SQLITE = new Database(":memory:").prepare("SELECT sqlite_version()").pluck().get();
const report = new Report((row) => (asTable ? print(rowLine(row)) : say(`${row.work} ${row.size}`)));
const stores = new Stores(say);
const bench = {
  report,
  stores,
  quick: options.quick,
  sizes: options.quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, ...(options.large ? [1_000_000] : [])],
  manySessions: options.quick ? [200, 50] : [1000, 50],
  rounds: (usual) => (options.quick ? Math.max(3, Math.ceil(usual / 8)) : usual),
};

function summary() {
  const judged = report.rows.filter(({ verdict }) => verdict === "ok" || verdict === "MISSED").length;
  const { missed } = report;
  print(`\n${judged - missed.length} of ${judged} limits kept${missed.length === 0 ? "." : "; missed:"}`);
  for (const row of missed) print(rowLine({ ...row, note: null }));
}

try {
  if (asTable) {
    const { cpu, cores, memoryGB, system, node } = machine();
    print(`${cpu}, ${cores} cores, ${memoryGB} GB; ${system}; Node ${node}, SQLite ${SQLITE}\n`);
    print(tableLine(HEADINGS));
  }
  for (const group of groups) {
    stores.clear();
    await group.run(bench);
  }
  if (asTable) summary();
  else print(JSON.stringify({ machine: { ...machine(), sqlite: SQLITE }, options, rows: report.rows }, null, 2));
  if (options.document && options.postgres) writeServerRows(report);
  else if (options.document) writeDocuments(report, SQLITE, options);
} finally {
  stores.remove();
}
