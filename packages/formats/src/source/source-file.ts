import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import zlib from "node:zlib";
import type { BoughError } from "@bough/session-core";
import { isSystemError } from "@bough/session-core/engine";
import { SourceNotFoundError, SourceUnreadableError } from "../errors.js";

// O_NONBLOCK: opening a pipe without a writer does not wait. O_NOCTTY: a terminal does not become the controlling terminal.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The largest file that is read from a compressed one, in bytes: it is held in memory. */
const MOST_BYTES = 1 << 30;

/** The largest file whose content is held while it is imported, in bytes. */
const MOST_HELD_BYTES = 1 << 16;

const SQLITE_MAGIC = "SQLite format 3\0";

/** True if these first bytes of a file are those of a SQLite database. */
export function isSqliteStart(start: Buffer): boolean {
  return start.subarray(0, SQLITE_MAGIC.length).toString("latin1") === SQLITE_MAGIC;
}

/** The content of a small file while it is imported. */
interface HeldContent {
  readonly owner: object;
  readonly content: Buffer;
}

/** The small files that are being imported, by their paths. */
const held = new Map<string, HeldContent>();

/**
 * Reads a small file once and holds its content until the returned function is called, for all that ask for parts of it meanwhile: detection,
 * checksum, header and records would open it four or five times, which took a quarter of a first sync. They also see the same bytes then.
 *
 * @param file regular when its folder was listed. One that is large, compressed or no longer readable is not held, and no database: its
 *   bytes must be of the moment of those of its write-ahead log.
 * @param owner the import. What another import of this process holds may be older than the listing of this one: both read the disk then.
 * @returns undefined if it is not held, or already by the same import.
 */
export function holdSmallFile({ path, bytes }: { readonly path: string; readonly bytes: number }, owner: object): (() => void) | undefined {
  const other = held.get(path);
  if (other?.owner === owner) return undefined;
  if (other !== undefined) {
    held.delete(path);
    return undefined;
  }
  if (bytes > MOST_HELD_BYTES || isZstdName(path)) return undefined;
  try {
    const content = readSmallFile(path);
    if (content === undefined || isSqliteStart(content)) return undefined;
    const own = { owner, content };
    held.set(path, own);
    return () => {
      if (held.get(path) === own) held.delete(path);
    };
  } catch (error) {
    // Who reads it meets the same error, and reports it.
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** The content of a file; undefined: it is not regular, or larger. */
function readSmallFile(path: string): Buffer | undefined {
  const file = openSync(path, FLAGS);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MOST_HELD_BYTES) return undefined;
    // A byte more than it has: a full buffer means that it grows.
    const buffer = Buffer.allocUnsafe(stats.size + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return length === stats.size ? buffer.subarray(0, length) : undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * A regular file, open for reading. Every file of an import is opened here or held. Pipes and devices are rejected, also behind links:
 * a pipe may never send a byte, and a device may never end. The caller closes it.
 */
export class SourceFileReader {
  readonly path: string;
  /** The length when it was opened; of a compressed file, that of its content. */
  readonly bytes: number;
  /** undefined: its content is held. */
  readonly #file: number | undefined;
  /** The content of a file that is compressed or held, in memory. */
  readonly #content: Buffer | undefined;

  /**
   * @throws {SourceNotFoundError} there is no file at `path`.
   * @throws {SourceUnreadableError} it is not a regular file, or the system cannot open it.
   */
  constructor(path: string) {
    this.path = path;
    this.#content = held.get(path)?.content;
    if (this.#content !== undefined) {
      this.bytes = this.#content.length;
      return;
    }
    // Also checked before the file is opened, because opening some devices has an effect.
    assertRegularFile(path, statPath(path));
    const file = wrapSystemErrors(path, () => openSync(path, FLAGS));
    this.#file = file;
    try {
      const stats = fstatSync(file);
      assertRegularFile(path, stats);
      if (isZstdName(path)) this.#content = decompressZstd(path, this.bytesAt(0, stats.size));
      this.bytes = this.#content?.length ?? stats.size;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  /** Reads into `buffer` from `position`. Returns the number of bytes, 0 from the end of the file on. */
  read(buffer: Buffer, position: number): number {
    const file = this.#file;
    // A position behind the end is an error of `copy`, and none of `subarray`.
    if (this.#content !== undefined || file === undefined) return this.#content?.subarray(position).copy(buffer) ?? 0;
    return wrapSystemErrors(this.path, () => readSync(file, buffer, 0, buffer.length, position));
  }

  /** At most `bytes` bytes from `position`, by one read: none at the end of the file. Do not change them. */
  chunkAt(position: number, bytes: number): Buffer {
    if (this.#content !== undefined) return this.#content.subarray(position, position + bytes);
    const buffer = Buffer.allocUnsafe(bytes);
    return buffer.subarray(0, this.read(buffer, position));
  }

  /** Reads `bytes` bytes from `position`, or fewer at the end of the file. */
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
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Reads at most the first `limit` bytes of a regular file. @throws what {@link SourceFileReader} throws */
export function readStart(path: string, limit: number): Buffer {
  const file = new SourceFileReader(path);
  try {
    return file.bytesAt(0, Math.min(file.bytes, limit));
  } finally {
    file.close();
  }
}

/** The file status of `path`; follows links. @throws what {@link SourceFileReader} throws, but accepts any kind of file */
export function statPath(path: string): Stats {
  return wrapSystemErrors(path, () => statSync(path));
}

/** True if `path` exists, readable or not. */
export function isThere(path: string): boolean {
  try {
    statPath(path);
    return true;
  } catch (error) {
    if (error instanceof SourceNotFoundError) return false;
    if (error instanceof SourceUnreadableError) return true;
    throw error;
  }
}

/** An entry of a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "special";
  /** False: the name is not UTF-8, so `name` cannot be opened. */
  readonly isOpenable: boolean;
}

/** Lists a folder in order of name. @throws {SourceNotFoundError | SourceUnreadableError} it cannot be listed. */
export function listFolder(folder: string): readonly FolderEntry[] {
  const found = wrapSystemErrors(folder, () => readdirSync(folder, { withFileTypes: true, encoding: "buffer" }));
  const entries = found.map((entry): FolderEntry => {
    const name = entry.name.toString("utf8");
    const kind = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : entry.isSymbolicLink() ? "link" : "special";
    // Yarn's file system gives names in an archive of a package as texts.
    return { name, kind, isOpenable: Buffer.from(name, "utf8").equals(Buffer.from(entry.name)) };
  });
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The kind of a file, for an error message. */
export function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isFile() ? "a file" : "a device";
}

function assertRegularFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new SourceUnreadableError(path, `it is ${describeKind(stats)}, not a file`);
}

/** Runs a call of the file system. A system error becomes a Source error with `path`. */
export function wrapSystemErrors<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw isSystemError(error) ? toSourceError(path, error) : error;
  }
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

/** True if the name is that of a compressed file: Codex compresses old rollouts. Other compressed files are no sessions. */
function isZstdName(path: string): boolean {
  return path.endsWith(".jsonl.zst");
}

/**
 * The content of a file that is compressed with zstd, in memory.
 *
 * @throws {SourceUnreadableError} this version of Node.js has no zstd, the file is damaged, or its content is larger than 1 GiB.
 */
function decompressZstd(path: string, compressed: Buffer): Buffer {
  // Since Node.js 22.15 and 23.8.
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  if (typeof decompress !== "function")
    throw new SourceUnreadableError(
      path,
      `it is compressed with zstd, which Node.js reads from version 22.15 on (this is ${process.version})`,
    );
  try {
    const content: unknown = Reflect.apply(decompress, zlib, [compressed, { maxOutputLength: MOST_BYTES }]);
    if (content instanceof Buffer) return content;
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const reason =
      error.code === "ERR_BUFFER_TOO_LARGE" ? "its content is larger than 1 GiB" : `its zstd data are damaged (${error.message})`;
    throw new SourceUnreadableError(path, reason, { cause: error });
  }
  throw new SourceUnreadableError(path, "its zstd data are damaged");
}
