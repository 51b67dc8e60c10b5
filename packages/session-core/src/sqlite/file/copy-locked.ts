import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { errorCode } from "../../errors/system-error.js";
import { setRandomCookie } from "./migrate.js";
import { type StoreFile, walOf } from "./store-file.js";
import { pageBytesOf, type StoreLock } from "./store-lock.js";

// SQLite's online backup writes to a connection that the driver opens without a key. The bytes of a locked file are encrypted already, so
// they are copied as they are.

/** Reports how many of all pages have been copied. */
export type OnPages = (donePages: number, totalPages: number) => void;

const COPIED_BYTES = 4 * 1024 * 1024;
const WAL_HEADER_BYTES = 32;

/**
 * Copies a locked file of one moment to `partial`, an empty file, while others read and write. Returns the number of pages.
 *
 * A read transaction keeps checkpoints from writing what is newer than its snapshot into the file. If SQLite reads the snapshot from the WAL,
 * it does not restart the WAL: file and WAL together hold the snapshot and what was committed since. If it reads the snapshot from the file
 * alone, nobody writes to the file; another process may restart the WAL, and the file alone is the snapshot.
 */
export async function copyLockedFile(
  file: StoreFile,
  lock: StoreLock,
  partial: string,
  onProgress?: OnPages,
  signal?: AbortSignal,
): Promise<number> {
  const wal = walOf(file.path);
  const reader = lock.open(file.path, { readonly: true, timeout: 0 });
  try {
    beginSnapshot(reader);
    const before = headerOfWal(wal);
    await copyBytes(file.descriptor, partial, onProgress, signal);
    if (before !== undefined) await copyFile(wal, `${partial}-wal`, signal);
    if (before === undefined || headerOfWal(wal)?.equals(before) !== true) rmSync(`${partial}-wal`, { force: true });
  } finally {
    reader.close();
  }
  return finishCopy(partial, lock);
}

function beginSnapshot(reader: Database): void {
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM sqlite_schema").get();
}

/** The first bytes of a WAL, which are others after each restart; undefined if there is none. */
function headerOfWal(path: string): Buffer | undefined {
  const header = Buffer.alloc(WAL_HEADER_BYTES);
  try {
    const wal = openSync(path, "r");
    try {
      return readSync(wal, header, 0, header.length, 0) === header.length ? header : undefined;
    } finally {
      closeSync(wal);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

// SQLite locks no bytes of a WAL, so its descriptor can be closed.
async function copyFile(from: string, to: string, signal: AbortSignal | undefined): Promise<void> {
  const source = openSync(from, "r");
  try {
    closeSync(openSync(to, "wx", 0o600));
    await copyBytes(source, to, undefined, signal);
  } finally {
    closeSync(source);
  }
}

async function copyBytes(source: number, to: string, onProgress?: OnPages, signal?: AbortSignal): Promise<void> {
  const target = openSync(to, "r+");
  const { size } = fstatSync(source);
  const buffer = Buffer.alloc(Math.min(COPIED_BYTES, size));
  let pageBytes: number | undefined;
  try {
    for (let at = 0; at < size; ) {
      const read = readSync(source, buffer, 0, Math.min(buffer.length, size - at), at);
      if (read === 0) break;
      for (let written = 0; written < read; ) written += writeSync(target, buffer, written, read - written, at + written);
      pageBytes ??= pageBytesOf(buffer);
      at += read;
      onProgress?.(Math.floor(at / pageBytes), Math.ceil(size / pageBytes));
      await setImmediate();
      signal?.throwIfAborted();
    }
  } finally {
    closeSync(target);
  }
}

/** Applies the WAL of the copy and marks it as a copy. Returns the number of its pages. */
function finishCopy(partial: string, lock: StoreLock): number {
  const copy = lock.open(partial, { fileMustExist: true });
  try {
    copy.pragma("journal_mode = DELETE");
    setRandomCookie(copy);
    return Number(copy.pragma("page_count", { simple: true }));
  } finally {
    copy.close();
  }
}
