// Each package as it would be published: publint reads its manifest, arethetypeswrong resolves its types as every kind
// of consumer would.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { packageManager } = JSON.parse(execFileSync("node", ["-p", "JSON.stringify(require('./package.json'))"], { cwd: root }));
let bad = 0;

function packed(folder, into) {
  execFileSync("npx", ["--yes", packageManager, "pack", "--pack-destination", into], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return join(into, readdirSync(into).find((file) => file.endsWith(".tgz")));
}

for (const name of ["session-core", "compaction", "cli"]) {
  const folder = join(root, "packages", name);
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true });
  for (const message of messages) process.stdout.write(`${pkg.name}: ${formatMessage(message, pkg)}\n`);
  bad += messages.length;
  // A command without an entry point has no types to resolve.
  if (name === "cli") continue;
  const into = mkdtempSync(join(tmpdir(), "bough-pack-"));
  try {
    const { status } = spawnSync(join(root, "node_modules/.bin/attw"), [packed(folder, into), "--profile", "esm-only", "--format", "ascii"], { stdio: "inherit" });
    bad += status === 0 ? 0 : 1;
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}
process.stdout.write(bad === 0 ? "every package is publishable\n" : `${bad} problems\n`);
process.exit(bad === 0 ? 0 : 1);
