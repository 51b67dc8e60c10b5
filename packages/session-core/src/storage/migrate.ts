import { randomInt } from "node:crypto";
import type { Database } from "better-sqlite3";
import { ForeignFileError, NewerStoreError } from "../errors/store-errors.js";
import { APPLICATION_ID } from "./file-header.js";
import { initial } from "./migrations/0001-initial.js";
import { entryTokenCount } from "./migrations/0002-entry-token-count.js";
import { ancestorsAndActivity } from "./migrations/0003-ancestors-and-activity.js";

/** One numbered step of the schema. Never edited once shipped: a later change is another step. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Every step, in order. The `user_version` of a file is the number of steps that it has taken. */
export const MIGRATIONS: readonly Migration[] = [initial, entryTokenCount, ancestorsAndActivity];

/** The format version that this program reads and writes: how many migrations there are. */
export const SUPPORTED_VERSION = MIGRATIONS.length;

/** Where the number of schema changes of a store may start: far enough below its largest value, 2^31 - 1. */
const FIRST_SCHEMA_VERSIONS = 2 ** 30;

/** The version of an open file, also when it stands only in its journal. */
export function readVersion(file: Database): number {
  return Number(file.pragma("user_version", { simple: true }));
}

/**
 * Brings an open store up to `steps`, each step and its version number in one transaction: after a kill at any moment
 * the file is at one version or the other. Two processes that open an old file at once take turns.
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
      // Any number will do; an open store then tells another store that is copied over it from a change of its own.
      // The driver ignores it in its safe mode, because it confuses connections that have read the schema: there are none.
      file.unsafeMode(true).pragma(`schema_version = ${randomInt(1, FIRST_SCHEMA_VERSIONS)}`);
      file.unsafeMode(false);
    }
    for (const statement of step.statements) file.exec(statement);
    file.pragma(`application_id = ${APPLICATION_ID}`);
    file.pragma(`user_version = ${version + 1}`);
    return true;
  });
  // IMMEDIATE, so that the version is read under the lock that the step is written under.
  while (takeStep.immediate());
}

/** Another program may have created its own database since the file was found empty. */
function requireEmpty(file: Database, path: string): void {
  if (file.pragma("application_id", { simple: true }) === APPLICATION_ID) return;
  const isEmpty = file.prepare("SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)").pluck().get();
  if (isEmpty !== 1) throw new ForeignFileError(path, "an SQLite database of another program");
}
