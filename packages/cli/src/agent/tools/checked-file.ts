// A path is checked, the user confirms, and then the file is opened. Meanwhile a folder of the path can be replaced by a

import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readlink, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { isAtOrBelow } from "@bough/formats";
import { errorCode } from "@bough/session-core/engine";
import { ToolFailure, type ToolInput } from "./tool.js";

// symbolic link. So the path of the opened file is compared with the checked path, and files are created and renamed in the
// opened folder.

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** An open folder. */
interface Folder {
  /** The path of a file in the open folder, even if the path of the folder has changed. */
  readonly at: (name: string) => string;
  readonly close: () => Promise<void>;
}

/** The replacement of a file. */
interface Replacement {
  /** The checked path: absolute, without symbolic links. */
  readonly target: string;
  /** The path in the arguments of the call, for messages. */
  readonly givenPath: string;
  readonly content: string;
  readonly signal: AbortSignal;
  /** The file that was edited; if it changed since, nothing is written. */
  readonly basedOn?: Stats | undefined;
}

/**
 * Opens a file or folder for reading, without blocking on a pipe. The caller closes it.
 *
 * @throws {ToolFailure} a part of the path was replaced by a symbolic link after the check.
 */
export async function openChecked(target: string): Promise<FileHandle> {
  return verifyHandle(await open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), target);
}

/** The path of the open file by its descriptor, if the system has /proc; else the path that it was opened with. */
export async function readablePath(handle: FileHandle, target: string): Promise<string> {
  return (await pathOfHandle(handle)) === undefined ? target : descriptorPath(handle);
}

/**
 * Writes a file atomically: a temporary file in the same folder is synced and renamed. Missing folders are created. A replaced
 * file keeps its permissions, owner and group, but not the setuid, setgid and sticky bits; its other hard links keep the old
 * content. A crash leaves at most a `.bough-….tmp` file. Returns whether a file was replaced.
 *
 * @throws {ToolFailure} the file could not be written; the message gives the reason, and the old file is unchanged.
 */
export async function replaceFile(replacement: Replacement): Promise<boolean> {
  const { target, givenPath, signal } = replacement;
  if (signal.aborted) throw new ToolFailure("Stopped before anything was written.");
  const folder = await openFolder(dirname(target)).catch(throwAsToolFailure(givenPath));
  const draft = folder.at(`.bough-${randomUUID()}.tmp`);
  try {
    const old = await statExisting(folder.at(basename(target)), givenPath);
    await writeTemporary(draft, replacement, old);
    if (signal.aborted) throw new ToolFailure("Stopped before anything was written.");
    await rename(draft, folder.at(basename(target)));
    return old !== undefined;
  } catch (error) {
    return throwAsToolFailure(givenPath)(error);
  } finally {
    // A failed removal must not replace the original error, and the folder must be closed.
    await rm(draft, { force: true }).catch(() => undefined);
    await folder.close();
  }
}

async function verifyHandle(handle: FileHandle, target: string): Promise<FileHandle> {
  if (await isAt(handle, target)) return handle;
  await handle.close();
  throw new ToolFailure("The path changed after it was checked. Nothing was read or written; call again.");
}

async function isAt(handle: FileHandle, target: string): Promise<boolean> {
  const real = await pathOfHandle(handle);
  if (real !== undefined) return real === target;
  const [opened, there] = [await handle.stat(), await stat(target)];
  return (await resolveLinks(target)) === target && opened.ino === there.ino && opened.dev === there.dev;
}

function descriptorPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/** The path of an open file from /proc; undefined: the system is not Linux. */
async function pathOfHandle(handle: FileHandle): Promise<string | undefined> {
  try {
    return await readlink(descriptorPath(handle));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Opens a folder; creates it and its parents if they are missing. */
async function openFolder(target: string): Promise<Folder> {
  try {
    return await openFolderAt(target, target);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || dirname(target) === target) throw error;
  }
  const above = await openFolder(dirname(target));
  try {
    const path = above.at(basename(target));
    await mkdir(path).catch((error: unknown) => {
      // Another process created it; opening it checks that it is a folder.
      if (errorCode(error) !== "EEXIST") throw error;
    });
    return await openFolderAt(path, target);
  } finally {
    await above.close();
  }
}

async function openFolderAt(path: string, target: string): Promise<Folder> {
  const handle = await verifyHandle(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), target);
  const base = await readablePath(handle, target);
  return { at: (name) => join(base, name), close: () => handle.close() };
}

/** The file to replace, if it exists and is writable; undefined: it does not exist. */
async function statExisting(path: string, givenPath: string): Promise<Stats | undefined> {
  try {
    const handle = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = await handle.stat().finally(() => handle.close());
    if (stats.isFile()) return stats;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    // EISDIR: a folder; ENXIO: a pipe without a reader.
    if (errorCode(error) !== "EISDIR" && errorCode(error) !== "ENXIO") throw error;
  }
  throw new ToolFailure(`${givenPath} is not a regular file.`);
}

async function writeTemporary(draft: string, { content, givenPath, basedOn }: Replacement, old: Stats | undefined): Promise<void> {
  const isAsRead = basedOn === undefined || (old?.ino === basedOn.ino && old.size === basedOn.size && old.mtimeMs === basedOn.mtimeMs);
  if (!isAsRead) throw new ToolFailure(`${givenPath} was changed by another program. Nothing was written; read it again.`);
  const file = await open(draft, "wx", old === undefined ? 0o666 : 0o600);
  try {
    await file.writeFile(content);
    if (old !== undefined) await copyAttributes(file, old, givenPath);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function copyAttributes(file: FileHandle, old: Stats, givenPath: string): Promise<void> {
  const { uid, gid } = await file.stat();
  try {
    if (uid !== old.uid || gid !== old.gid) await file.chown(old.uid, old.gid);
  } catch (error) {
    if (errorCode(error) !== "EPERM") throw error;
    throw new ToolFailure(`${givenPath} belongs to another user or group, which the new file cannot have. Nothing was written.`);
  }
  await file.chmod(old.mode & 0o777);
}

/** Rethrows an error of the file system as ToolFailure, without the path in its message, which is that of the temporary file. */
function throwAsToolFailure(givenPath: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ToolFailure || !(error instanceof Error) || errorCode(error) === undefined) throw error;
    throw new ToolFailure(`${givenPath} cannot be written (${error.message.split(",")[0]}). It was not changed.`);
  };
}

/** The resolved `path` of a call. */
interface PathTarget {
  /** The absolute path without symbolic links; the file may not exist yet. The tool opens this path. */
  readonly target: string;
  /** True if it is outside the working directory, or cannot be resolved. */
  readonly isOutside: boolean;
}

/**
 * Resolves the `path` of a call; null: the call has no path. (The files of a shell command cannot be determined.) Links are
 * resolved one by one, so that a dangling link resolves to the file that a write would create.
 */
export async function resolveTarget(input: ToolInput, cwd: string): Promise<PathTarget | null> {
  const path = input["path"];
  if (typeof path !== "string") return null;
  const givenPath = resolve(cwd, path);
  try {
    const [folder, target] = [await resolveLinks(cwd), await resolveLinks(givenPath)];
    return { target, isOutside: !isAtOrBelow(target, folder) };
  } catch (error) {
    // For example EACCES, ELOOP or an invalid name: the tool then fails with the same error.
    if (errorCode(error) === undefined) throw error;
    return { target: givenPath, isOutside: true };
  }
}

/** Maximum symbolic links in one path, as in Linux. */
const MAX_LINKS = 40;

/** Resolves the symbolic links of an absolute path as the system does. Missing parts are kept. */
async function resolveLinks(path: string): Promise<string> {
  let reached = parse(path).root;
  const rest = path.slice(reached.length).split(sep);
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      reached = dirname(reached);
      continue;
    }
    const next = join(reached, name);
    const target = await readLink(next);
    if (target === undefined) {
      reached = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error(`ELOOP: too many links, ${path}`), { code: "ELOOP" });
    if (isAbsolute(target)) reached = parse(target).root;
    rest.unshift(...target.split(sep));
  }
  return reached;
}

const NOT_A_LINK: readonly unknown[] = ["EINVAL", "ENOENT", "ENOTDIR"];

/** The target of a symbolic link; undefined: it is no link, or does not exist. */
async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (NOT_A_LINK.includes(errorCode(error))) return undefined;
    throw error;
  }
}
