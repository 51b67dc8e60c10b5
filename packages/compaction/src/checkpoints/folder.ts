import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, opendir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CheckpointError } from "../errors/compaction-errors.js";

/** Larger files are none of ours: the summaries of all sessions of a day have less. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The names in a folder, sorted; none where it does not exist. @throws {CheckpointError} it cannot be read. */
export async function listNames(directory: string): Promise<readonly string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return [];
    throw new CheckpointError(directory, "read", describeError(error), { cause: error });
  }
}

/** Makes the folder and those above it. @throws {CheckpointError} */
export async function makeFolder(directory: string): Promise<void> {
  try {
    // One by one: in a folder such as /proc Node's own way to make all of them never ends.
    for (const missing of await listMissingFolders(directory)) await makeOneFolder(missing);
    // What is there may be a file.
    await (await opendir(directory)).close();
  } catch (error) {
    throw new CheckpointError(directory, "write", describeError(error), { cause: error });
  }
}

/** The folder and those above it that are not there, outermost first. */
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
    if (getErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function makeOneFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    // Somebody else made it meanwhile.
    if (getErrorCode(error) !== "EEXIST") throw error;
  }
}

/** The text of a file, or why it cannot be one of ours. null: it went meanwhile. */
export async function readText(path: string): Promise<{ readonly text: string } | { readonly problem: string } | null> {
  try {
    // Not through links: what they point to is not in the folder.
    const found = await lstat(path);
    if (!found.isFile()) return { problem: "it is no file" };
    if (found.size > MAX_BYTES) return { problem: `it has ${found.size} bytes, more than any checkpoint` };
    return { text: await readFile(path, "utf8") };
  } catch (error) {
    return getErrorCode(error) === "ENOENT" ? null : { problem: describeError(error) };
  }
}

/** Changes whenever the file is written or replaced. null: it is not there. @throws {CheckpointError} */
export async function readStamp(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    throw new CheckpointError(path, "read", describeError(error), { cause: error });
  }
}

/** Creates a file that is not there yet and writes it to the disk. false: it is there already. @throws {CheckpointError} */
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
    if (getErrorCode(error) === "EEXIST") return false;
    await tryRemove(path);
    throw new CheckpointError(path, "write", describeError(error), { cause: error });
  }
}

/**
 * Gives a file its name in one step: readers see the old one or the new one, whole. false: the file is gone.
 *
 * @throws {CheckpointError}
 */
export async function moveFile(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return false;
    await tryRemove(from);
    throw new CheckpointError(to, "write", describeError(error), { cause: error });
  }
}

/** Nobody writes a checkpoint for so long, in milliseconds. */
const LEFT_AFTER = 3_600_000;

/** The temporary files of this room: of a number, of the index, and of a number that was put aside. */
const TEMPORARY = /^\.(?:\d{3,9}|(?:\d{3,9}\.tmp|index\.md)\.[0-9a-f-]{36})\.tmp$/;

/** Removes temporary files that a crash left an hour ago or longer. @throws {CheckpointError} */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await listNames(directory)) {
    const path = join(directory, name);
    if (!TEMPORARY.test(name) || !(await isStale(path))) continue;
    // Another process can have removed it and begun one of the same name since it was looked at: that one is put back.
    const aside = `${path}.${randomUUID()}.tmp`;
    if (!(await moveFile(path, aside))) continue;
    if (await isStale(aside)) await removeFile(aside);
    else await moveFile(aside, path);
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    return found.isFile() && Date.now() - found.mtimeMs > LEFT_AFTER;
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return false;
    throw new CheckpointError(path, "read", describeError(error), { cause: error });
  }
}

/** Writes a file in place of what is there, in one step. @throws {CheckpointError} */
export async function replaceFile(directory: string, name: string, text: string): Promise<void> {
  const draft = join(directory, `.${name}.${randomUUID()}.tmp`);
  await createFile(draft, text);
  const path = join(directory, name);
  if (!(await moveFile(draft, path))) throw new CheckpointError(path, "write", "its folder or its temporary file was removed meanwhile");
}

/** Removes a file; that it is gone already is no failure. @throws {CheckpointError} */
export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    throw new CheckpointError(path, "remove", describeError(error), { cause: error });
  }
}

/** What is left of something that failed: the failure is what matters, not whether this works. */
async function tryRemove(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system can only be read",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a file is in the way",
  EISDIR: "a folder is in the way",
  ELOOP: "its links go round in a circle",
  ENAMETOOLONG: "the path is too long",
  ENOENT: "it does not exist",
};

function describeError(error: unknown): string {
  const code = getErrorCode(error);
  return (code === undefined ? undefined : REASONS[code]) ?? code ?? String(error);
}

function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
