import { createRequire } from "node:module";
import Database from "better-sqlite3";
import { type DriverFault, DriverUnusableError } from "../errors/store-errors.js";

// The one place that constructs better-sqlite3. It loads its native binary when the first database is opened, and not
// before: until then a version that would end the whole process can still be refused with an error.

/** Opens a file, `:memory:` or the bytes of a database. @throws {DriverUnusableError} the driver cannot run here; and SQLite's own errors. */
export function openSqlite(file: string | Buffer, options?: Database.Options): Database.Database {
  const driver = driverVersion();
  const node = process.versions.node;
  if (driver !== undefined && !fits(driver, node)) throw new DriverUnusableError("wrong-version", driver, node);
  try {
    return new Database(file, options);
  } catch (error) {
    const fault = loadingFault(error);
    if (fault === undefined) throw error;
    throw new DriverUnusableError(fault, driver ?? "", node, { cause: error });
  }
}

let known: { readonly version: string | undefined } | undefined;

/** The version of the package that `import` resolves to from here. Undefined: its manifest cannot be found, as in a bundle of one file. */
function driverVersion(): string | undefined {
  known ??= { version: readVersion() };
  return known.version;
}

function readVersion(): string | undefined {
  try {
    const { version }: { version?: unknown } = createRequire(import.meta.url)("better-sqlite3/package.json");
    return typeof version === "string" ? version : undefined;
  } catch (error) {
    // Bundled, there is no manifest to read; bundled as CommonJS, there is no `import.meta.url` either.
    if (isCoded(error) && ["MODULE_NOT_FOUND", "ERR_INVALID_ARG_VALUE"].includes(error.code)) return undefined;
    throw error;
  }
}

/**
 * Whether this version of the driver runs on this version of Node. 13 uses parts of Node-API that Node 20 lacks and ends
 * there with a segmentation fault; 12 is aborted by the cleanup hooks of Node 24.19 and later, which Node 26 mended.
 */
export function fits(driver: string, node: string): boolean {
  const [driverMajor = 0] = numbersOf(driver);
  const [major = 0, minor = 0] = numbersOf(node);
  if (driverMajor >= 13) return major >= 22;
  return !((major === 24 && minor >= 19) || major === 25);
}

function numbersOf(version: string): readonly number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10));
}

/** What went wrong while the native binary was loaded; undefined: the error is about something else. */
function loadingFault(error: unknown): DriverFault | undefined {
  if (!(error instanceof Error)) return undefined;
  // Version 12 looks by `bindings`, whose error has no code; 13 by `require`.
  if (/^Could not locate the bindings file/.test(error.message)) return "binary-missing";
  if (!isCoded(error)) return undefined;
  if (error.code === "MODULE_NOT_FOUND") return "binary-missing";
  return error.code === "ERR_DLOPEN_FAILED" ? "binary-foreign" : undefined;
}

function isCoded(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
