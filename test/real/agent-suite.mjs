// One agent through everything: it works while a store watches, then its files are counted, imported, and its sessions go on in every agent
// that Bough can write for.
import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { contextAsSent, countsEqual, notSent, storesEqual, totalEquals, usageAsReported, usageOnce } from "./checks.mjs";
import { addUsage, storedSessions } from "./count.mjs";
import { AgentHome, LONGEST_MS, within } from "./home.mjs";
import { startModelServer } from "./model-server/server.mjs";

/** Between two pieces of a reply: longer than a watch collects changes, so that it sees replies that are not complete. */
const PAUSE_MS = 450;

/** The longest that a store may take for what was written last: a reply without a call of Gemini CLI counts as complete after a minute. */
const SETTLE_MS = 90_000;

/** The columns of the table, in their order. */
export const CHECKS = [
  "runs",
  "count = import",
  "watched = imported",
  "again adds 0",
  "context as sent",
  "totals once",
  "resume",
  "export",
];

/**
 * Runs an agent and all checks.
 *
 * @returns {Promise<{ title: string, version: string, sessions: number, entries: number, findings: Map<string, string[]> }>} findings by check
 */
export async function runAgent(agent, installed, targets) {
  const server = await startModelServer({ pauseMs: PAUSE_MS });
  const home = new AgentHome();
  const findings = new Map(CHECKS.map((name) => [name, []]));
  const check = async (name, work) => {
    try {
      findings.get(name).push(...(await work()));
    } catch (error) {
      findings.get(name).push(error.message);
    }
  };
  const result = { title: agent.title, version: installed.version, sessions: 0, entries: 0, findings };
  try {
    await agent.configure(home, server.url, installed);
    const watching = await home.watch("watched");
    for (const [name, step] of Object.entries(agent.steps(home, installed))) await check("runs", () => stepFindings(name, step, home));
    await check("runs", async () => (await agent.close?.(home)) ?? []);
    findings.get("runs").push(...server.unknown.filter((path) => !path.startsWith("HEAD")).map((path) => `asked the server for ${path}`));
    const raw = await agent.count(home);
    await check("again adds 0", () => syncToTheEnd(home, "imported"));
    const stored = await storedSessions(home.store("imported"));
    Object.assign(result, { sessions: stored.length, entries: stored.reduce((sum, { entries }) => sum + entries.size, 0) });
    await check("count = import", () => countsEqual(raw, stored));
    await check("count = import", () => usageAsReported(raw, server.exchanges, agent));
    await check("watched = imported", () => watchedEquals(home, stored, agent));
    await check("watched = imported", () => watching.stop());
    await check("again adds 0", () => addsNothing(home, "imported"));
    await check("again adds 0", () => addsNothing(home, "watched"));
    for (const session of raw) await check("context as sent", () => contextFindings(home, session, server, agent));
    await check("totals once", async () => totalEquals(usageOnce(raw), await home.boughJson("imported", "stats")));
    const chosen = longestFirst(stored).slice(0, 3);
    for (const target of targets)
      for (const session of chosen)
        for (const way of target.agent === agent ? ["resume", "export"] : ["resume"])
          await check(way, () => goOn({ way, home, session, target, server, before: usageOnce(raw) }));
  } catch (error) {
    findings.get("runs").push(error.stack);
  }
  home.endAll();
  await server.close();
  if (process.env.BOUGH_REAL_KEEP === undefined) home.remove();
  else {
    writeFileSync(home.path("exchanges.json"), JSON.stringify(server.exchanges, null, 1));
    process.stderr.write(`${agent.title}: ${home.folder}\n`);
  }
  return result;
}

async function stepFindings(name, step, home) {
  try {
    await within(LONGEST_MS, "it did not end", step());
    return [];
  } catch (error) {
    home.endSteps();
    return [`${name}: ${error.message}`];
  }
}

/** Syncs until no last reply is left out as being written. */
async function syncToTheEnd(home, store) {
  for (const end = Date.now() + SETTLE_MS; ; await pause(500)) {
    const { agents } = await home.boughJson(store, "sync");
    const held = agents.flatMap(({ sessions }) => sessions).filter(({ heldUntilMs }) => heldUntilMs !== null);
    if (held.length === 0) return [];
    if (Date.now() > end)
      return held.map(({ sessionId }) => `the last reply of ${sessionId} is still left out after ${SETTLE_MS / 1000} s`);
  }
}

/** Waits until the watching store equals the imported one; the last differences if it never does. */
async function watchedEquals(home, imported, agent) {
  for (const end = Date.now() + SETTLE_MS; ; await pause(500)) {
    const all = existsSync(home.store("watched")) ? await storedSessions(home.store("watched")) : [];
    // A session whose file the agent has removed stays in the store that saw it, and so does a message that it has deleted.
    const isThere = agent.deletes?.(home) ?? (() => true);
    const watched = all.filter(({ header }) => existsSync(sourceFile(header))).map((session) => withEntries(session, isThere));
    const found = storesEqual(watched, imported, ["watched", "imported"]);
    if (found.length === 0 || Date.now() > end) return found;
  }
}

const withEntries = (session, isThere) => ({ ...session, entries: new Map([...session.entries].filter(([id]) => isThere(id))) });

/** The file of a session; of one in a database (`<file>#<id>`) the database. */
const sourceFile = ({ source }) => source.path.split("#")[0];

async function addsNothing(home, store) {
  const { agents } = await home.boughJson(store, "sync");
  const added = agents.flatMap(({ sessions }) => sessions).filter(({ entriesAdded }) => entriesAdded > 0);
  return added.map(({ sessionId, entriesAdded }) => `a further sync of the ${store} store adds ${entriesAdded} entries to ${sessionId}`);
}

async function contextFindings(home, session, server, agent) {
  const context = await home.boughJson("imported", "context", session.id);
  return contextAsSent(context, session, server.exchanges, agent).map((text) => `session ${session.id}: ${text}`);
}

const longestFirst = (sessions) => sessions.toSorted((left, right) => right.entries.size - left.entries.size);

/**
 * Writes a session for an agent, by `bough resume` or `bough export`, has the agent go on with it, and compares the request with the context.
 * After `resume` the new session is imported: the store's total grows by the new requests alone.
 */
async function goOn({ way, home, session, target, server, before }) {
  const there = new AgentHome();
  try {
    const { agent, installed } = target;
    await agent.configure(there, server.url, installed);
    copyFileSync(home.store("imported"), there.store("copy"));
    const context = await there.boughJson("copy", "context", session.id);
    const written = way === "resume" ? await resumed(there, session, target) : await placed(there, session, target, home);
    const first = server.exchanges.length;
    const prompt = "PROMPT-77 goes on";
    await agent.resume(there, installed, written.id, written.cwd, prompt);
    await agent.close?.(there);
    const exchange = server.exchanges.slice(first).find(({ strings }) => strings.some((text) => text.includes(prompt)));
    const where = `${session.id} in ${agent.title}`;
    if (exchange === undefined) return [`${where}: the prompt was not sent`];
    const found = notSent(context, exchange);
    if (way === "resume") {
      await there.bough("copy", "sync", "--json");
      const markers = server.exchanges.slice(first).map(({ reply }) => reply.marker);
      const fresh = (await agent.count(there))
        .flatMap(({ replies }) => replies)
        .filter(({ text }) => markers.some((marker) => text.includes(marker)));
      found.push(...totalEquals(fresh.map(({ usage }) => usage).reduce(addUsage, before), await there.boughJson("copy", "stats")));
    }
    return found.map((text) => `${where}: ${text}`);
  } catch (error) {
    return [`${session.id} in ${target.agent.title}: ${error.message}`];
  } finally {
    there.endAll();
    if (process.env.BOUGH_REAL_KEEP === undefined) there.remove();
  }
}

async function resumed(there, session, { agent, installed }) {
  const { sessionId, cwd, importCommand } = await there.boughJson("copy", "resume", session.id, "--in", agent.writes, "--write");
  // The name of the program is one in PATH.
  if (importCommand !== null) await there.run([installed.program, ...importCommand.slice(1)], { cwd });
  return { id: sessionId, cwd };
}

async function placed(there, session, { agent, installed }, home) {
  const { stdout } = await there.bough("copy", "export", session.id, "--format", agent.writes, "--with-secrets");
  await agent.place(there, stdout, session.id, home.project, installed);
  return { id: session.id, cwd: home.project };
}
