import { chmodSync, constants, copyFileSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSystemError } from "@bough/session-core/engine";
import { SourceNotFoundError, SourceUnreadableError } from "../errors.js";
import { readStart, SourceFileReader, wrapSystemErrors } from "./source-file.js";

/** A log next to a database, and the bytes of its header that differ between one writing and the next. */
interface LogKind {
  readonly suffix: "-wal" | "-journal";
  /** The first characters of a log in use. */
  readonly magics: readonly string[];
  /** The random numbers of the header: they change with each restart of the log, and stay while it grows. */
  readonly nonce: readonly [start: number, end: number];
}

const LOGS: readonly LogKind[] = [
  { suffix: "-wal", magics: ["377f0682", "377f0683"], nonce: [16, 24] },
  { suffix: "-journal", magics: ["d9d505f920a163d7"], nonce: [12, 24] },
];

const HEADER_BYTES = 100;

/** The number of attempts to copy a database that changes during the copying. */
const ATTEMPTS = 8;

/** A copy of a database and its logs in a temporary folder that only this user can read. */
export interface DatabaseCopy {
  readonly path: string;
  /** True if a transaction was not finished: SQLite rolls it back in the copy. */
  readonly hasJournal: boolean;
  /** Removes the copy. The system keeps the files as long as they are open, except on Windows, where this does nothing until then. */
  remove(): void;
}

/**
 * Copies a database of another program without a lock, so that the program is never delayed and no file next to the database is
 * created or changed.
 *
 * The copy is of one moment: SQLite writes each page into a log before the page of the database is overwritten (the old one in
 * the rollback journal, the new one in the write-ahead log). The log is copied after the database. If it was not restarted
 * meanwhile, it has every page that changed, and SQLite reads these from the log. Without a log, the file must be unchanged.
 *
 * @param mostBytes a longer database is copied only if the file system shares its blocks with the copy.
 * @returns undefined if the database is longer, or changed during each attempt.
 * @throws {SourceNotFoundError | SourceUnreadableError} a file cannot be read, or there is no space for the copy.
 */
export function copyDatabase(path: string, mostBytes: number): DatabaseCopy | undefined {
  const source = wrapSystemErrors(path, () => realpathSync(path));
  const folder = wrapSystemErrors(tmpdir(), () => mkdtempSync(join(tmpdir(), "bough-source-")));
  const copy = join(folder, "copy.db");
  const remove = () => removeFolder(folder);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = databaseState(source);
      if (!copyFile(source, copy, mostBytes)) break;
      const logs = LOGS.filter(({ suffix }) => copyLog(source + suffix, copy + suffix));
      if (databaseState(source) !== before) pause(attempt);
      else return { path: copy, hasJournal: logs.some(({ suffix }) => suffix === "-journal"), remove };
    }
  } catch (error) {
    remove();
    throw error;
  }
  remove();
  return undefined;
}

/**
 * Checks that SQLite can read the database where it is without creating a file: a write-ahead log needs its index (`-shm`), which
 * exists while a program has the database open. Returns undefined if it cannot; `hasLog`: the database uses a write-ahead log.
 */
export function isReadableInPlace(path: string): { readonly hasLog: boolean } | undefined {
  const source = wrapSystemErrors(path, () => realpathSync(path));
  const hasLog = readStart(source, HEADER_BYTES)[19] === 2;
  if (hasLog && !["-wal", "-shm"].every((suffix) => bytesOf(source + suffix) !== undefined)) return undefined;
  return { hasLog };
}

/** Waits up to 64 ms, longer after each attempt, without a busy loop. */
function pause(attempt: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 ** Math.min(attempt, 6));
}

/** Returns a text that differs before and after a copy if the copied database and log may not match. */
function databaseState(source: string): string {
  const logs = LOGS.map(({ suffix, magics, nonce }) => {
    const header = headerOf(source + suffix);
    return magics.some((magic) => header.startsWith(magic)) ? header.slice(2 * nonce[0], 2 * nonce[1]) : "";
  });
  const { ino, size, mtimeNs, ctimeNs } = wrapSystemErrors(source, () => statSync(source, { bigint: true }));
  if (logs.some((log) => log !== "")) return [ino, ...logs].join(" ");
  // The header counts the transactions: the clock of a file system may be too coarse for two writes in a row.
  return [ino, size, mtimeNs, ctimeNs, readStart(source, HEADER_BYTES).toString("hex")].join(" ");
}

function headerOf(log: string): string {
  try {
    return readStart(log, HEADER_BYTES).toString("hex");
  } catch (error) {
    if (error instanceof SourceNotFoundError) return "";
    throw error;
  }
}

function bytesOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Copies a file. Returns false if it is longer than `mostBytes` and its blocks cannot be shared. */
function copyFile(from: string, to: string, mostBytes: number): boolean {
  // Pipes and devices are rejected, and files without permission.
  const file = new SourceFileReader(from);
  file.close();
  if (!cloneFile(from, to)) {
    if (file.bytes > mostBytes) return false;
    wrapCopy(from, () => copyFileSync(from, to));
  }
  chmodSync(to, 0o600);
  return true;
}

/** Shares the blocks of a file, which costs nothing. Returns false where the file system cannot. */
function cloneFile(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Copies a log. Without one, the log of an earlier attempt is removed. */
function copyLog(from: string, to: string): boolean {
  rmSync(to, { force: true });
  try {
    return copyFile(from, to, Number.POSITIVE_INFINITY);
  } catch (error) {
    if (error instanceof SourceNotFoundError) return false;
    throw error;
  }
}

function wrapCopy(from: string, copy: () => void): void {
  try {
    wrapSystemErrors(from, copy);
  } catch (error) {
    if (!(error instanceof SourceUnreadableError) || !isSystemError(error.cause) || error.cause.code !== "ENOSPC") throw error;
    throw new SourceUnreadableError(from, `there is no space for a copy of it in ${tmpdir()}; set TMPDIR to another folder`, {
      cause: error,
    });
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Windows removes no open file.
    if (!isSystemError(error)) throw error;
  }
}
