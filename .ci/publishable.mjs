// Each package as it would be published: publint reads its manifest, arethetypeswrong resolves its types as every kind
// of consumer would.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { PACKAGES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

function pack(folder, into) {
  execFileSync("npx", ["--yes", packageManager, "pack", "--pack-destination", into], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(into, readdirSync(into).find((file) => file.endsWith(".tgz")) ?? "");
}

/** How many things are wrong with the package in this folder. */
async function problems(folder, into) {
  const tarball = pack(folder, into);
  const bytes = readFileSync(tarball);
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
  });
  for (const message of messages) process.stdout.write(`${pkg.name}: ${formatMessage(message, pkg)}\n`);
  // A command without an entry point has no types to resolve.
  if (pkg.bin !== undefined) return messages.length;
  const attw = spawnSync(join(root, "node_modules/.bin/attw"), [tarball, "--profile", "esm-only", "--format", "ascii"], {
    stdio: "inherit",
  });
  return messages.length + (attw.status === 0 ? 0 : 1);
}

let bad = 0;
for (const name of PACKAGES) {
  const into = mkdtempSync(join(tmpdir(), "bough-pack-"));
  try {
    bad += await problems(join(root, "packages", name), into);
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}
process.stdout.write(bad === 0 ? "every package is publishable\n" : `${bad} problems\n`);
process.exit(bad === 0 ? 0 : 1);
