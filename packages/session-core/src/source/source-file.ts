import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import type { BoughError } from "../errors/bough-error.js";
import { SourceNotFoundError, SourceUnreadableError } from "../errors/import-errors.js";

// A pipe without a writer is opened at once instead of waiting for one, and a terminal does not become ours.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * A regular file that is open for reading. Every file of an import is opened here: a pipe may never give a byte and a
 * device never end, so neither is read, whatever links lead to it. Close it when done.
 */
export class SourceFileReader {
  readonly path: string;
  /** Length at the time it was opened. */
  readonly bytes: number;
  readonly #file: number;

  /**
   * @throws {SourceNotFoundError} nothing is at `path`.
   * @throws {SourceUnreadableError} it is no regular file, or the system refuses to open it.
   */
  constructor(path: string) {
    this.path = path;
    // Asked before the file is opened as well, because some devices act when they are opened.
    assertRegularFile(path, statPath(path));
    this.#file = wrapSystemErrors(path, () => openSync(path, FLAGS));
    try {
      const stats = fstatSync(this.#file);
      assertRegularFile(path, stats);
      this.bytes = stats.size;
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** Reads into the start of `buffer`, from `position` or else on from the last read; gives the bytes read, 0 at the end. */
  read(buffer: Buffer, position: number | null = null): number {
    return wrapSystemErrors(this.path, () => readSync(this.#file, buffer, 0, buffer.length, position));
  }

  /** As many of `bytes` from `position` as there are. */
  bytesAt(position: number, bytes: number): Buffer {
    const buffer = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      const got = this.read(buffer.subarray(filled), position + filled);
      if (got === 0) break;
      filled += got;
    }
    return buffer.subarray(0, filled);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The first bytes of a regular file, at most `limit`. @throws what {@link SourceFileReader} throws */
export function readStart(path: string, limit: number): Buffer {
  const file = new SourceFileReader(path);
  try {
    return file.bytesAt(0, Math.min(file.bytes, limit));
  } finally {
    file.close();
  }
}

/** What is at `path`, links followed. @throws what {@link SourceFileReader} throws, but not for what is no regular file */
export function statPath(path: string): Stats {
  return wrapSystemErrors(path, () => statSync(path));
}

/** What a folder has under one name. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "special";
  /** False: the name is not UTF-8. `name` shows it, but leads nowhere. */
  readonly isOpenable: boolean;
}

/** What is in a folder, in order of name. @throws {SourceNotFoundError | SourceUnreadableError} it cannot be listed. */
export function listFolder(folder: string): readonly FolderEntry[] {
  const found = wrapSystemErrors(folder, () => readdirSync(folder, { withFileTypes: true, encoding: "buffer" }));
  const entries = found.map((entry): FolderEntry => {
    const name = entry.name.toString("utf8");
    const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "special";
    return { name, kind, isOpenable: Buffer.from(name, "utf8").equals(entry.name) };
  });
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** What a file that is no regular file is, for a message. */
export function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isFile() ? "a file" : "a device";
}

function assertRegularFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new SourceUnreadableError(path, `it is ${describeKind(stats)}, not a file`);
}

/** Runs a call of the file system; what the system refuses becomes an error that names `path`. */
export function wrapSystemErrors<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw isSystemError(error) ? toSourceError(path, error) : error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

function toSourceError(path: string, cause: NodeJS.ErrnoException): BoughError {
  const code = cause.code ?? "";
  if (code === "ENOENT" || code === "ENOTDIR") return new SourceNotFoundError(path, { cause });
  return new SourceUnreadableError(path, REASONS.get(code) ?? `the system says ${code}`, { cause });
}

const REASONS = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EISDIR", "it is a folder, not a file"],
  ["ELOOP", "its links lead in a circle"],
  ["ENAMETOOLONG", "the path is longer than the system allows"],
  ["ENXIO", "it is a socket or a device, not a file"],
  ["EAGAIN", "it gives nothing without waiting"],
]);
