// The tables that a run prints, and the section of docs/formats.md that keeps those of the last whole run.
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

/** A row for each agent, a column for each check. */
export function agentTable(agents) {
  const rows = agents.map(({ title, version, sessions, entries, findings }) => [
    ...[title, version, String(sessions), String(entries)],
    ...CHECKS.map((check) => (version === NOT_INSTALLED ? "–" : verdict(findings.get(check)))),
  ]);
  return table(["agent", "version", "sessions", "entries", ...CHECKS], rows);
}

export function suiteTable(suites) {
  return table(
    ["functions of others", "version", "result", "findings"],
    suites.map(({ title, version, result, findings }) => [title, version, result, verdict(findings)]),
  );
}

/** Replaces the tables of docs/formats.md, with today's date. */
export function writeDocument(agents, suites) {
  const page = readFileSync(PAGE, "utf8");
  const [before, after] = [page.slice(0, page.indexOf(START)), page.slice(page.indexOf(END))];
  const date = new Date().toISOString().slice(0, 10);
  const tables = [agentTable(agents), suiteTable(suites)].filter((one) => one !== "").join("\n\n");
  writeFileSync(
    PAGE,
    `${before}${START}\n\nRun on ${date}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}.\n\n${tables}\n\n${after}`,
  );
}
