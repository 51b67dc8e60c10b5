// `bough demo` of a fresh clone, where nothing called bough is installed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const bough = join(dirname(fileURLToPath(import.meta.url)), "../dist/bough.js");

if (!existsSync(bough)) {
  process.stderr.write("The command is not built yet. Run: npm run demo\n");
  process.exit(1);
}

const { status } = spawnSync(process.execPath, [bough, "demo"], { stdio: "inherit" });
// An absolute path, so that the alias holds in every folder.
if (status === 0) process.stdout.write(`\nHere, bough is: alias bough="node ${/\s/.test(bough) ? `'${bough}'` : bough}"\n`);
process.exit(status ?? 1);
