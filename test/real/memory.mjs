// What `bough hook` gives arrives at the model: in each agent a first session says something, the store imports it, the hook is installed, and a
// second session asks about it. The model server then must have been sent the frame with what was said, and nothing for a prompt about something else.
import { randomUUID } from "node:crypto";
import { claude } from "./agents/claude.mjs";
import { FLAGS as CODEX_FLAGS, codex } from "./agents/codex.mjs";
import { gemini } from "./agents/gemini.mjs";
import { opencode } from "./agents/opencode.mjs";
import { pi } from "./agents/pi.mjs";
import { AgentHome } from "./home.mjs";
import { startModelServer } from "./model-server/server.mjs";

const SAID = "Please drop the heron cache of the tokenizer, it is far too large for the zephyr build";
const ASKED = "Why did we drop the heron cache of the tokenizer in the zephyr build?";
const OTHER = "Translate the landing page into Italian and check the opening hours";

/** How an agent is given one prompt in a session of its own. */
const PROMPTS = [
  {
    agent: claude,
    ask: (home, { program }, text) => home.run([program, "-p", "--model", "claude-sonnet-4-5", "--session-id", randomUUID(), text]),
  },
  {
    agent: gemini,
    ask: (home, { program }, text) =>
      home.run([process.execPath, program, "--yolo", "--model", "gemini-2.5-pro", "--session-id", randomUUID(), "-p", text]),
  },
  {
    agent: codex,
    // In its own screen a person trusts the hook, with /hooks.
    ask: (home, { program }, text) =>
      home.run([process.execPath, program, "exec", text, "--json", ...CODEX_FLAGS, "--dangerously-bypass-hook-trust"]),
  },
  { agent: opencode, ask: (home, { program }, text) => home.run([program, "run", "--model", "local/scripted", text]) },
  { agent: pi, ask: (home, { command }, text) => home.run([...command, "-p", "--provider", "local", "--model", "scripted", text]) },
];

/** The requests that an agent sent for a prompt, as one text each. */
async function requestsOf(server, work) {
  const before = server.exchanges.length;
  await work();
  return server.exchanges.slice(before).map(({ strings }) => strings.join("\n"));
}

async function tryAgent({ agent, ask }) {
  const installed = agent.install();
  const server = await startModelServer({ pauseMs: 5 });
  const home = new AgentHome();
  const findings = [];
  try {
    await agent.configure(home, server.url, installed);
    await ask(home, installed, SAID);
    await home.bough("memory", "sync");
    await home.bough("memory", "hook", "install", agent.name, "--yes");
    const asked = await requestsOf(server, () => ask(home, installed, ASKED));
    if (!asked.some((text) => text.includes("[earlier-sessions]") && text.includes("far too large for the zephyr build")))
      findings.push(`${agent.title} did not send what the hook gives; ${asked.length} requests`);
    const other = await requestsOf(server, () => ask(home, installed, OTHER));
    const log = await home.bough("memory", "hook", "log", "--json");
    const events = JSON.parse(log.stdout).given.map(({ prompt }) => prompt);
    if (other.length === 0) findings.push(`${agent.title} asked the model nothing`);
    if (events.includes(OTHER)) findings.push(`${agent.title} was given something for another prompt`);
    await home.bough("memory", "hook", "uninstall", agent.name, "--yes");
    return findings;
  } finally {
    home.endAll();
    await server.close();
    if (process.env.BOUGH_REAL_KEEP === undefined) home.remove();
    else process.stderr.write(`${agent.title}: ${home.folder}\n`);
  }
}

export const memorySuite = {
  name: "memory",
  title: "bough hook in agents",

  async run() {
    const findings = [];
    const reached = [];
    const only = process.env.BOUGH_REAL_MEMORY?.split(",");
    for (const one of PROMPTS.filter(({ agent }) => only === undefined || only.includes(agent.name))) {
      const found = await tryAgent(one).catch((error) => [`${one.agent.title}: ${error.message}`]);
      if (found.length === 0) reached.push(one.agent.title);
      findings.push(...found);
    }
    return { version: "–", result: `the model got it in ${reached.join(", ") || "none"}`, findings };
  },
};
