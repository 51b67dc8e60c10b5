import { randomInt } from "node:crypto";
import type { Database } from "better-sqlite3";
import { ForeignFileError, NewerStoreError } from "../../errors/store-errors.js";
import type { OnProgress } from "../../port/connection-options.js";
import { initial } from "../migrations/0001-initial.js";
import { entryTokenCount } from "../migrations/0002-entry-token-count.js";
import { ancestorsAndActivity } from "../migrations/0003-ancestors-and-activity.js";
import { payloadsApart } from "../migrations/0004-payloads-apart.js";
import { readsByIndex } from "../migrations/0005-reads-by-index.js";
import { tellingRows } from "../migrations/0006-telling-rows.js";
import { partsOfWords } from "../migrations/0007-parts-of-words.js";
import { sourceFiles } from "../migrations/0008-source-files.js";
import { origins } from "../migrations/0009-origins.js";
import { heldEnds } from "../migrations/0010-held-ends.js";
import { foundSources } from "../migrations/0011-found-sources.js";
import { originalsByOrigin } from "../migrations/0012-originals-by-origin.js";
import { APPLICATION_ID } from "./store-file.js";

/** One step of the schema. Released steps are never edited; a later change is another step. */
interface Migration {
  readonly name: string;
  readonly statements?: readonly string[];
  /** For what statements alone cannot do. Runs after them. */
  readonly run?: (file: Database, onProgress?: OnProgress) => void;
}

/** Every step, in order. The `user_version` of a file is the number of steps that were applied to it. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  entryTokenCount,
  ancestorsAndActivity,
  payloadsApart,
  readsByIndex,
  tellingRows,
  partsOfWords,
  sourceFiles,
  origins,
  heldEnds,
  foundSources,
  originalsByOrigin,
];

/** The format version that this program writes: the number of migrations. */
export const SUPPORTED_VERSION = MIGRATIONS.length;

/** Upper bound of the initial schema cookie, far below its maximum of 2^31 - 1. */
const FIRST_SCHEMA_VERSIONS = 2 ** 30;

/** Reads the format version of an open file, including uncheckpointed changes in the WAL. */
export function readVersion(file: Database): number {
  return Number(file.pragma("user_version", { simple: true }));
}

/**
 * Migrates an open store to the version `steps.length`, in one transaction with the version number: a crash or a full disk leaves
 * the file at its old version, unchanged. Processes that open an old file at the same time wait for the first one. Returns the
 * version that the file had.
 *
 * `onProgress` gets the number of copied entries and of all entries, where entries have to be copied.
 */
export function migrate(file: Database, path: string, steps: readonly Migration[] = MIGRATIONS, onProgress?: OnProgress): number {
  const found = readVersion(file);
  if (found === steps.length) return found;
  // A step may make a table again that other tables refer to. SQLite ignores this pragma inside a transaction.
  file.pragma("foreign_keys = OFF");
  const takeSteps = file.transaction((): number => {
    const version = readVersion(file);
    if (version > steps.length) throw new NewerStoreError(path, version, steps.length);
    if (version === 0) begin(file, path);
    if (version === 0 && steps === MIGRATIONS) makeNewest(file);
    else take(file, steps.slice(version), version === 0 ? undefined : onProgress);
    file.pragma(`application_id = ${APPLICATION_ID}`);
    file.pragma(`user_version = ${steps.length}`);
    return version;
  });
  try {
    // IMMEDIATE, so that the version is read under the write lock.
    return takeSteps.immediate();
  } finally {
    file.pragma("foreign_keys = ON");
  }
}

function take(file: Database, steps: readonly Migration[], onProgress?: OnProgress): void {
  for (const step of steps) {
    for (const statement of step.statements ?? []) file.exec(statement);
    step.run?.(file, onProgress);
  }
}

/** The statements that make an empty file what all steps make it; undefined until a file of this process has taken them. */
let newest: readonly string[] | undefined;

/** Makes the newest schema in an empty file. The first one of a process takes all steps; they make tables anew, which takes six times as long. */
function makeNewest(file: Database): void {
  if (newest !== undefined) {
    for (const statement of newest) file.exec(statement);
    return;
  }
  // Tables that another program has put into the file are no part of a store.
  const wasEmpty = isEmpty(file);
  take(file, MIGRATIONS);
  if (wasEmpty) newest = statementsOf(file);
}

function isEmpty(file: Database): boolean {
  return file.prepare("SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)").pluck().get() === 1;
}

/** The statements for the tables, indexes and triggers of an empty store, in their order, for its first rows, and for the settings of its search. */
function statementsOf(file: Database): readonly string[] {
  const texts = (sql: string) => file.prepare<[], string>(sql).pluck().all();
  const made = texts(`
    SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'
      AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
    ORDER BY rowid`);
  const state = texts("SELECT format('INSERT INTO store_state VALUES (%d, %d, %d)', only_row, deleted_seq, indexed_seq) FROM store_state");
  const settings = ["entry_text", "session_text"].flatMap((table) =>
    texts(`SELECT format('INSERT INTO ${table} (${table}, rank) VALUES (%Q, %d)', k, v) FROM ${table}_config WHERE k <> 'version'`),
  );
  return [...made, ...state, ...settings];
}

/** Prepares an empty file. */
function begin(file: Database, path: string): void {
  requireEmpty(file, path);
  setRandomCookie(file);
}

/** Sets the schema cookie to a random number, by which an open store detects that another store was copied over its file. */
export function setRandomCookie(file: Database, schema = "main"): void {
  // better-sqlite3 ignores this pragma in safe mode, because it breaks connections that have read the schema; here there are none.
  file.unsafeMode(true).pragma(`${schema}.schema_version = ${randomInt(1, FIRST_SCHEMA_VERSIONS)}`);
  file.unsafeMode(false);
}

/** Throws if another program has created a database since the file was found empty. */
function requireEmpty(file: Database, path: string): void {
  if (file.pragma("application_id", { simple: true }) === APPLICATION_ID) return;
  if (!isEmpty(file)) throw new ForeignFileError(path, "an SQLite database of another program");
}
