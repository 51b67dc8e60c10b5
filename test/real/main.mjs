// Runs other people's programs against a model server on loopback and compares what they wrote with what Bough reads, and what Bough writes
// with what they read. Programs are fetched from the npm registry into a cache (BOUGH_REAL_CACHE, default ~/.cache/bough-real).
//   node test/real/main.mjs [--only claude,codex] [--document]
// Exit code 1: findings. --document writes the table to docs/formats.md. BOUGH_REAL_KEEP=1 keeps the homes of the agents and prints where.
import { parseArgs } from "node:util";
import { CHECKS, runAgent } from "./agent-suite.mjs";
import { claude } from "./agents/claude.mjs";
import { codex } from "./agents/codex.mjs";
import { copilot } from "./agents/copilot.mjs";
import { gemini } from "./agents/gemini.mjs";
import { opencode } from "./agents/opencode.mjs";
import { ohMyPi, pi, piMario } from "./agents/pi.mjs";

const AGENTS = [claude, codex, gemini, opencode, copilot, piMario, pi, ohMyPi];

/** Suites of other programs than agents; each resolves with its findings. */
const SUITES = {};

const { values } = parseArgs({ options: { only: { type: "string" }, document: { type: "boolean", default: false } } });
const names = [...AGENTS.map(({ name }) => name), ...Object.keys(SUITES)];
const chosen = values.only?.split(",") ?? names;
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`--only takes names of: ${names.join(", ")}\n`);
  process.exit(2);
}

const results = [];
const installed = AGENTS.filter(({ name }) => chosen.includes(name)).flatMap((agent) => {
  try {
    return [{ agent, installed: agent.install() }];
  } catch (error) {
    results.push({ title: agent.title, version: "–", sessions: 0, entries: 0, findings: new Map([["runs", [error.message]]]) });
    return [];
  }
});
const targets = installed.filter(({ agent }) => agent.writes !== undefined);
for (const { agent, installed: program } of installed) {
  const result = await runAgent(agent, program, targets);
  results.push(result);
  for (const [check, findings] of result.findings)
    for (const finding of findings) process.stdout.write(`${result.title}, ${check}: ${finding}\n`);
}

process.stdout.write(`\n${table(results)}\n`);
process.exitCode = results.some(({ findings }) => [...findings.values()].some((list) => list.length > 0)) ? 1 : 0;

function table(rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const verdict = (findings) => (findings === undefined ? "–" : findings.length === 0 ? "ok" : `${findings.length} findings`);
  const cells = ({ title, version, sessions, entries, findings }) => [
    ...[title, version, String(sessions), String(entries)],
    ...CHECKS.map((name) => verdict(findings.get(name))),
  ];
  return [
    line(["agent", "version", "sessions", "entries", ...CHECKS]),
    line(Array(4 + CHECKS.length).fill("---")),
    ...rows.map((row) => line(cells(row))),
  ].join("\n");
}
