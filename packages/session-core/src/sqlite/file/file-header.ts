import { closeSync, openSync, readSync } from "node:fs";
import { ForeignFileError, NewerStoreError, StoreNotFoundError } from "../../errors/store-errors.js";
import { errorCode } from "../../errors/system-error.js";

/** The `application_id` in the header of every store: "Bgh1" in ASCII. */
export const APPLICATION_ID = 0x42676831;

// Offsets in the header of a database file: https://www.sqlite.org/fileformat.html#the_database_header
export const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const CHANGE_COUNTER_OFFSET = 24;
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;
/** Offsets of the write version and the read version, which select the journal mode. */
export const JOURNAL_KIND_OFFSETS = [18, 19] as const;
/** The version of files with a rollback journal: reading them needs no other file. */
export const NO_JOURNAL_FILE = 1;
/** Offset of the schema cookie: four bytes, which a backup sets to a random number. */
export const SCHEMA_COOKIE_OFFSET = 40;

/** The kind of file at a path, by its first bytes. */
type FileIdentity = { readonly kind: "absent" } | { readonly kind: "empty" } | { readonly kind: "store"; readonly version: number };

/**
 * Identifies a file by its header, without SQLite, which could create side files or apply a journal.
 *
 * @throws {ForeignFileError} the file is not a store. It was not changed.
 * @throws {NewerStoreError} its format is newer than `supported`. It was not changed.
 */
export function identifyFile(path: string, header: Buffer | undefined, supported: number): FileIdentity {
  if (header === undefined) return { kind: "absent" };
  if (header.length === 0) return { kind: "empty" };
  if (isBoughStore(header)) {
    const version = header.readUInt32BE(USER_VERSION_OFFSET);
    if (version > supported) throw new NewerStoreError(path, version, supported);
    return { kind: "store", version };
  }
  if (isUnfinished(path)) return { kind: "empty" };
  throw new ForeignFileError(path, hasMagic(header) ? "an SQLite database of another program" : "no SQLite database");
}

function hasMagic(header: Buffer): boolean {
  return header.toString("latin1", 0, MAGIC.length) === MAGIC;
}

function isBoughStore(header: Buffer): boolean {
  return header.length >= HEADER_BYTES && hasMagic(header) && header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID;
}

/** The maximum increase of the schema cookie of an open store since the last check. */
const MOST_SCHEMA_CHANGES = 10_000;

/**
 * True if the header `now` can be a later state of the header `before`. The header of another store copied over it cannot:
 * each store and each backup starts with a random schema cookie. VACUUM, ANALYZE and a new index increase it by a few.
 */
export function isSuccessor(before: Buffer, now: Buffer): boolean {
  if (!isBoughStore(now)) return false;
  const increaseOf = (offset: number) => (now.readUInt32BE(offset) - before.readUInt32BE(offset)) >>> 0;
  if (now.readUInt32BE(USER_VERSION_OFFSET) < before.readUInt32BE(USER_VERSION_OFFSET)) return false;
  // In WAL mode the change counter stays the same over several transactions of one connection, also over a VACUUM.
  return increaseOf(SCHEMA_COOKIE_OFFSET) <= MOST_SCHEMA_CHANGES && increaseOf(CHANGE_COUNTER_OFFSET) < 2 ** 31;
}

// Offsets in the header of a rollback journal: https://www.sqlite.org/fileformat.html#the_rollback_journal
const JOURNAL_MAGIC = "d9d505f920a163d7";
const JOURNAL_PAGES_OFFSET = 16;
const JOURNAL_HEADER_BYTES = 28;

/**
 * True if the transaction that created the file was interrupted, for example by a power loss: its journal records that the
 * file was empty before, and SQLite will truncate it when it opens the file.
 */
function isUnfinished(path: string): boolean {
  const journal = readStart(`${path}-journal`, JOURNAL_HEADER_BYTES);
  return (
    journal.length === JOURNAL_HEADER_BYTES &&
    journal.toString("hex", 0, 8) === JOURNAL_MAGIC &&
    journal.readUInt32BE(JOURNAL_PAGES_OFFSET) === 0
  );
}

function readStart(path: string, bytes: number): Buffer {
  try {
    const file = openSync(path, "r");
    try {
      const start = Buffer.alloc(bytes);
      return start.subarray(0, readSync(file, start, 0, bytes, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** @throws {StoreNotFoundError} the path has no store. */
export function requireStore(path: string, identity: FileIdentity): void {
  if (identity.kind !== "store") throw new StoreNotFoundError(path);
}
