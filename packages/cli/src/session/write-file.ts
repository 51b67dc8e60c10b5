import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { chmod, link, mkdir, mkdtemp, open, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isSystemError } from "@bough/session-core/engine";
import { CommandError, OutputFailedError } from "../errors.js";
import type { Io } from "../terminal/io.js";

/** Size of a write, in UTF-16 code units. */
const CHUNK = 1 << 18;

/** The text of a file in pieces. */
type Pieces = AsyncIterable<string> | readonly string[];

/** Readable by its owner only, as agents write their sessions. */
export const PRIVATE = 0o600;

/**
 * Writes a file atomically: the pieces go to a temporary file in the same folder, which is then renamed. Without
 * `overwrite`, an existing file is not replaced; with it, the new file has its permissions, and a symbolic link stays one. The file is
 * flushed to the disk before it gets its name.
 *
 * @throws {CommandError | OutputFailedError}
 */
export async function writeNewFile(io: Io, path: string, pieces: Pieces, overwrite: boolean, mode?: number): Promise<void> {
  const replaced = await checkTarget(path, overwrite);
  const target = replaced === undefined ? path : await realpath(path);
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  const stopWatching = io.onEnd(() => rmSync(temporary, { force: true }));
  try {
    await writeAll(temporary, pieces, replaced ?? mode);
    await (overwrite ? rename : moveToNewPath)(temporary, target);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "EEXIST") throw new CommandError("TARGET_EXISTS", existsMessage(path));
    throw new OutputFailedError(`Cannot write ${path}: ${describeFileError(error)}. Nothing was written.`, { cause: error });
  } finally {
    stopWatching();
    await rm(temporary, { force: true }).catch((error: unknown) => {
      // In a folder that this user may not enter, and where nothing was created.
      if (!isSystemError(error)) throw error;
    });
  }
}

/**
 * Reads what `writeNewFile` would write, and writes nothing. Returns its size in bytes of UTF-8.
 *
 * @throws {CommandError | OutputFailedError} as `writeNewFile`, for a file that exists and for a folder that does not.
 */
export async function measureNewFile(path: string, pieces: AsyncIterable<string>, overwrite: boolean): Promise<number> {
  await requireNewFile(path, overwrite);
  let size = 0;
  for await (const piece of pieces) size += Buffer.byteLength(piece);
  return size;
}

/** @throws {CommandError | OutputFailedError} `writeNewFile` could not create the file. */
export async function requireNewFile(path: string, overwrite: boolean): Promise<void> {
  await checkTarget(path, overwrite);
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (folder?.isDirectory() !== true) throw new OutputFailedError(`Cannot write ${path}: its folder does not exist. Nothing was written.`);
}

/** The permissions of a folder whose files a web server may read by name; others than the owner cannot list it. */
export const PASSABLE = 0o711;

/** Creates a folder and those above it, for their owner only unless `mode` says otherwise. @throws {OutputFailedError} */
export async function createFolder(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new OutputFailedError(`Cannot create ${path}: ${describeFileError(error)}. Nothing was written.`, { cause: error });
  }
}

/** Creates a folder for temporary files, for their owner only. `name`: a part of its name. @throws {OutputFailedError} */
export async function createTemporaryFolder(name: string): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), `bough-${name}-`));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const reason = `Cannot create a temporary folder in ${tmpdir()}: ${describeFileError(error)}. Set TMPDIR to another folder.`;
    throw new OutputFailedError(reason, { cause: error });
  }
}

/** Runs work with a temporary folder, which is removed afterwards. @throws {OutputFailedError} */
export async function inTemporaryFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await createTemporaryFolder(name);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first 8 characters of an id, safe in a file name. Imported ids may contain any visible character, such as slashes. */
export function toFileName(id: string): string {
  return id.replace(/[^\p{L}\p{N}_-]/gu, "_").slice(0, 8);
}

/** Returns the permissions of an existing file; undefined: there is none. */
async function checkTarget(path: string, overwrite: boolean): Promise<number | undefined> {
  const found = await stat(path).catch((error: unknown) => {
    if (isSystemError(error)) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  if (found.isDirectory()) throw new OutputFailedError(`${path} is a directory. Name a file.`);
  if (!overwrite) throw new CommandError("TARGET_EXISTS", existsMessage(path));
  return found.mode & 0o777;
}

/** Writes a new file and flushes it to the disk. */
async function writeAll(path: string, pieces: Pieces, mode: number | undefined): Promise<void> {
  // With the final mode from the start: a process that opened the file before a chmod could go on reading it.
  await writeFile(path, inChunks(pieces), { flag: "wx", mode, flush: true });
  // The mode of the file that is replaced may have bits that the umask takes from a new one.
  if (mode !== undefined) await chmod(path, mode);
}

async function* inChunks(pieces: Pieces): AsyncGenerator<string, void, void> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK) continue;
    yield text;
    text = "";
  }
  yield text;
}

/**
 * Moves a file to an unused path on the same file system. May leave the file at its old path too.
 *
 * @throws an error of the system with the code `EEXIST`: something has the path, and stays.
 */
export async function moveToNewPath(temporary: string, path: string): Promise<void> {
  try {
    // Unlike a rename, a link fails if another process created the file meanwhile.
    await link(temporary, path);
  } catch (error) {
    if (!isSystemError(error) || error.code === "EEXIST") throw error;
    await renameToNewPath(temporary, path);
  }
}

/**
 * For file systems without hard links, such as FAT: an empty file takes the path, and the rename replaces this file. A program
 * that writes to the path regardless between the last look and the rename loses what it wrote; a kill there leaves the empty file.
 */
async function renameToNewPath(temporary: string, path: string): Promise<void> {
  const placeholder = await open(path, "wx", PRIVATE);
  const { ino } = await placeholder.stat().finally(() => placeholder.close());
  const found = await stat(path);
  if (found.ino !== ino || found.size > 0)
    throw Object.assign(new Error(`${path} was written meanwhile`), { code: "EEXIST", syscall: "rename" });
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

function existsMessage(path: string): string {
  return `${path} exists and was not changed.`;
}

function describeFileError({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "ENOENT":
      return "its folder does not exist";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
      return "no space left";
    default:
      return message;
  }
}
