import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, opendir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorCode } from "@bough/session-core/engine";
import { CheckpointError } from "../errors/compaction-errors.js";

/** Larger files are not checkpoints. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Works on a path. `otherwise`: the result for errors with this code. @throws {CheckpointError} any other error. */
async function guarded<T>(
  path: string,
  doing: CheckpointError["doing"],
  work: () => Promise<T>,
  otherwise?: { readonly code: string; readonly result: T },
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (otherwise !== undefined && errorCode(error) === otherwise.code) return otherwise.result;
    throw new CheckpointError(path, doing, describeError(error), { cause: error });
  }
}

/** The names in a folder, sorted; empty if it does not exist. @throws {CheckpointError} it cannot be read. */
export async function listNames(directory: string): Promise<readonly string[]> {
  return guarded(directory, "read", async () => (await readdir(directory)).sort(), { code: "ENOENT", result: [] });
}

/** Creates the folder and its parents. @throws {CheckpointError} */
export async function makeFolder(directory: string): Promise<void> {
  await guarded(directory, "write", async () => {
    // One by one, because `mkdir` with `recursive` does not return for folders such as /proc.
    for (const missing of await listMissingFolders(directory)) await makeOneFolder(missing);
    // The existing path may be a file.
    await (await opendir(directory)).close();
  });
}

/** The missing folders of a path, outermost first. */
async function listMissingFolders(directory: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = resolve(directory); !(await pathExists(at)); at = dirname(at)) missing.unshift(at);
  return missing;
}

async function pathExists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function makeOneFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    // Another process created it.
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** The text of a file, or why it cannot be a checkpoint. null: the file is missing. */
export async function readText(path: string): Promise<{ readonly text: string } | { readonly problem: string } | null> {
  try {
    // Links are not followed: their targets are outside of the folder.
    const found = await lstat(path);
    if (!found.isFile()) return { problem: "it is not a regular file" };
    if (found.size > MAX_BYTES) return { problem: `it has ${found.size} bytes, more than a checkpoint can have` };
    return { text: await readFile(path, "utf8") };
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : { problem: describeError(error) };
  }
}

/** A stamp that changes when the file is written or replaced. null: the file is missing. @throws {CheckpointError} */
export async function readStamp(path: string): Promise<string | null> {
  const read = async () => {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  };
  return guarded<string | null>(path, "read", read, { code: "ENOENT", result: null });
}

/** Creates a file and flushes it to disk. false: it exists already. @throws {CheckpointError} */
export async function createFile(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    await tryRemove(path);
    throw new CheckpointError(path, "write", describeError(error), { cause: error });
  }
}

/**
 * Renames a file atomically: readers see the complete old or new file. false: the file is missing.
 *
 * @throws {CheckpointError}
 */
export async function moveFile(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    await tryRemove(from);
    throw new CheckpointError(to, "write", describeError(error), { cause: error });
  }
}

/** Age of a stale temporary file, in milliseconds; writing a checkpoint takes less. */
const LEFT_AFTER = 3_600_000;

/** The temporary files of this folder: of a number, of the index, and of a number that is being removed. */
const TEMPORARY = /^\.(?:\d{3,9}|(?:\d{3,9}\.tmp|index\.md)\.[0-9a-f-]{36})\.tmp$/;

/** Removes temporary files older than an hour, which a crash left. @throws {CheckpointError} */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await listNames(directory)) {
    const path = join(directory, name);
    if (!TEMPORARY.test(name) || !(await isStale(path))) continue;
    // Another process may have replaced the file by a new one of the same name since the check; that one is renamed back.
    const aside = `${path}.${randomUUID()}.tmp`;
    if (!(await moveFile(path, aside))) continue;
    if (await isStale(aside)) await removeFile(aside);
    else await moveFile(aside, path);
  }
}

async function isStale(path: string): Promise<boolean> {
  const read = async () => {
    const found = await lstat(path);
    return found.isFile() && Date.now() - found.mtimeMs > LEFT_AFTER;
  };
  return guarded(path, "read", read, { code: "ENOENT", result: false });
}

/** Replaces a file atomically. @throws {CheckpointError} */
export async function replaceFile(directory: string, name: string, text: string): Promise<void> {
  const draft = join(directory, `.${name}.${randomUUID()}.tmp`);
  await createFile(draft, text);
  const path = join(directory, name);
  if (!(await moveFile(draft, path)))
    throw new CheckpointError(path, "write", "its folder or temporary file was removed while it was written");
}

/** Removes a file if it exists. @throws {CheckpointError} */
export async function removeFile(path: string): Promise<void> {
  await guarded(path, "remove", () => rm(path, { force: true }));
}

/** Cleans up after a failure; errors are ignored, because the failure is reported. */
async function tryRemove(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a file of this name exists",
  EISDIR: "a folder of this name exists",
  ELOOP: "its links form a loop",
  ENAMETOOLONG: "the path is too long",
  ENOENT: "it does not exist",
};

function describeError(error: unknown): string {
  const code = errorCode(error);
  return (code === undefined ? undefined : REASONS[code]) ?? code ?? String(error);
}
