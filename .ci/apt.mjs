// Finds programs for tests, and installs packages of Debian. Test files run side by side, and apt serves one program at a time, so each waits for the others.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** The path of a program in a folder of PATH, or else in one of `more`; undefined: there is none that this user can run. */
export function findProgram(name, more = []) {
  return [...(process.env["PATH"] ?? "").split(delimiter), ...more]
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/**
 * Installs Debian's packages by apt-get. Only for root: on a machine of a person nothing is installed. Returns true if they are installed.
 *
 * @param environment variables for what the packages start, besides those of this process
 */
export function installPackages(names, environment = {}) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  process.stderr.write(`[tests] Installing ${names.join(" and ")} by apt-get.\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", ...environment };
  const apt = (...args) =>
    spawnSync("flock", [join(tmpdir(), "bough-apt.lock"), "apt-get", ...args], { stdio: ["ignore", "ignore", "inherit"], env }).status ===
    0;
  return apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", ...names);
}
