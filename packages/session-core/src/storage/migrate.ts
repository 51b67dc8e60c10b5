import { randomInt } from "node:crypto";
import type { Database } from "better-sqlite3";
import { ForeignFileError, NewerStoreError } from "../errors/store-errors.js";
import { APPLICATION_ID } from "./file-header.js";
import { initial } from "./migrations/0001-initial.js";
import { entryTokenCount } from "./migrations/0002-entry-token-count.js";
import { ancestorsAndActivity } from "./migrations/0003-ancestors-and-activity.js";

/** One step of the schema. Released steps are never edited; a later change is another step. */
interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Every step, in order. The `user_version` of a file is the number of steps that were applied to it. */
export const MIGRATIONS: readonly Migration[] = [initial, entryTokenCount, ancestorsAndActivity];

/** The format version that this program writes: the number of migrations. */
export const SUPPORTED_VERSION = MIGRATIONS.length;

/** Upper bound of the initial schema cookie, far below its maximum of 2^31 - 1. */
const FIRST_SCHEMA_VERSIONS = 2 ** 30;

/** Reads the format version of an open file, including uncheckpointed changes in the WAL. */
export function readVersion(file: Database): number {
  return Number(file.pragma("user_version", { simple: true }));
}

/**
 * Migrates an open store to the version `steps.length`. Each step and its version number is one transaction, so a crash leaves
 * the file at one version or the other. Processes that open an old file at the same time run the steps one after the other.
 */
export function migrate(file: Database, path: string, steps: readonly Migration[] = MIGRATIONS): void {
  if (readVersion(file) === steps.length) return;
  const takeStep = file.transaction((): boolean => {
    const version = readVersion(file);
    if (version > steps.length) throw new NewerStoreError(path, version, steps.length);
    const step = steps[version];
    if (step === undefined) return false;
    if (version === 0) {
      requireEmpty(file, path);
      // A random number, by which an open store detects that another store was copied over its file. better-sqlite3 ignores
      // this pragma in safe mode, because it breaks connections that have read the schema; here there are none.
      file.unsafeMode(true).pragma(`schema_version = ${randomInt(1, FIRST_SCHEMA_VERSIONS)}`);
      file.unsafeMode(false);
    }
    for (const statement of step.statements) file.exec(statement);
    file.pragma(`application_id = ${APPLICATION_ID}`);
    file.pragma(`user_version = ${version + 1}`);
    return true;
  });
  // IMMEDIATE, so that the version is read under the write lock.
  while (takeStep.immediate());
}

/** Throws if another program has created a database since the file was found empty. */
function requireEmpty(file: Database, path: string): void {
  if (file.pragma("application_id", { simple: true }) === APPLICATION_ID) return;
  const isEmpty = file.prepare("SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)").pluck().get();
  if (isEmpty !== 1) throw new ForeignFileError(path, "an SQLite database of another program");
}
