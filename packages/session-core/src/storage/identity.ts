import { closeSync, openSync, readSync, statSync } from "node:fs";
import { ForeignFileError, NewerStoreError, StoreNotFoundError, StoreUnavailableError } from "../errors/store-errors.js";

/** "Bgh1" in ASCII, in the header of every store: how a file says that it is ours. */
export const APPLICATION_ID = 0x42676831;

// Offsets in the header of a database file: https://www.sqlite.org/fileformat.html#the_database_header
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;

/** What stands at a path, told from its first bytes. */
export type FileIdentity = { readonly kind: "absent" } | { readonly kind: "empty" } | { readonly kind: "store"; readonly version: number };

/**
 * Looks at the header of a file without SQLite, which might create side files or fold a journal into it.
 *
 * @throws {ForeignFileError} the file is not ours. Not one byte of it has changed.
 * @throws {NewerStoreError} its format is newer than `supported`. Likewise.
 */
export function identify(path: string, supported: number): FileIdentity {
  const header = readHeader(path);
  if (header === undefined) return { kind: "absent" };
  if (header.length === 0) return { kind: "empty" };
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new ForeignFileError(path, "no SQLite database");
  if (header.length < HEADER_BYTES || header.readUInt32BE(APPLICATION_ID_OFFSET) !== APPLICATION_ID) {
    throw new ForeignFileError(path, "an SQLite database of another program");
  }
  const version = header.readUInt32BE(USER_VERSION_OFFSET);
  if (version > supported) throw new NewerStoreError(path, version, supported);
  return { kind: "store", version };
}

function readHeader(path: string): Buffer | undefined {
  try {
    if (!statSync(path).isFile()) throw new ForeignFileError(path, "no file");
    const file = openSync(path, "r");
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isFileSystemError(error, "ENOENT")) return undefined;
    if (isFileSystemError(error)) throw new StoreUnavailableError(path, error.code, { cause: error });
    throw error;
  }
}

/** Fails as a command that reads must: it never creates a store. */
export function requirePresent(path: string, identity: FileIdentity): void {
  if (identity.kind !== "store") throw new StoreNotFoundError(path);
}

function isFileSystemError(error: unknown, code?: string): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "errno" in error && "code" in error && (code === undefined || error.code === code);
}
