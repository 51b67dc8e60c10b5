// Runs other people's programs against a model server on loopback and compares what they wrote with what Bough reads, and what Bough writes
// with what they read. Programs are fetched from the npm registry into a cache (BOUGH_REAL_CACHE, default ~/.cache/bough-real).
//   node test/real/main.mjs [--only claude,codex] [--jobs N] [--seed N] [--document]
// Exit code 1: findings. --document writes the table to docs/formats.md. BOUGH_REAL_KEEP=1 keeps the homes of the agents and prints where.
import { readOptions, refuse } from "../../.ci/program-options.mjs";
import { runAgent } from "./agent-suite.mjs";
import { claude } from "./agents/claude.mjs";
import { codex } from "./agents/codex.mjs";
import { copilot, copilotBefore } from "./agents/copilot.mjs";
import { droid } from "./agents/droid.mjs";
import { gemini } from "./agents/gemini.mjs";
import { grok } from "./agents/grok.mjs";
import { kimi } from "./agents/kimi.mjs";
import { opencode } from "./agents/opencode.mjs";
import { ohMyPi, pi, piMario } from "./agents/pi.mjs";
import { qwen } from "./agents/qwen.mjs";
import { agentTable, NOT_INSTALLED, suiteTable, writeDocument } from "./document.mjs";
import { memorySuite } from "./memory.mjs";
import { postgresSuite } from "./postgres.mjs";
import { copilotTruncator } from "./vendors/copilot-truncator.mjs";
import { piPlanner } from "./vendors/pi-planner.mjs";

const AGENTS = [claude, codex, gemini, opencode, copilotBefore, copilot, piMario, pi, ohMyPi, qwen, kimi, droid, grok];

/** Suites of other programs than agents: `{ name, title, run(seed) }`; `run` resolves with `{ version, result, findings }`. */
const SUITES = [piPlanner, copilotTruncator, memorySuite, postgresSuite];

const values = readOptions(import.meta.url, {
  only: { type: "string" },
  seed: { type: "string" },
  jobs: { type: "string" },
  document: { type: "boolean", default: false },
});
const names = [...AGENTS, ...SUITES].map(({ name }) => name);
const chosen = values.only?.split(",") ?? names;
const jobs = Number(values.jobs ?? 1);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (chosen.some((name) => !names.includes(name)) || !Number.isSafeInteger(seed) || !(jobs >= 1))
  refuse(`--only takes names of: ${names.join(", ")}. --seed and --jobs take an integer.`);
const isChosen = ({ name }) => chosen.includes(name);

let isRed = false;
function report(title, findings) {
  isRed ||= findings.length > 0;
  for (const finding of findings) process.stdout.write(`${title}: ${finding}\n`);
}

const agents = [];
const programs = AGENTS.filter(isChosen).flatMap((agent) => {
  try {
    return [{ agent, installed: agent.install() }];
  } catch (error) {
    agents.push({ title: agent.title, version: NOT_INSTALLED, sessions: 0, entries: 0, findings: new Map() });
    report(agent.title, [error.message]);
    return [];
  }
});
const targets = programs.filter(({ agent }) => agent.writes !== undefined);
// Each agent has a home and a model server of its own, and waits most of the time.
const waiting = [...programs.entries()];
const results = [];
const runNext = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [at, { agent, installed }] = next;
    const result = await runAgent(agent, installed, targets);
    results[at] = result;
    for (const [check, findings] of result.findings) report(`${result.title} ${result.version}, ${check}`, findings);
  }
};
await Promise.all(Array.from({ length: jobs }, runNext));
agents.push(...results);

const suites = [];
for (const suite of SUITES.filter(isChosen)) {
  const result = await suite.run(seed).catch((error) => ({ version: "–", result: "it did not run", findings: [error.stack] }));
  suites.push({ title: suite.title, ...result });
  report(suite.title, result.findings);
}

process.stdout.write(`\n${[agentTable(agents), suiteTable(suites)].filter((table) => table !== "").join("\n\n")}\n`);
if (values.document) writeDocument(agents, suites);
process.exitCode = isRed ? 1 : 0;
