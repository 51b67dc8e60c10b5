// A path is checked, the person is asked, and then it is opened: meanwhile a folder of it can have become a link. So what
// was opened is compared with what was checked, and files are made and renamed inside the folder that was opened.
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readlink, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { ToolFailure, type ToolInput } from "./tool.js";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A folder that is open. */
interface Folder {
  /** The path of a file in it, whatever the folder's own path leads to by now. */
  readonly at: (name: string) => string;
  readonly close: () => Promise<void>;
}

/** What a file is replaced with, and under which circumstances. */
export interface Replacement {
  /** Absolute and without links, as it was checked. */
  readonly target: string;
  /** The path as the model named it, for messages. */
  readonly named: string;
  readonly content: string;
  readonly signal: AbortSignal;
  /** The file that the content was made from; where it has changed since, nothing is written. */
  readonly madeFrom?: Stats | undefined;
}

/**
 * Opens a file or a folder for reading; never waits for a pipe. The caller closes it.
 *
 * @throws {ToolFailure} a part of the path has become a link since it was checked.
 */
export async function openChecked(target: string): Promise<FileHandle> {
  return verifyHandle(await open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), target);
}

/** A path that leads to what is open, on systems that have one; else the path that it was opened by. */
export async function readablePath(handle: FileHandle, target: string): Promise<string> {
  return (await pathOfHandle(handle)) === undefined ? target : descriptorPath(handle);
}

/**
 * Writes a file that appears whole or not at all: a temporary file in the same folder, flushed to the disk, takes its name.
 * Missing folders are made. A file that is replaced keeps its permissions (but not setuid,
 * setgid and sticky bits: new content must not run with another's rights), owner and group; other names of it (hard links) keep
 * the old content. A crash leaves at most a `.bough-….tmp` file. Gives whether a file was replaced.
 *
 * @throws {ToolFailure} it could not be written, for the reason named; the old file is as it was.
 */
export async function replaceFile(wanted: Replacement): Promise<boolean> {
  const { target, named, signal } = wanted;
  if (signal.aborted) throw new ToolFailure("Stopped before anything was written.");
  const folder = await openFolder(dirname(target)).catch(throwAsToolFailure(named));
  const draft = folder.at(`.bough-${randomUUID()}.tmp`);
  try {
    const old = await statExisting(folder.at(basename(target)), named);
    await writeTemporary(draft, wanted, old);
    if (signal.aborted) throw new ToolFailure("Stopped before anything was written.");
    await rename(draft, folder.at(basename(target)));
    return old !== undefined;
  } catch (error) {
    return throwAsToolFailure(named)(error);
  } finally {
    // A temporary file that cannot be removed must neither hide why it was left nor keep the folder open.
    await rm(draft, { force: true }).catch(() => undefined);
    await folder.close();
  }
}

async function verifyHandle(handle: FileHandle, target: string): Promise<FileHandle> {
  if (await isAt(handle, target)) return handle;
  await handle.close();
  throw new ToolFailure("The path leads elsewhere than when it was checked. Nothing was read or written; call again.");
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

/** The path of what is open, as the system knows it; undefined: it does not tell (all but Linux). */
async function pathOfHandle(handle: FileHandle): Promise<string | undefined> {
  try {
    return await readlink(descriptorPath(handle));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Opens a folder; makes it, and those above it, where it is missing. */
async function openFolder(target: string): Promise<Folder> {
  try {
    return await openFolderAt(target, target);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(target) === target) throw error;
  }
  const above = await openFolder(dirname(target));
  try {
    const path = above.at(basename(target));
    await mkdir(path).catch((error: unknown) => {
      // Somebody else made it meanwhile; whether it is a folder is seen when it is opened.
      if (codeOf(error) !== "EEXIST") throw error;
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

/** The file that is to be replaced, which the person must be allowed to write; undefined: there is none. */
async function statExisting(path: string, named: string): Promise<Stats | undefined> {
  try {
    const handle = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    const about = await handle.stat().finally(() => handle.close());
    if (about.isFile()) return about;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    // A folder; a pipe that nobody reads.
    if (codeOf(error) !== "EISDIR" && codeOf(error) !== "ENXIO") throw error;
  }
  throw new ToolFailure(`${named} is not a regular file.`);
}

async function writeTemporary(draft: string, { content, named, madeFrom }: Replacement, old: Stats | undefined): Promise<void> {
  const isAsRead = madeFrom === undefined || (old?.ino === madeFrom.ino && old.size === madeFrom.size && old.mtimeMs === madeFrom.mtimeMs);
  if (!isAsRead) throw new ToolFailure(`${named} changed meanwhile. Nothing was written; read it again.`);
  const file = await open(draft, "wx", old === undefined ? 0o666 : 0o600);
  try {
    await file.writeFile(content);
    if (old !== undefined) await copyAttributes(file, old, named);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function copyAttributes(file: FileHandle, old: Stats, named: string): Promise<void> {
  const { uid, gid } = await file.stat();
  try {
    if (uid !== old.uid || gid !== old.gid) await file.chown(old.uid, old.gid);
  } catch (error) {
    if (codeOf(error) !== "EPERM") throw error;
    throw new ToolFailure(`${named} belongs to another user or group, which a new file could not keep. Nothing was written.`);
  }
  await file.chmod(old.mode & 0o777);
}

/** A failure of the system without its paths: they name a temporary file. */
function throwAsToolFailure(named: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ToolFailure || !(error instanceof Error) || codeOf(error) === undefined) throw error;
    throw new ToolFailure(`${named} cannot be written (${error.message.split(",")[0]}). It is as it was.`);
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Where the `path` of a call leads. */
export interface PathTarget {
  /** The absolute path with every link followed, also of a file that is not there yet. It is what the tool then opens. */
  readonly target: string;
  /** Whether that is outside of the working folder, or cannot be told. */
  readonly isOutside: boolean;
}

/**
 * Where a call leads, for the tools that take a `path`; null: it names none. Where a command reaches cannot be told from its
 * text. The links are followed one by one, so that a link whose target is missing counts as what writing to it would make.
 */
export async function resolveTarget(input: ToolInput, cwd: string): Promise<PathTarget | null> {
  const path = input["path"];
  if (typeof path !== "string") return null;
  const named = resolve(cwd, path);
  try {
    const [folder, target] = [await resolveLinks(cwd), await resolveLinks(named)];
    return { target, isOutside: leavesFolder(relative(folder, target)) };
  } catch (error) {
    // A folder that may not be looked into, links in a circle, a name that no file can have: the tool fails with the same.
    if (!(error instanceof Error && "code" in error)) throw error;
    return { target: named, isOutside: true };
  }
}

function leavesFolder(from: string): boolean {
  return from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from);
}

/** More links than any system follows in one path. */
const MAX_LINKS = 40;

/** An absolute path with its links followed, as the system would; what is not there stays as it is named. */
export async function resolveLinks(path: string): Promise<string> {
  let at = parse(path).root;
  const rest = path.slice(at.length).split(sep);
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const leadsTo = await readLink(next);
    if (leadsTo === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error(`ELOOP: too many links, ${path}`), { code: "ELOOP" });
    if (isAbsolute(leadsTo)) at = parse(leadsTo).root;
    rest.unshift(...leadsTo.split(sep));
  }
  return at;
}

const NOT_A_LINK: readonly unknown[] = ["EINVAL", "ENOENT", "ENOTDIR"];

/** Where a link leads; undefined: it is no link, or not there. */
async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && NOT_A_LINK.includes(error.code)) return undefined;
    throw error;
  }
}
