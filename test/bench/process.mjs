import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCodexFile } from "./agent-files.mjs";
import { alternate, median } from "./measure.mjs";
import { writeClaudeFile, writePiFile } from "./session-files.mjs";

export const title = "process";

const HERE = dirname(fileURLToPath(import.meta.url));
const CONTEXT = join(HERE, "child/context.mjs");
const PEAK_MEMORY = join(HERE, "child/peak-memory.cjs");
const BOUGH = join(HERE, "../../packages/cli/dist/bough.js");
const TREE_ENTRIES = 10_000;
const START_ENTRIES = 1_000;

const NOTHING = ["-e", "0"];

/** Whole processes, from the start of Node to its end. */
export async function run(bench) {
  await contexts(bench);
  await tree(bench);
  await starts(bench);
  await loading(bench);
  await mcp(bench);
  await largeImports(bench);
}

async function contexts(bench) {
  const programs = {};
  for (const size of bench.sizes) {
    const { path, sessionId } = await bench.stores.ofSize(size);
    programs[size] = [CONTEXT, path, sessionId];
  }
  const beyond = await compare(bench, "open + context, fresh process", programs, { ms: 60, megabytes: 100 });
  const figures = bench.sizes.map((size) => ({ size, value: beyond[size] }));
  bench.report.flat("the same beyond node -e 0, growing with the session", figures, 1.15);
}

async function tree(bench) {
  const work = "bough tree, whole process";
  if (!existsSync(BOUGH)) return bench.report.skipped(work, "command not built");
  const { path, sessionId } = await bench.stores.ofSize(TREE_ENTRIES);
  await compare(bench, work, { [TREE_ENTRIES]: [BOUGH, "tree", sessionId, "--store", path] }, { ms: 100, megabytes: 120 });
}

/** The most milliseconds that the start of a command may take beyond that of Node; of the others no figure is demanded. */
const START_LIMITS = { version: 25, sessions: 90, tree: 90 };

/** The commands on a small session: what remains is their start. */
async function starts({ report, stores, rounds }) {
  if (!existsSync(BOUGH)) return report.skipped("start of each command", "command not built");
  const made = stores.copy(await stores.ofSize(START_ENTRIES));
  const target = join(dirname(made.path), "start-export.md");
  const inStore = ["--store", made.path];
  const commands = {
    version: ["--version"],
    help: ["--help"],
    sessions: ["sessions", ...inStore],
    tree: ["tree", made.sessionId, ...inStore],
    show: ["show", made.sessionId, "@leaf", ...inStore],
    context: ["context", made.sessionId, "--brief", ...inStore],
    "context that fits a window": ["context", made.sessionId, "--brief", "--window", "200000", ...inStore],
    checkpoints: ["checkpoints", made.sessionId, ...inStore],
    search: ["search", "parser", "--session", made.sessionId, ...inStore],
    stats: ["stats", made.sessionId, ...inStore],
    go: ["go", made.sessionId, "@leaf", ...inStore],
    label: ["label", made.sessionId, "@leaf", "here", ...inStore],
    export: ["export", made.sessionId, "--output", target, "--force", ...inStore],
  };
  const contestants = { nothing: { run: () => runNode(NOTHING) } };
  for (const [name, args] of Object.entries(commands)) contestants[name] = { run: () => runNode([BOUGH, ...args]) };
  const times = await alternate(contestants, { rounds: rounds(10), warmUp: 2, turnAbout: true });
  for (const name of Object.keys(commands))
    report.extra(`bough ${name}, whole process`, START_ENTRIES, median(times[name]), median(times.nothing), START_LIMITS[name] ?? null);
}

/** The library without a store, as a program that embeds it loads it; beside it the driver alone. */
async function loading({ report, rounds }) {
  const loads = (url) => ["--input-type=module", "--eval", `import ${JSON.stringify(url)}`];
  const contestants = {
    nothing: { run: () => runNode(["--input-type=module", "--eval", ""]) },
    "better-sqlite3": { run: () => runNode(loads(import.meta.resolve("better-sqlite3"))) },
    library: { run: () => runNode(loads(import.meta.resolve("@bough/session-core"))) },
  };
  const times = await alternate(contestants, { rounds: rounds(20), warmUp: 2, turnAbout: true });
  report.extra("import better-sqlite3, whole process", 0, median(times["better-sqlite3"]), median(times.nothing), null);
  report.extra("import @bough/session-core, whole process", 0, median(times.library), median(times.nothing), 40);
}

/** What a client sends to an MCP server first: the handshake, a question for its tools, and a call. */
const HANDSHAKE = [
  { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "0" } } },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
  { id: 3, method: "tools/call", params: { name: "list_sessions", arguments: {} } },
];

/** The MCP server from its start to the end of its first answer. */
async function mcp({ report, stores, rounds }) {
  if (!existsSync(BOUGH)) return report.skipped("bough mcp", "command not built");
  const { path } = await stores.ofSize(START_ENTRIES);
  const input = HANDSHAKE.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const serve = () => {
    const { stdout } = runNode([BOUGH, "mcp", "--store", path], ["pipe", "pipe", "pipe"], input);
    if (!String(stdout).includes('"id":3')) throw new Error(`bough mcp did not answer: ${stdout}`);
  };
  const times = await alternate({ nothing: { run: () => runNode(NOTHING) }, mcp: { run: serve } }, { rounds: rounds(10), warmUp: 2 });
  const work = "bough mcp, from its start to its first answer";
  report.absolute(work, START_ENTRIES, median(times.mcp), 300, { baseline: median(times.nothing) });
}

/** The agents whose files become the largest. */
const LARGE = { pi: writePiFile, "Claude Code": writeClaudeFile, Codex: writeCodexFile };

/** What an import of one large file holds in memory. */
async function largeImports({ report, stores, quick }) {
  const [bytes, size] = quick ? [50e6, "50 MB"] : [1e9, "1 GB"];
  for (const [agent, write] of Object.entries(LARGE)) {
    const work = `bough import of a ${agent} file, resident memory`;
    if (!existsSync(BOUGH)) {
      report.skipped(work, "command not built");
      continue;
    }
    const path = stores.path("large.jsonl");
    write(path, bytes);
    const target = stores.path("large.db");
    const { output } = runNode(["--require", PEAK_MEMORY, BOUGH, "import", path, "--store", target], ["ignore", "ignore", "pipe", "pipe"]);
    report.absolute(work, size, Number(output[3]) / 1e6, 400, { unit: "MB" });
    for (const file of [path, target]) rmSync(file);
  }
}

/** Programs of several sizes, all in one run with the empty one; returns what each takes beyond that. */
async function compare({ report, rounds }, work, programs, limits) {
  const contestants = { nothing: { run: () => runNode(NOTHING) } };
  for (const [size, program] of Object.entries(programs)) contestants[`of ${size}`] = { run: () => runNode(program) };
  const times = await alternate(contestants, { rounds: rounds(20), warmUp: 2, turnAbout: true });
  const nothing = { ms: median(times.nothing), megabytes: peakMegabytes(NOTHING) };
  const beyond = {};
  for (const [size, program] of Object.entries(programs)) {
    const ms = median(times[`of ${size}`]);
    beyond[size] = ms - nothing.ms;
    report.extra(work, Number(size), ms, nothing.ms, limits.ms);
    report.absolute(`${work}, resident memory`, Number(size), peakMegabytes(program), limits.megabytes, {
      unit: "MB",
      baseline: nothing.megabytes,
    });
  }
  return beyond;
}

function runNode(args, stdio = ["ignore", "ignore", "pipe"], input) {
  const child = spawnSync(process.execPath, args, { stdio, input, env: { ...process.env, NO_COLOR: "1" }, maxBuffer: 1 << 26 });
  if (child.status !== 0) throw new Error(`${args.join(" ")} ended with ${child.status}: ${child.stderr}`);
  return child;
}

/** The most that a program ever had resident, told by itself at its end; the median of three runs. */
function peakMegabytes(args) {
  const stdio = ["ignore", "ignore", "pipe", "pipe"];
  return median([1, 2, 3].map(() => Number(runNode(["--require", PEAK_MEMORY, ...args], stdio).output[3]) / 1e6));
}
