import { createRequire } from "node:module";
import Database from "better-sqlite3";
import { CiphersMissingError, type DriverFault, type DriverName, DriverUnusableError } from "../../errors/store-errors.js";

// The only place that constructs better-sqlite3 and better-sqlite3-multiple-ciphers, its counterpart for locked stores. A driver
// loads its binary with the first database, so the version is checked before that: an incompatible version crashes the process.

/** Opens a file, `:memory:` or the bytes of a database. */
export type OpenSqlite = (file: string | Buffer, options?: Database.Options) => Database.Database;

/**
 * Opens a file, `:memory:` or the bytes of a database. SQLite errors are thrown unchanged.
 *
 * @throws {DriverUnusableError} the driver cannot run here.
 */
export function openSqlite(file: string | Buffer, options?: Database.Options): Database.Database {
  return construct("better-sqlite3", Database, file, options);
}

/** A database of SQLite3MultipleCiphers. */
interface CipherDatabase extends Database.Database {
  /** Sets the key, before the first access to the file. */
  key(key: Buffer): void;
}

type CipherConstructor = new (file: string | Buffer, options?: Database.Options) => CipherDatabase;

/**
 * Opens a locked file with a derived key, in the form that the cipher takes. undefined: the file is not locked; a locked one can be
 * attached to it.
 *
 * @throws {CiphersMissingError | DriverUnusableError}
 */
export function openWithCiphers(rawKey: Buffer | undefined, file: string | Buffer, options?: Database.Options): Database.Database {
  const database = construct("better-sqlite3-multiple-ciphers", loadCiphers(), file, options);
  try {
    // SQLite does not encrypt its temporary files.
    database.pragma("temp_store = MEMORY");
    // Named, so that another default in a later version changes nothing.
    database.pragma("cipher = 'chacha20'");
    if (rawKey !== undefined) database.key(rawKey);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Takes a package that is installed beside this file, or beside the bundle that has it: one of CommonJS has no `import.meta.url`. */
function requireBeside(id: string) {
  return createRequire(import.meta.url ?? __filename)(id);
}

function loadCiphers(): CipherConstructor {
  try {
    return requireBeside("better-sqlite3-multiple-ciphers");
  } catch (error) {
    // A missing part of the package has the same code.
    const isMissing = isCoded(error) && /module '[\w-]+'/.test(error.message);
    throw isMissing ? new CiphersMissingError(process.versions.node, { cause: error }) : error;
  }
}

function construct<T extends Database.Database>(
  driver: DriverName,
  Driver: new (file: string | Buffer, options?: Database.Options) => T,
  file: string | Buffer,
  options: Database.Options | undefined,
): T {
  const version = driverVersion(driver);
  const node = process.versions.node;
  if (version !== undefined && !isCompatible(version, node)) throw new DriverUnusableError("wrong-version", version, node, { driver });
  try {
    return new Driver(file, options);
  } catch (error) {
    const fault = loadingFault(error);
    if (fault === undefined) throw error;
    throw new DriverUnusableError(fault, version ?? "", node, { cause: error, driver });
  }
}

const cachedVersions = new Map<DriverName, string | undefined>();

/** Returns the version of a driver, or undefined if its package.json cannot be found, as in a bundle. */
function driverVersion(driver: DriverName): string | undefined {
  if (!cachedVersions.has(driver)) cachedVersions.set(driver, readVersion(driver));
  return cachedVersions.get(driver);
}

function readVersion(driver: DriverName): string | undefined {
  try {
    const { version }: { version?: unknown } = requireBeside(`${driver}/package.json`);
    return typeof version === "string" ? version : undefined;
  } catch (error) {
    // A bundle that has the driver too has no package.json of it.
    if (isCoded(error) && error.code === "MODULE_NOT_FOUND") return undefined;
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
