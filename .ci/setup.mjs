// Everything a fresh clone needs before its first command: the packages, better-sqlite3 compiled where no prebuilt
// binary can be fetched, and the build. Does again only what changed since the last time, and says what it does.
//
// Needs Node, npm and a C++ toolchain; pnpm is fetched by npx in the version that package.json pins.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
  for (const file of files) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest("hex");
}

/** Runs `work` unless it was done for exactly this state of things. */
function once(name, state, isThere, work) {
  const stamp = join(stamps, name);
  if (isThere && existsSync(stamp) && readFileSync(stamp, "utf8") === state) return;
  work();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, state);
}

function run(command, args, failed) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  say(error === undefined ? failed : `${failed} (${error.message})`);
  process.exit(status ?? 1);
}

function sqliteLoads() {
  const script = "new (require('better-sqlite3'))(':memory:').close()";
  return spawnSync(process.execPath, ["-e", script], { cwd: join(root, "packages/session-core"), stdio: "ignore" }).status === 0;
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  say(`Node ${OLDEST.join(".")} or later is needed; this is ${process.versions.node}.`);
  process.exit(1);
}

const manifests = ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "test/package.json"].map((file) => join(root, file));
for (const name of readdirSync(join(root, "packages"))) manifests.push(join(root, "packages", name, "package.json"));

// The compiled better-sqlite3 fits one ABI of Node.
const installed = digest(manifests, process.versions.modules, process.platform, process.arch);
once("installed", installed, existsSync(join(root, "node_modules/.pnpm")), () => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  say(`Installing packages with ${packageManager}; compiling SQLite takes one to two minutes the first time.`);
  run(
    "npx",
    ["--yes", packageManager, "install", "--frozen-lockfile"],
    "Installing failed. Is a C++ toolchain (make, g++, python3) there?",
  );
  // Compiled for another version of Node, it is there and does not load.
  if (!sqliteLoads()) run("npx", ["--yes", packageManager, "rebuild", "-r", "better-sqlite3"], "Compiling better-sqlite3 failed.");
});

const sources = filesBelow(
  join(root, "packages"),
  (file) => /[/\\](src|demo)[/\\]|tsconfig\.json$/.test(file) && !/node_modules|[/\\]dist[/\\]/.test(file),
);
sources.push(join(root, "tsconfig.base.json"), join(root, ".ci/build.mjs"));
const built = ["session-core/dist/index.js", "compaction/dist/index.js", "cli/dist/bough.js"].every((file) =>
  existsSync(join(root, "packages", file)),
);
once("built", digest(sources, installed), built, () => {
  say("Building the packages.");
  run(process.execPath, [join(root, ".ci/build.mjs")], "The build failed.");
});
