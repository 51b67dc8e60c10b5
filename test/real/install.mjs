// Fetches the programs into a cache outside the repository: `BOUGH_REAL_CACHE`, or a folder below the user's cache. Scripts of packages do not
// run; the file of an agent says which of its own steps are needed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The folder that keeps installed programs between runs. */
export function cacheFolder() {
  const { BOUGH_REAL_CACHE: own, XDG_CACHE_HOME: cache = join(homedir(), ".cache") } = process.env;
  return own ?? join(cache, "bough-real");
}

/**
 * Installs the first of the versions that the registry has with everything that it depends on.
 *
 * @param {string} name      of the folder in the cache
 * @param {string[]} choices   specifications of npm, such as `@openai/codex@0.169`
 * @param {string[]} [beside]   packages that are installed with it
 */
export function install(name, choices, beside = []) {
  const failures = [];
  for (const wanted of choices) {
    const folder = join(cacheFolder(), `${name}-${wanted.slice(wanted.lastIndexOf("@") + 1)}`);
    const packageName = wanted.slice(0, wanted.lastIndexOf("@"));
    const root = join(folder, "node_modules", packageName);
    const failure = fetchInto(folder, [wanted, ...beside]);
    if (failure === undefined) return { root, folder, version: JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version };
    failures.push(`${wanted}: ${failure}`);
  }
  throw new Error(`npm could not install it. ${failures.join("; ")}`);
}

/** Installs packages unless an earlier run has; the reason if npm could not. */
function fetchInto(folder, packages) {
  const stamp = join(folder, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === packages.join("\n")) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", ...packages];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) return error?.message ?? /npm error (?!code).*/.exec(stderr)?.[0] ?? `exit code ${status}`;
  writeFileSync(stamp, packages.join("\n"));
  return undefined;
}

/** The file of a package that npm chose for this platform, such as `@openai/codex-linux-x64`. */
export function platformFile({ folder }, packageName, file) {
  return join(folder, "node_modules", `${packageName}-${process.platform}-${process.arch}`, file);
}
