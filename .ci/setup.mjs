// Everything a fresh clone needs before its first command: the packages, better-sqlite3 and its counterpart for locked stores
// in the version that runs on this Node, and the build. Repeats only the steps whose inputs changed or whose results are missing, and prints each step it runs.
//
// `--link` only points the packages to their better-sqlite3: the root package runs it after each `pnpm install`.
//
// Needs Node and npm; on Node 20 a C++ toolchain and Python too, because better-sqlite3 12 is compiled where no prebuilt
// binary can be fetched. pnpm is fetched by npx in the version that package.json pins.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stamps = join(root, "node_modules", ".bough");

const OLDEST = [20, 19];

function say(text) {
  process.stderr.write(`[setup] ${text}\n`);
}

function filesBelow(folder, keep) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter(keep)
    .sort();
}

function digest(files, ...facts) {
  const hash = createHash("sha256").update(facts.join("\n"));
  for (const file of files) hash.update(relative(root, file)).update(readFileSync(file));
  return hash.digest("hex");
}

/** Runs `work` unless it has run with the same inputs and all files that `made` listed still exist. */
function once(name, state, work, made) {
  const stamp = join(stamps, name);
  const before = existsSync(stamp) ? readFileSync(stamp, "utf8").split("\n") : [];
  if (before[0] === state && before.slice(1).every((file) => existsSync(join(root, file)))) return;
  work();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, [state, ...made().map((file) => relative(root, file))].join("\n"));
}

/** Runs a program; prints its output only if it fails. */
function run(command, args, what) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: Number.POSITIVE_INFINITY,
    env: { ...process.env, npm_config_update_notifier: "false" },
    // On Windows npm and npx are scripts, which only a shell starts.
    shell: process.platform === "win32" && /^np[mx]$/.test(command),
  });
  if (status === 0) return;
  const output = `${stdout ?? ""}${stderr ?? ""}`;
  process.stderr.write(output);
  const noCompiler = /gyp ERR!|node-gyp: (command )?not found/.test(output);
  const hint = noCompiler
    ? " On Node 20 SQLite is compiled: that needs make, g++, Python 3 and Node's headers, which are downloaded; where they are installed: npm_config_nodedir=/usr npm run setup. Node 22 and later need none of them."
    : "";
  say(`${what} failed${error === undefined ? " (see above)" : ` (${error.message})`}.${hint}`);
  process.exit(status ?? 1);
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  say(`Node ${OLDEST.join(".")} or later is needed; this is ${process.versions.node}.`);
  process.exit(1);
}

// Version 13 brings its binaries along and needs Node 22; version 12 is compiled, and aborted by later versions of Node 24.
const compiles = major < 22;
const DRIVERS = ["better-sqlite3", "better-sqlite3-multiple-ciphers"];

/** The folder of a driver in the version for this Node. */
function aliasOf(driver) {
  return join(root, "node_modules", `${driver}-${compiles ? "12" : "13"}`);
}
const workspaces = [
  ...readdirSync(join(root, "packages")).map((name) => join(root, "packages", name)),
  join(root, "examples"),
  join(root, "test"),
];

/** Points every package that uses a driver to the version for this Node; pnpm always links the newest one. */
function linkDrivers() {
  for (const driver of DRIVERS) for (const folder of workspaces) linkDriver(join(folder, "node_modules", driver), aliasOf(driver));
}

function linkDriver(link, alias) {
  if (!existsSync(alias) || !existsSync(link) || realpathSync(link) === realpathSync(alias)) return;
  rmSync(link, { recursive: true });
  symlinkSync(process.platform === "win32" ? realpathSync(alias) : relative(dirname(link), realpathSync(alias)), link, "junction");
}

if (process.argv.includes("--link")) {
  linkDrivers();
  process.exit(0);
}

/** The drivers that do not load on this Node. */
function unusableDrivers() {
  const loads = (driver) =>
    spawnSync(process.execPath, ["-e", `new (require('${driver}'))(':memory:').close()`], {
      cwd: join(root, "packages/session-core"),
      stdio: "ignore",
    }).status === 0;
  return DRIVERS.filter((driver) => !loads(driver));
}

const manifests = ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"].map((file) => join(root, file));
manifests.push(...workspaces.map((folder) => join(folder, "package.json")));

// A compiled better-sqlite3 fits one ABI of Node.
const installed = digest(manifests, process.versions.modules, process.platform, process.arch);

function install() {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // If pnpm's store has moved, pnpm asks whether to recreate node_modules; CI cannot answer.
  const flags = ["--frozen-lockfile", "--config.confirmModulesPurge=false", ...(compiles ? [] : ["--ignore-scripts"])];
  say(`Installing packages with ${packageManager}${compiles ? "; compiling SQLite takes one to two minutes the first time" : ""}.`);
  run("npx", ["--yes", packageManager, "install", ...flags], "Installing");
  linkDrivers();
  // Installed without its script, or compiled for another version of Node, version 12 is there and does not load.
  if (compiles)
    for (const driver of unusableDrivers())
      run("npm", ["--prefix", realpathSync(aliasOf(driver)), "run", "install"], `Compiling ${driver}`);
  const [unusable] = unusableDrivers();
  if (unusable === undefined) return;
  say(
    `${unusable} does not load on Node ${process.versions.node} (${process.platform}-${process.arch}). Remove node_modules and try again.`,
  );
  process.exit(1);
}

const linked = () =>
  [root, ...workspaces].flatMap((folder) => readdirSync(join(folder, "node_modules")).map((name) => join(folder, "node_modules", name)));
once("installed", installed, install, linked);
// A plain `pnpm install --ignore-scripts` since then has linked the newest version again.
linkDrivers();

const sources = filesBelow(
  join(root, "packages"),
  (file) => /[/\\](src|demo)[/\\]|tsconfig\.json$/.test(file) && !/node_modules|[/\\]dist[/\\]/.test(file),
);
sources.push(join(root, "tsconfig.base.json"), ...filesBelow(join(root, ".ci"), (file) => file.endsWith(".mjs")));
const build = () => {
  say("Building the packages.");
  run(process.execPath, [join(root, ".ci/build.mjs")], "The build");
};
once("built", digest(sources, installed), build, () =>
  filesBelow(join(root, "packages"), (file) => /packages[/\\][^/\\]+[/\\]dist[/\\]/.test(file)),
);
