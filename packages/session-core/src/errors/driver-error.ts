import { BoughError } from "./base.js";

/**
 * Why better-sqlite3 cannot run: a version that would crash this Node; a native binary that is missing, mostly because an
 * install script was not run; or one that was built for another version of Node or another machine.
 */
export type DriverFault = "wrong-version" | "binary-missing" | "binary-foreign";

/**
 * The native driver of SQLite, better-sqlite3, cannot run on this Node. No file was opened. `message` names the commands
 * that repair it, for npm, pnpm and yarn. `driverVersion` is empty where the package has no manifest beside it.
 */
export class DriverUnusableError extends BoughError {
  readonly code = "DRIVER_UNUSABLE";
  override readonly name = "DriverUnusableError";
  constructor(
    readonly fault: DriverFault,
    readonly driverVersion: string,
    readonly nodeVersion: string,
    options?: { cause: unknown },
  ) {
    super(`${problem(fault, driverVersion, nodeVersion)}. ${repair(fault, driverVersion, nodeVersion)}. More: ${TROUBLESHOOTING}`, options);
  }
}

const TROUBLESHOOTING = "https://github.com/bough-sessions/bough/blob/main/docs/troubleshooting.md";

function problem(fault: DriverFault, driverVersion: string, nodeVersion: string): string {
  const driver = `better-sqlite3 ${driverVersion}`.trim();
  switch (fault) {
    case "wrong-version":
      return `${driver} does not run on Node ${nodeVersion}`;
    case "binary-missing":
      return `${driver} has no native binary for Node ${nodeVersion}`;
    case "binary-foreign":
      return `The native binary of ${driver} does not load on Node ${nodeVersion}: it was built for another version of Node or another machine`;
  }
}

/** Version 13 brings its binaries along and needs Node 22; version 12 has an install script, which most clients run only when told to. */
function repair(fault: DriverFault, driverVersion: string, nodeVersion: string): string {
  const old = Number.parseInt(nodeVersion, 10) < 22;
  const current = Number.parseInt(driverVersion, 10) >= 13;
  if (fault === "wrong-version" && old) return `Use Node 22 or later; to stay on this one, take version 12: ${PINNED}`;
  if (old) return `Use Node 22 or later; to stay on this one, run its install script: ${BUILT}`;
  if (current) return "Install it again; for a machine without a prebuilt binary: npm explore better-sqlite3 -- npm run build-release";
  return "Take version 13: npm install better-sqlite3@13; pnpm add better-sqlite3@13; yarn add better-sqlite3@13";
}

const PINNED =
  "npm install better-sqlite3@12; pnpm add better-sqlite3@12 --allow-build=better-sqlite3; " +
  'yarn set resolution "better-sqlite3@npm:^12.11.1 || ^13.2.0" npm:12.11.1';

const BUILT =
  "npm rebuild better-sqlite3; pnpm approve-builds better-sqlite3 && pnpm rebuild better-sqlite3; " +
  "yarn config set enableScripts true && yarn rebuild better-sqlite3";
