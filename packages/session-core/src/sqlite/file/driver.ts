import { createRequire } from "node:module";
import Database from "better-sqlite3";
import { type DriverFault, DriverUnusableError } from "../../errors/store-errors.js";

// The only place that constructs better-sqlite3. better-sqlite3 loads its binary with the first database, so the version is
// checked before that: an incompatible version crashes the process.

/**
 * Opens a file, `:memory:` or the bytes of a database. SQLite errors are thrown unchanged.
 *
 * @throws {DriverUnusableError} the driver cannot run here.
 */
export function openSqlite(file: string | Buffer, options?: Database.Options): Database.Database {
  const driver = driverVersion();
  const node = process.versions.node;
  if (driver !== undefined && !isCompatible(driver, node)) throw new DriverUnusableError("wrong-version", driver, node);
  try {
    return new Database(file, options);
  } catch (error) {
    const fault = loadingFault(error);
    if (fault === undefined) throw error;
    throw new DriverUnusableError(fault, driver ?? "", node, { cause: error });
  }
}

let cachedVersion: { readonly version: string | undefined } | undefined;

/** Returns the version of better-sqlite3, or undefined if its package.json cannot be found, as in a bundle. */
function driverVersion(): string | undefined {
  cachedVersion ??= { version: readVersion() };
  return cachedVersion.version;
}

function readVersion(): string | undefined {
  try {
    const { version }: { version?: unknown } = createRequire(import.meta.url)("better-sqlite3/package.json");
    return typeof version === "string" ? version : undefined;
  } catch (error) {
    // A bundle has no package.json of better-sqlite3; a CommonJS bundle also has no `import.meta.url`.
    if (isCoded(error) && ["MODULE_NOT_FOUND", "ERR_INVALID_ARG_VALUE"].includes(error.code)) return undefined;
    throw error;
  }
}

/**
 * True if this version of the driver runs on this version of Node. Version 13 uses functions of Node-API that Node 20 lacks
 * and crashes there with a segmentation fault; version 12 is aborted by the cleanup hooks of Node 24.19 to 25, fixed in Node 26.
 */
function isCompatible(driver: string, node: string): boolean {
  const [driverMajor = 0] = numbersOf(driver);
  const [major = 0, minor = 0] = numbersOf(node);
  if (driverMajor >= 13) return major >= 22;
  return !((major === 24 && minor >= 19) || major === 25);
}

function numbersOf(version: string): readonly number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10));
}

/** Returns why the native binary could not be loaded, or undefined for other errors. */
function loadingFault(error: unknown): DriverFault | undefined {
  if (!(error instanceof Error)) return undefined;
  // Version 12 uses the package `bindings`, whose error has no code; version 13 uses `require`.
  if (/^Could not locate the bindings file/.test(error.message)) return "binary-missing";
  if (!isCoded(error)) return undefined;
  if (error.code === "MODULE_NOT_FOUND") return "binary-missing";
  return error.code === "ERR_DLOPEN_FAILED" ? "binary-foreign" : undefined;
}

function isCoded(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
