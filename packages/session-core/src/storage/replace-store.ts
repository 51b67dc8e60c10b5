import { existsSync, linkSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { StoreInUseError, TargetExistsError } from "../errors/store-errors.js";
import { hasNoLinks, syncFolder, takeName } from "./backup-file.js";
import { openSqlite } from "./driver.js";
import { isSqliteFailure, storeFailure } from "./failures.js";
import { identify } from "./identity.js";
import { SUPPORTED_VERSION } from "./migrate.js";
import { StoreFile } from "./store-file.js";

/**
 * Puts a whole store in the place of the one at `path`, which keeps all it has under the name `keptAt`. The name `path`
 * leads to the old store or to the new one at any moment, also after a power cut.
 *
 * @returns whether there was a store to keep.
 * @throws {StoreInUseError} it is open, in this process or another.
 * @throws {ForeignFileError | NewerStoreError} the file at `path` is no store that may be replaced; it was left as it is.
 */
export function replaceStore(whole: string, path: string, keptAt: string): boolean {
  const present = StoreFile.find(path);
  if (present === undefined) {
    takeName(whole, path);
    syncFolder(dirname(path));
    return false;
  }
  let alone: Database.Database | undefined;
  try {
    identify(path, present.readHeader(), SUPPORTED_VERSION);
    alone = openAlone(path);
    keep(path, keptAt);
    renameSync(whole, path);
    syncFolder(dirname(path));
    return true;
  } catch (error) {
    throw storeFailure(error, path, 0);
  } finally {
    alone?.close();
    present.release();
  }
}

/**
 * Takes the whole file for this connection, its journal folded into it, so that whoever opens the store meanwhile has to
 * wait. undefined: the store is so damaged that SQLite cannot open it; who else has it open cannot be told then.
 */
function openAlone(path: string): Database.Database | undefined {
  const database = openSqlite(path, { fileMustExist: true, timeout: 0 });
  try {
    database.pragma("journal_mode = DELETE");
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (isSqliteFailure(error, "SQLITE_BUSY")) throw new StoreInUseError(path, { cause: error });
    if (isSqliteFailure(error, "SQLITE_CORRUPT") || isSqliteFailure(error, "SQLITE_NOTADB")) return undefined;
    throw error;
  }
}

// The journal of a damaged store goes with it: SQLite would fold it into the file that takes the name. It goes first, so
// that at no moment it stands beside that file.
function keep(path: string, keptAt: string): void {
  if (existsSync(keptAt)) throw new TargetExistsError(keptAt);
  const sides = ["-wal", "-shm", "-journal"].filter((side) => existsSync(`${path}${side}`));
  for (const side of sides) renameSync(`${path}${side}`, `${keptAt}${side}`);
  try {
    linkSync(path, keptAt);
  } catch (error) {
    if (!hasNoLinks(error)) throw error;
    renameSync(path, keptAt);
  }
}
