// The tables that a run prints, and the section of docs/formats.md that keeps the last row of each program.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKS } from "./agent-suite.mjs";

const PAGE = join(dirname(fileURLToPath(import.meta.url)), "../../docs/formats.md");
const [START, END] = ["<!-- real agents: written by npm run test:real -- --document -->", "<!-- end of real agents -->"];

const line = (cells) => `| ${cells.join(" | ")} |`;

const table = (headings, rows) =>
  rows.length === 0 ? "" : [line(headings), line(headings.map(() => "---")), ...rows.map(line)].join("\n");

const verdict = (findings) => (findings === undefined ? "–" : findings.length === 0 ? "ok" : `${findings.length} findings`);

/** The version of an agent that could not be fetched. */
export const NOT_INSTALLED = "not installed";

const AGENTS = ["agent", "version", "sessions", "entries", ...CHECKS, "run on"];
const SUITES = ["functions of others", "version", "result", "findings", "run on"];

const today = () => new Date().toISOString().slice(0, 10);

const agentRows = (agents) =>
  agents.map(({ title, version, sessions, entries, findings }) => [
    ...[title, version, String(sessions), String(entries)],
    ...CHECKS.map((check) => (version === NOT_INSTALLED ? "–" : verdict(findings.get(check)))),
    today(),
  ]);

const suiteRows = (suites) => suites.map(({ title, version, result, findings }) => [title, version, result, verdict(findings), today()]);

/** A row for each agent, a column for each check. */
export function agentTable(agents) {
  return table(AGENTS, agentRows(agents));
}

export function suiteTable(suites) {
  return table(SUITES, suiteRows(suites));
}

/** Replaces the rows of the programs that ran, in these versions, in the tables of docs/formats.md. A row of another version stays until it is removed. */
export function writeDocument(agents, suites) {
  const page = readFileSync(PAGE, "utf8");
  const [before, kept, after] = [
    page.slice(0, page.indexOf(START)),
    page.slice(page.indexOf(START), page.indexOf(END)),
    page.slice(page.indexOf(END)),
  ];
  const tables = [
    table(AGENTS, merged(rowsUnder(kept, AGENTS), agentRows(agents))),
    table(SUITES, merged(rowsUnder(kept, SUITES), suiteRows(suites))),
  ];
  const where = `Node.js ${process.versions.node}, ${process.platform}-${process.arch}`;
  writeFileSync(PAGE, `${before}${START}\n\nThe last runs, on ${where}.\n\n${tables.join("\n\n")}\n\n${after}`);
}

/** The rows below a heading, as cells. */
function rowsUnder(text, headings) {
  const lines = text.split("\n");
  const first = lines.indexOf(line(headings)) + 2;
  const end = lines.findIndex((candidate, at) => at >= first && !candidate.startsWith("|"));
  return lines.slice(first, end).map((row) => row.slice(2, -2).split(" | "));
}

function merged(before, fresh) {
  const keyOf = ([title, version]) => `${title} ${version}`;
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]));
  const known = new Set(before.map(keyOf));
  return [...before.map((row) => byKey.get(keyOf(row)) ?? row), ...fresh.filter((row) => !known.has(keyOf(row)))];
}
