import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { costOf } from "./costs.mjs";
import { STEPS } from "./entry-costs.mjs";
import { withFigures } from "./readme.mjs";
import { HEADINGS, machine, rowCells } from "./report.mjs";

const DOCS = join(dirname(fileURLToPath(import.meta.url)), "../../docs");

/** The rows of the page, in its order: those that answer a user's questions. All others are in the JSON document. */
const CHOSEN = [
  [/^append, (full|normal), p50/, "100,000"],
  [/^context of a compacted session/, "100,000"],
  [/^context again after an append/, "100,000"],
  [/^starting a branch near the first entry, normal/, "100,000"],
  [/^(children of an entry|tips|latest 50 entries)$/, "100,000"],
  [/^store against JSONL, packed: one session/, "100,000"],
  [/^store against JSONL, packed: (many sessions|a real session of pi|real sessions of Claude|both together)/],
  [/^packing/],
  [/^event loop blocked/],
  [/^upgrade/],
  [/^import of an? (pi|Claude|Codex|Gemini|opencode database).*left for later/],
  [/^sync of unchanged/],
  [/^search, index warm/],
  [/^first search/],
  [/^recall, one word/, "100,000"],
  [/^LangGraph thread: file/, "400 turns"],
  [/^pi: (open a compacted|scan latest)/, "100,000"],
  [/^bough mcp/],
  [/^outline, all pages/, "100,000"],
  [/^list of sessions/],
  [/^navigator, first frame, 120×40/],
  [/^navigator, a row up, 120×40/, "100,000"],
  [/^navigator, peak memory, 120×40/, "100,000"],
  [/^picker opens: first sessions/],
  [/^page of bough view, (first paint|memory of the tab)$/, "100,000"],
  [/^bough tree, whole process$/],
  [/^open \+ context, fresh process$/, "100,000"],
  [/beyond node -e 0, growing/],
  [/^threshold check/, "100,000"],
];

/** The most rows that a person reads. */
export const MOST_ROWS = 40;

/** Writes docs/benchmarks.md, one table, docs/benchmarks.json, everything, and the figures of README.md. With `--only` all other rows stay. */
export function writeDocuments(report, sqlite, options) {
  const before = readDocument();
  const isWhole = options.only.length === 0;
  const document = {
    machine: isWhole ? { ...machine(), sqlite } : before.machine,
    options: isWhole ? options : before.options,
    rows: isWhole ? report.rows : replaced(before.rows, report.rows),
    postgres: before.postgres,
  };
  writeFileSync(join(DOCS, "benchmarks.json"), `${JSON.stringify(document, null, 1)}\n`);
  writeFileSync(join(DOCS, "benchmarks.md"), benchmarkPage(document));
  const readme = join(DOCS, "../README.md");
  const exam = readFileSync(join(DOCS, "recall-exam.md"), "utf8");
  writeFileSync(readme, withFigures(readFileSync(readme, "utf8"), document, exam));
}

/** The rows with those that were measured again; new ones come last. */
function replaced(rows, measured) {
  const keyOf = ({ work, size }) => `${work}\n${size}`;
  const again = new Map(measured.map((row) => [keyOf(row), row]));
  const known = new Set(rows.map(keyOf));
  return [...rows.map((row) => again.get(keyOf(row)) ?? row), ...measured.filter((row) => !known.has(keyOf(row)))];
}

const readDocument = () => JSON.parse(readFileSync(join(DOCS, "benchmarks.json"), "utf8"));

/** Writes the rows of a store on a server into both documents; the others stay. */
export function writeServerRows(report) {
  const document = { ...readDocument(), postgres: { machine: { ...machine(), postgres: report.server }, rows: report.rows } };
  writeFileSync(join(DOCS, "benchmarks.json"), `${JSON.stringify(document, null, 1)}\n`);
  writeFileSync(join(DOCS, "benchmarks.md"), benchmarkPage(document));
}

/** The page, from the JSON document. */
export function benchmarkPage({ machine: where, rows, postgres }) {
  const missed = rows.filter(({ verdict }) => verdict === "MISSED");
  const judged = rows.filter(({ verdict }) => verdict === "ok" || verdict === "MISSED").length;
  const { cpu, cores, memoryGB, system, node, sqlite } = where;
  return [
    "# Benchmarks",
    `Written by \`npm run bench -- --document\`: medians of repeated runs in alternating order. The baseline is hand-written code for the same
work in the same run: bare better-sqlite3 on the same tables with the same durability; for processes \`node -e 0\`; for imports reading and
\`JSON.parse\` of the same file; for the size of a store the JSONL that it came from. Every row, also those for other sizes, is in
[benchmarks.json](benchmarks.json). \`--large\` adds 1,000,000 entries.`,
    `${cpu}, ${cores} cores, ${memoryGB} GB; ${system}; Node ${node}, SQLite ${sqlite}.`,
    table(chosenRows(rows)),
    `${judged - missed.length} of ${judged} limits were kept.`,
    ...(missed.length === 0 ? [] : ["## What the missed ones cost", missedParagraphs(missed).join("\n\n")]),
    ...entrySection(rows),
    ...lockedSection(rows),
    ...(postgres === undefined ? [] : serverSection(postgres)),
    "## Prompt caches",
    `[What a session costs](cache.md#what-a-session-costs): the input of seeded sessions, with every preset and in three windows, beside "prune a
little at each request", "never prune, only compact" and the frontier of a calculation. Written by \`npm run eval -- --cache --document\`.`,
  ]
    .join("\n\n")
    .concat("\n");
}

/** What the steps of an import cost an entry; nothing if it was not measured. */
function entrySection(rows) {
  const costs = rows.filter(({ work, size }) => ENTRY_COST.test(work) && size === "20 MB");
  const formats = [...new Set(costs.map(({ work }) => work.replace(ENTRY_COST, "$1")))];
  if (formats.length === 0) return [];
  const cost = (format, step) => costs.find(({ work }) => work === `an entry of ${format}: ${step}`)?.ours ?? 0;
  const line = (texts) => `| ${texts.join(" | ")} |`;
  const lines = formats.map((format) => line([format, ...STEPS.map((step) => cost(format, step).toFixed(1))]));
  return [
    "## What an entry costs in an import",
    `In microseconds of processor time, each step measured by itself in one thread (\`npm run bench -- --only entry-costs --document\`): \`JSON.parse\`
of its lines; reading, splitting and mapping them to entries; judging it; its text, preview, file operations and the key of its content; inserting it; indexing its words, which
an import leaves for later. In a file of 8 MiB or more the first four are work of the reading thread.`,
    [line(["format", ...STEPS]), line(["---", ...STEPS.map(() => "--:")]), ...lines].join("\n"),
  ];
}

const ENTRY_COST = /^an entry of (.*): \w+$/;

/** What a lock costs, of each work for the largest size; nothing if it was not measured. */
function lockedSection(rows) {
  const locked = [...new Map(rows.flatMap((row) => (/locked store/.test(row.work) ? [[row.work, row]] : []))).values()];
  if (locked.length === 0) return [];
  return [
    "## A locked store",
    "The baseline is the same work on the same store without [a lock](lock.md). The key is derived once a process, at its first opening.",
    table(locked),
  ];
}

function serverSection({ machine: where, rows }) {
  const { cpu, cores, system, node, postgres } = where;
  const own = rows.map((row) => ({ ...row, work: row.work.replace("PostgreSQL: ", "") }));
  return [
    "## A store on PostgreSQL",
    `Written by \`npm run bench -- --postgres --document\`: a server of the same machine, over loopback, with commits on the disk before they are
acknowledged unless the row says \`normal\`. The baseline is the same rows by hand through \`pg\`, by one prepared statement; of appends a second, one writer.`,
    `${cpu}, ${cores} cores; ${system}; Node ${node}, PostgreSQL ${postgres}.`,
    table(own),
  ];
}

function chosenRows(rows) {
  const chosen = CHOSEN.flatMap(([work, size]) => rows.filter((row) => work.test(row.work) && (size === undefined || row.size === size)));
  return chosen.slice(0, MOST_ROWS);
}

function table(rows) {
  const line = (texts) => `| ${texts.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = line(HEADINGS.map((_heading, at) => (at < 2 ? "---" : "--:")));
  return [line(HEADINGS), rule, ...rows.map((row) => line(rowCells(row)))].join("\n");
}

/** The missed rows, each group with the sentences that explain it. */
function missedParagraphs(missed) {
  const groups = new Map();
  for (const row of missed) groups.set(costOf(row.work), [...(groups.get(costOf(row.work)) ?? []), row]);
  return [...groups].map(([cost, rows]) => `${cost}\n\n${rows.map(missedLine).join("\n")}`);
}

function missedLine(row) {
  const [work, size, ours, baseline, result, limit] = rowCells(row);
  const figures = [ours, baseline, result, limit].filter((text, at, all) => text !== "" && all.indexOf(text) === at).join(", ");
  return `- ${work}${size === "" ? "" : ` (${size})`}: ${figures}`;
}
