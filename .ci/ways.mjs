// Lists the source files through which one operation passes: those with a function that runs during it, by V8's precise coverage.
// The operation runs twice and the second run is traced, so that loading and preparing do not count.
//
//   node .ci/ways.mjs            prints each list
//   node .ci/ways.mjs --json     the same as JSON, for test/ways.test.ts and docs/architecture.md
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session as Inspector } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transformSync } from "esbuild";

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
  const folder = unbundledFolder(name);
  return result
    .filter(({ url }) => url.startsWith(pathToFileURL(folder).href))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
    .map(({ url }) => relative(folder, fileURLToPath(url)).replace(/\.js$/, ".ts"))
    .sort();
}

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
  for (const name of ["session-core", "compaction"]) unbundle(name);
  const folder = mkdtempSync(join(tmpdir(), "bough-ways-"));
  const lists = {};
  try {
    const core = await load("session-core", "index.js");
    const store = await core.openStore({ path: join(folder, "core.db") });
    const session = await store.createSession({});
    await talk(session, core, 3);
    await session.context();
    const entry = core.userMessage("And now?");
    lists.append = await filesRun("session-core", () => session.append(entry));
    lists.context = await filesRun("session-core", () => session.context());
    await store.close();

    const built = await import(pathToFileURL(join(root, "packages/session-core/dist/index.js")).href);
    const compaction = await load("compaction", "index.js");
    const other = await built.openStore({ path: join(folder, "compaction.db") });
    const talked = await other.createSession({});
    await talk(talked, built, 60);
    const compactor = compaction.createCompactor({
      session: talked,
      contextWindow: 200_000,
      summarizer: compaction.extractiveSummarizer(),
    });
    await compactor.prepareRequest();
    lists.prepareRequest = await filesRun("compaction", () => compactor.prepareRequest());
    await compact(compactor);
    await talk(talked, built, 60);
    lists.compact = await filesRun("compaction", () => compact(compactor));
    await compactor.close();
    await other.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
    for (const name of ["session-core", "compaction"]) rmSync(unbundledFolder(name), { recursive: true, force: true });
  }
  return lists;
}

const lists = await ways();
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(lists, null, 2)}\n`);
else
  for (const [name, files] of Object.entries(lists))
    process.stdout.write(`${name}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join("")}`);
