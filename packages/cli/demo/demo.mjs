// The main job in one go: a sample session goes into a throw-away store, and is seen as a tree and as what the model
// would be sent. The store stays, so that the commands at the end can be tried.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bough = join(here, "../dist/bough.js");
const sample = join(here, "sample.jsonl");
const session = "demo-lexer-tabs";

if (!existsSync(bough)) {
  process.stderr.write("The command is not built yet. Run: npm run demo\n");
  process.exit(1);
}

const store = join(mkdtempSync(join(tmpdir(), "bough-demo-")), "sessions.db");
const typed = `node ${relative(process.cwd(), bough)}`;

function say(text = "") {
  process.stdout.write(`${text}\n`);
}

/** Runs the command as a person would type it, with its output where a person would see it. */
function run(...args) {
  say(`\n$ bough ${args.map((arg) => (arg === sample ? relative(process.cwd(), sample) : arg)).join(" ")}\n`);
  const { status } = spawnSync(process.execPath, [bough, ...args, "--store", store], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

say(`A throw-away store: ${store}`);
run("import", sample);
run("tree", session);
run("context", session);

say("\nThe store is still there. Type next:\n");
for (const line of [
  `tree ${session} --all --time`,
  `show ${session} "regex: too slow"`,
  `search "form feed"`,
  `go ${session} "two ways"`,
  `undo ${session}`,
  `context ${session} --brief --window 2000`,
  `checkpoints ${session}`,
  `export ${session} --tool-output full`,
  "help",
]) {
  say(`  ${typed} ${line}${line === "help" ? "" : ` --store ${store}`}`);
}
