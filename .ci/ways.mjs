// Lists the source files through which one operation passes. The operation runs twice and the second run is traced, so that
// loading and preparing do not count. `stack`: the files on the call stack of a prepared statement, outermost first, of the
// statement below most of them. `run`: all files with a function that runs, by V8's precise coverage.
//
//   node .ci/ways.mjs            prints each list
//   node .ci/ways.mjs --write    writes them into docs/architecture.md; --check fails where that page lists other files

import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session as Inspector } from "node:inspector/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { PACKAGES } from "./packages.mjs";
import { withPart } from "./page-part.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Where the files of a package are put one by one, unbundled; below its node_modules, so that its dependencies resolve. */
function unbundledFolder(name) {
  return join(root, "packages", name, "node_modules", ".bough-ways");
}

function unbundle(name) {
  const from = join(root, "packages", name, "src");
  const to = unbundledFolder(name);
  rmSync(to, { recursive: true, force: true });
  for (const file of readdirSync(from, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))) {
    const { code } = transformSync(readFileSync(join(from, file), "utf8"), { loader: "ts", format: "esm", target: "node20.19" });
    const target = join(to, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
  writeFileSync(join(to, "package.json"), '{ "type": "module" }\n');
}

async function load(name, file) {
  return import(pathToFileURL(join(unbundledFolder(name), file)).href);
}

/** The files of the package with a function that runs during `operation`. */
async function filesRun(name, operation) {
  const inspector = new Inspector();
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await operation();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  inspector.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
    .flatMap(({ url }) => sourceOf(name, url))
    .sort();
}

/** The files that run in each of several traces: a timer that fires during one of them does not count. */
async function filesAlwaysRun(name, operation) {
  let files = await filesRun(name, operation);
  for (let again = 0; again < 4; again++) {
    const others = new Set(await filesRun(name, operation));
    files = files.filter((file) => others.has(file));
  }
  return files;
}

/** The source file behind the URL of an unbundled one: a list of one, or of none where the URL is of something else. */
function sourceOf(name, url) {
  const folder = `${pathToFileURL(unbundledFolder(name)).href}/`;
  return url.startsWith(folder) ? [url.slice(folder.length).replace(/\.js$/, ".ts")] : [];
}

/** The files on the call stack of the statement that runs below most of them, outermost first. */
async function filesOnStack(name, operation) {
  const require = createRequire(join(root, "packages/session-core/package.json"));
  const Database = require("better-sqlite3");
  const statement = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
  const methods = ["run", "get", "all", "iterate"].map((method) => [method, statement[method]]);
  let deepest = [];
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 200;
  for (const [method, original] of methods) {
    statement[method] = function traced(...parameters) {
      const urls = [...new Error().stack.matchAll(/file:\/\/[^)\s]+?\.js/g)].map(([url]) => url);
      const files = [...new Set(urls.reverse().flatMap((url) => sourceOf(name, url)))];
      if (files.length > deepest.length) deepest = files;
      return original.apply(this, parameters);
    };
  }
  await operation();
  for (const [method, original] of methods) statement[method] = original;
  Error.stackTraceLimit = limit;
  return deepest;
}

/** A terminal made of two streams. `written` resolves at the next output. */
function streamTerminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {}, ref() {}, unref() {} });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 });
  stdout.resume();
  const terminal = { stdin, stdout, color: true, onEnd: () => () => {}, suspend() {} };
  return { terminal, type: (keys) => stdin.write(keys), written: () => once(stdout, "data") };
}

/** The files of a key that moves the selection of the navigator one row, from the bytes of the terminal to the frame. */
async function keyFiles(store, session, compactor) {
  const { navigatorScreen } = await load("cli", "navigator/navigator.js");
  const { runScreen } = await load("cli", "tui/run-screen.js");
  const { terminal, type, written } = streamTerminal();
  // Streams of this kind do not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  const world = { store, session, compactor, io: { env: {}, now: Date.now, terminal }, rememberChoice: async () => {} };
  const screen = navigatorScreen(world, await session.record(), {});
  let loaded;
  const hasTree = new Promise((resolve) => {
    loaded = resolve;
  });
  const view = (model) => {
    if (model.tree !== undefined) loaded();
    return screen.view(model);
  };
  const ended = runScreen(terminal, { ...screen, view });
  await hasTree;
  const press = async (keys) => {
    const drawn = written();
    type(keys);
    await drawn;
  };
  for (let warm = 0; warm < 5; warm++) await press(UP);
  const files = await filesAlwaysRun("cli", () => press(UP));
  type(CONTROL_C);
  await ended;
  clearInterval(alive);
  return files;
}

const UP = "\u001b[A";
const CONTROL_C = "\u0003";

/** A conversation of `rounds` rounds, each with a tool call, so that a context has pairs to check. */
async function talk(session, core, rounds) {
  for (let round = 0; round < rounds; round++) {
    await session.append(core.userMessage(`Question ${round}: ${"why is the build red? ".repeat(40)}`));
    const call = { type: "toolCall", id: `call-${round}`, name: "read", arguments: { path: `src/file-${round}.ts` } };
    await session.append(
      core.assistantMessage([{ type: "text", text: "I read the file." }, call], { provider: "anthropic", model: "claude-sonnet-4-5" }),
    );
    await session.append(core.toolResult(`call-${round}`, "read", `export const value = ${round};\n`.repeat(60)));
    await session.append(
      core.assistantMessage([{ type: "text", text: `The value of file ${round} is wrong. ${"It has to change. ".repeat(40)}` }], {}),
    );
  }
}

async function compact(compactor) {
  const result = await compactor.compact();
  if (result.kind !== "compacted") throw new Error(`The traced compaction ended as ${JSON.stringify(result)}.`);
}

async function ways() {
  for (const name of PACKAGES) unbundle(name);
  const folder = mkdtempSync(join(tmpdir(), "bough-ways-"));
  const lists = {};
  try {
    const core = await load("session-core", "index.js");
    const store = await core.openStore({ path: join(folder, "core.db") });
    const session = await store.createSession({});
    await talk(session, core, 3);
    await session.context();
    const entries = Array.from({ length: 8 }, (_one, at) => core.userMessage(`And now? (${at})`));
    const append = () => session.append(entries.shift());
    lists.append = {
      stack: await filesOnStack("session-core", append),
      run: await filesAlwaysRun("session-core", append),
    };
    // Another handle: the first one keeps its window in memory.
    const other = await store.openSession(session.id);
    const fresh = await store.openSession(session.id);
    lists.context = {
      stack: await filesOnStack("session-core", () => other.context()),
      run: await filesRun("session-core", () => fresh.context()),
    };
    await store.close();

    const built = await import(pathToFileURL(join(root, "packages/session-core/dist/index.js")).href);
    const compaction = await load("compaction", "index.js");
    const second = await built.openStore({ path: join(folder, "compaction.db") });
    const talked = await second.createSession({});
    await talk(talked, built, 60);
    const compactor = compaction.createCompactor({
      session: talked,
      contextWindow: 200_000,
      summarizer: compaction.extractiveSummarizer(),
    });
    await compactor.prepareRequest();
    lists.prepareRequest = { run: await filesAlwaysRun("compaction", () => compactor.prepareRequest()) };
    await compact(compactor);
    await talk(talked, built, 60);
    lists.compact = { run: await filesRun("compaction", () => compact(compactor)) };
    lists.key = { run: await keyFiles(second, talked, compactor) };
    await compactor.close();
    await second.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
    for (const name of PACKAGES) rmSync(unbundledFolder(name), { recursive: true, force: true });
  }
  return lists;
}

const TITLES = {
  append: { stack: "`session.append`, down to the prepared statement", run: "`session.append`, every file in which a function runs" },
  context: {
    stack: "`session.context` of a new handle, down to the prepared statement",
    run: "`session.context` of a new handle, every file in which a function runs",
  },
  prepareRequest: { run: "`compactor.prepareRequest` when nothing has to be done" },
  compact: { run: "`compactor.compact` with the extract" },
  key: { run: "an arrow key in the navigator, from the bytes to the frame" },
};

/** The lists as Markdown, grouped by folder: `tree: commit, leaves`. */
function asMarkdown(lists) {
  const rows = Object.entries(lists).flatMap(([operation, ways]) =>
    Object.entries(ways).map(
      ([kind, files]) =>
        `| ${TITLES[operation][kind]} | ${files.length} | ${kind === "stack" ? files.map(shortName).join(" → ") : byFolder(files)} |`,
    ),
  );
  return ["| operation | files | which |", "|---|--:|---|", ...rows].join("\n");
}

function shortName(file) {
  return `\`${file.replace(/\.ts$/, "")}\``;
}

function byFolder(files) {
  const groups = new Map();
  for (const file of files) {
    const name = file.replace(/\.ts$/, "");
    const cut = name.lastIndexOf("/");
    const folder = cut === -1 ? "" : name.slice(0, cut);
    groups.set(folder, [...(groups.get(folder) ?? []), name.slice(cut + 1)]);
  }
  return [...groups].map(([folder, names]) => `**${folder}**: ${names.join(", ")}`).join("; ");
}

const lists = await ways();
if (process.argv.includes("--write") || process.argv.includes("--check")) {
  const page = join(root, "docs/architecture.md");
  const before = readFileSync(page, "utf8");
  const after = withPart(before, "ways: written by node .ci/ways.mjs --write", asMarkdown(lists));
  if (process.argv.includes("--write")) writeFileSync(page, after);
  else if (after !== before) {
    process.stderr.write("docs/architecture.md lists other files. Run: node .ci/ways.mjs --write\n");
    process.exitCode = 1;
  }
} else {
  for (const [operation, ways] of Object.entries(lists)) {
    for (const [kind, files] of Object.entries(ways))
      process.stdout.write(`${operation}, ${kind}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join("")}`);
  }
}
