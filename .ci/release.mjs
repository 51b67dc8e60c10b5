// Publishes the packages in the order of their dependencies, with provenance where a hosted CI vouches for it.
//
//   npm run release -- --dry-run    checks everything, packs, and publishes nothing (also what happens without a flag)
//   npm run release -- --publish    publishes; meant for .github/workflows/publish.yml
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGES } from "./packages.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const publishes = process.argv.includes("--publish");

const read = (file) => readFileSync(join(root, file), "utf8");
const { packageManager } = JSON.parse(read("package.json"));
const versions = PACKAGES.map((name) => JSON.parse(read(`packages/${name}/package.json`)).version);
const [version] = versions;

/** What has to be true of a release; each with what to do. */
function problems() {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const found = [];
  if (new Set(versions).size > 1) found.push(`the packages have different versions: ${versions.join(", ")}`);
  if (!new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, "m").test(read("CHANGELOG.md")))
    found.push(`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)" with the date of the release`);
  if (git("status", "--porcelain") !== "") found.push("the work tree has changes that are not committed");
  if (!git("tag", "--points-at", "HEAD").split("\n").includes(`v${version}`)) found.push(`the commit has no tag v${version}`);
  return found;
}

const found = problems();
for (const problem of found) process.stderr.write(`${publishes ? "" : "before a release: "}${problem}\n`);
if (publishes && found.length > 0) process.exit(1);

execFileSync(process.execPath, [join(root, ".ci/setup.mjs")], { stdio: "inherit" });
for (const name of PACKAGES) {
  // The checks above replace those of pnpm, which require a branch with an upstream; a tag has none.
  const flags = ["--no-git-checks", ...(publishes ? [] : ["--dry-run", "--config.provenance=false"])];
  const { status } = spawnSync("npx", ["--yes", packageManager, "publish", ...flags], {
    cwd: join(root, "packages", name),
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
