import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { crc32 } from "node:zlib";
import type { BoughError } from "@bough/session-core";
import type { OpenEnd } from "@bough/session-core/engine";
import { SourceNotFoundError, SourceUnreadableError, UnknownFormatError } from "../errors.js";
import { isAtOrBelow, type LinkBase, MAX_LINKED, whyNotFollowed } from "./links.js";
import { describeKind, type FolderEntry, isThere, listFolder, statPath, wrapSystemErrors } from "./source-file.js";

/**
 * The folders of one import. Each folder is listed once and cached: otherwise a folder with thousands of sessions would be
 * listed thousands of times. Memory: the names.
 */
export class SourceFolders {
  readonly #listed = new Map<string, ReadonlyMap<string, FolderEntry>>();
  readonly #found = new Map<unknown, Map<string, unknown>>();

  /**
   * Lists `folder` by name, in order of name; empty if it does not exist or is not a folder.
   *
   * @throws {SourceUnreadableError} it cannot be listed.
   */
  list(folder: string): ReadonlyMap<string, FolderEntry> {
    const known = this.#listed.get(folder);
    if (known !== undefined) return known;
    const entries = new Map(listOrEmpty(folder).map((entry) => [entry.name, entry]));
    this.#listed.set(folder, entries);
    return entries;
  }

  /** True if `path` exists, readable or not. */
  has(path: string): boolean {
    try {
      return this.list(dirname(path)).has(basename(path));
    } catch (error) {
      // A file may be readable although its folder cannot be listed.
      if (!(error instanceof SourceUnreadableError)) throw error;
      return isThere(path);
    }
  }

  /** The paths in `folder` that `isWanted` accepts, in order of name. @throws {SourceUnreadableError} it cannot be listed. */
  paths(folder: string, isWanted: (entry: FolderEntry) => boolean): readonly string[] {
    const entries = [...this.list(folder).values()];
    return entries.filter((entry) => entry.isOpenable && isWanted(entry)).map(({ name }) => join(folder, name));
  }

  /** The result of `find` for `folder`, computed once for each function and folder. An error of `find` is not cached. */
  once<T>(folder: string, find: (folder: string, folders: SourceFolders) => T): T {
    const known = this.#found.get(find) ?? new Map<string, unknown>();
    this.#found.set(find, known);
    if (!known.has(folder)) known.set(folder, find(folder, this));
    // The map of a function contains only results of this function.
    return known.get(folder) as T;
  }
}

function listOrEmpty(folder: string): readonly FolderEntry[] {
  try {
    return listFolder(folder);
  } catch (error) {
    if (error instanceof SourceNotFoundError) return [];
    throw error;
  }
}

/** A file to import. */
export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  /** Changes when the file is changed, or what another file notes of it: its size, its times, its inode, and a checksum of the note. */
  readonly stamp: string;
  /** The time of the last write, in milliseconds since 1970. */
  readonly writtenAtMs: number;
}

/** The suffix of the write-ahead log that SQLite writes next to a database. */
const WAL = "-wal";

function toFoundFile(path: string, stats: Stats, folders: SourceFolders, { beside, noteOf }: FileFilter): FoundFile {
  const others = [...(folders.has(path + WAL) ? [path + WAL] : []), ...(beside?.(path) ?? [])];
  const all = [stats, ...statsOf(path, others)];
  const ofFiles = all.map(({ size, mtimeMs, ctimeMs, ino }) => `${size} ${mtimeMs} ${ctimeMs} ${ino}`);
  const note = noteOf?.(path, folders);
  const stamp = [...ofFiles, ...(note === undefined ? [] : [crc32(note)])].join(" ");
  return { path, bytes: stats.size, stamp, writtenAtMs: lastOf(all) };
}

/** Returns the time of the last write to a file or one beside it, in milliseconds since 1970. 0: there are none. */
function writtenAtMs(path: string, beside: FileFilter["beside"]): number {
  return lastOf(statsOf(path, [path, path + WAL, ...(beside?.(path) ?? [])]));
}

/** The time by which a file may be newer than the clock of this machine, if another machine writes it. An even newer time is ignored. */
const MOST_SKEW_MS = 3_600_000;

/**
 * Returns the time until which an import leaves out the open end of a file, in milliseconds since 1970; null: it is complete as it is.
 * Without a time of the source, it reads the times of the file and of the files `beside` it now: a program that wrote after the records
 * were read is still writing.
 *
 * @throws {SourceUnreadableError} the system does not give the times.
 */
export function openUntil(path: string, { waitMs, changedAtMs }: OpenEnd, beside?: FileFilter["beside"]): number | null {
  const [changedMs, nowMs] = [changedAtMs ?? writtenAtMs(path, beside), Date.now()];
  const untilMs = Math.trunc(changedMs) + waitMs;
  return untilMs > nowMs && changedMs - nowMs < MOST_SKEW_MS ? untilMs : null;
}

/** The file status of each of these paths that exists. A database grows in the file next to it. */
function statsOf(path: string, all: readonly string[]): readonly Stats[] {
  const found = wrapSystemErrors(path, () => all.map((one) => statSync(one, { throwIfNoEntry: false })));
  return found.filter((one) => one !== undefined);
}

function lastOf(stats: readonly Stats[]): number {
  return Math.max(0, ...stats.map(({ mtimeMs }) => mtimeMs));
}

/** The criteria for the files to find. */
export interface FileFilter {
  /** Files that are not opened, by any of their names. */
  readonly leftOut?: readonly string[];
  /** Matches the paths below `root` of the files to find, with `/` between names. Default: all. */
  readonly names?: RegExp | undefined;
  /** Matches the paths below `root` of folders that are not listed. Default: none. */
  readonly skipped?: RegExp | undefined;
  /** The neighbouring files and folders that also belong to the sessions of a file. */
  readonly beside?: ((path: string) => readonly string[]) | undefined;
  /** The part of a file of many sessions about those of a file. */
  readonly noteOf?: ((path: string, folders: SourceFolders) => string | undefined) | undefined;
  /** A folder at or above the path. Default: the path. */
  readonly root?: string | undefined;
}

/** A file or folder that may contain sessions and cannot be read. */
interface Unreadable {
  readonly path: string;
  readonly error: BoughError;
}

/** A link that leads out of the folder and was followed. */
export interface LeavingLink {
  readonly path: string;
  /** The real path to which it leads. */
  readonly target: string;
}

/** The files at a path to import. */
export interface FoundFiles {
  readonly isFolder: boolean;
  readonly files: readonly FoundFile[];
  readonly unreadable: readonly Unreadable[];
  /** The links to folders elsewhere that were followed. */
  readonly links: readonly LeavingLink[];
  /** The pipes, sockets, devices and dangling links that are not named like a session file. */
  readonly others: readonly string[];
}

/** The deepest nesting of folders that is listed: a path may have 2,000 names, for which the stack is too small. */
const MOST_DEEP = 500;

/** Folders with many files and no sessions. */
const SKIPPED = new Set(["node_modules", ".git"]);

/**
 * Finds the files to import: `path` itself, or every file below the folder in order of name. A file with several links is
 * returned once. Returned as unreadable: folders that cannot be listed, paths that the system rejects, names that are not
 * UTF-8, names of session files that lead to no file, and links that are not followed (`whyNotFollowed`); behind a link that leaves
 * the folder of `root` it visits at most 10,000 files and folders.
 *
 * @throws {SourceNotFoundError} there is no file and no folder at `path`.
 * @throws {SourceUnreadableError} it is a pipe, a device or a socket, or a folder that cannot be listed.
 * @throws {UnknownFormatError} `path` is one of `leftOut`.
 */
export function findSourceFiles(
  path: string,
  folders: SourceFolders,
  { leftOut = [], root = path, ...wanted }: FileFilter = {},
): FoundFiles {
  const stats = statPath(path);
  const excluded = new Set(leftOut.flatMap(fileIdAt));
  if (excluded.has(fileIdOf(stats))) throw new UnknownFormatError(path, "it is the store itself, which is open");
  const below = relative(root, path).replaceAll("\\", "/");
  if (stats.isFile()) {
    const isWanted = below === "" || wanted.names?.test(below) !== false;
    return {
      isFolder: false,
      files: isWanted ? [toFoundFile(path, stats, folders, wanted)] : [],
      unreadable: [],
      links: [],
      others: [],
    };
  }
  if (!stats.isDirectory()) throw new SourceUnreadableError(path, `it is ${describeKind(stats)}, neither a file nor a folder`);
  folders.list(path);
  const base = statSync(root, { throwIfNoEntry: false })?.isDirectory() === true ? root : path;
  const walk = new Walk(folders, excluded, wanted, { real: realPathOf(base), dev: statPath(base).dev });
  walk.folder(path, realPathOf(path), below === "" ? "" : `${below}/`);
  return { isFolder: true, files: walk.files, unreadable: walk.unreadable, links: walk.links, others: walk.others };
}

class Walk {
  readonly files: FoundFile[] = [];
  readonly unreadable: Unreadable[] = [];
  readonly links: LeavingLink[] = [];
  readonly others: string[] = [];
  /** The number of files and folders that the walk may still visit behind the current link; undefined: it is in the folder itself. */
  #left: number | undefined;
  /** The number of folders around the current place. */
  #depth = 0;
  /** The real paths of the files and folders so far. */
  readonly #seen = new Set<string>();
  readonly #folders: SourceFolders;
  readonly #excluded: ReadonlySet<string>;
  readonly #wanted: FileFilter;
  readonly #base: LinkBase;

  constructor(folders: SourceFolders, excluded: ReadonlySet<string>, wanted: FileFilter, base: LinkBase) {
    this.#base = base;
    this.#folders = folders;
    this.#excluded = excluded;
    this.#wanted = wanted;
  }

  /** `below`: the path below the first folder, with a `/` at its end; empty for that folder. */
  folder(folder: string, real: string, below: string): void {
    if (!this.#isNew(real)) return;
    if (this.#depth > MOST_DEEP) throw new SourceUnreadableError(folder, `it is more than ${MOST_DEEP} folders deep; move it up`);
    this.#depth += 1;
    const entries = this.#attempt(folder, () => this.#folders.list(folder));
    for (const entry of entries?.values() ?? []) {
      if (this.#left !== undefined && this.#left-- <= 0) break;
      if (entry.kind === "file" && this.#wanted.names?.test(below + entry.name) === false) continue;
      const path = join(folder, entry.name);
      this.#attempt(path, () => this.#entry(path, join(real, entry.name), entry, below + entry.name));
    }
    this.#depth -= 1;
  }

  #entry(path: string, real: string, entry: FolderEntry, below: string): void {
    const { name, kind, isOpenable } = entry;
    const stats = isOpenable ? this.#statOf(path, entry) : undefined;
    if (stats === "gone") return;
    if (!isOpenable && (kind === "folder" || isNamedLikeSession(entry))) {
      throw new SourceUnreadableError(path, "its name is not valid UTF-8; rename it");
    }
    if (stats === undefined) this.others.push(path);
    else if (stats.isDirectory() && (SKIPPED.has(name) || this.#wanted.skipped?.test(below) === true)) return;
    else if (this.#excluded.has(fileIdOf(stats))) return;
    else if (stats.isDirectory()) this.#below(path, kind === "link" ? undefined : real, stats, `${below}/`);
    else if (this.#wanted.names?.test(below) === false) return;
    else if (stats.size > 0 && this.#isNew(kind === "link" ? realPathOf(path) : real))
      this.files.push(toFoundFile(path, stats, this.#folders, this.#wanted));
  }

  /** A folder in a folder. `real`: undefined for a link. */
  #below(path: string, real: string | undefined, stats: Stats, below: string): void {
    if (real === undefined) this.#linked(path, stats, below);
    else if (this.#left === undefined || stats.dev === this.#base.dev) this.folder(path, real, below);
    else throw new SourceUnreadableError(path, "it is on another file system than the folder, behind a link");
  }

  /** A link to a folder. */
  #linked(path: string, stats: Stats, below: string): void {
    const target = realPathOf(path);
    if (this.#seen.has(target)) return;
    const reason = whyNotFollowed(target, stats, this.#base);
    if (reason !== undefined) throw new SourceUnreadableError(path, `${reason}; it is not followed`);
    if (isAtOrBelow(target, this.#base.real) || this.#left !== undefined) {
      this.folder(path, target, below);
      return;
    }
    this.links.push({ path, target });
    this.#left = MAX_LINKED;
    this.folder(path, target, below);
    const isCut = this.#left <= 0;
    this.#left = undefined;
    if (isCut)
      throw new SourceUnreadableError(
        path,
        `more than ${MAX_LINKED} files and folders are behind the link to ${target}; not all were looked at`,
      );
  }

  /**
   * The file status of an entry; undefined if it is neither a file nor a folder and not named like a session file; `gone` if
   * another program removed it after the folder was listed.
   */
  #statOf(path: string, entry: FolderEntry): Stats | "gone" | undefined {
    try {
      const stats = statPath(path);
      if (stats.isFile() || stats.isDirectory()) return stats;
      if (isNamedLikeSession(entry)) throw new SourceUnreadableError(path, `it is ${describeKind(stats)}, not a file`);
    } catch (error) {
      if (entry.kind !== "link" && error instanceof SourceNotFoundError) return "gone";
      if (entry.kind !== "link" || isNamedLikeSession(entry) || !isUnreadable(error)) throw error;
    }
    return undefined;
  }

  #isNew(real: string): boolean {
    if (this.#seen.has(real)) return false;
    this.#seen.add(real);
    return true;
  }

  #attempt<T>(path: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.unreadable.push({ path, error });
      return undefined;
    }
  }
}

function fileIdOf({ dev, ino }: Pick<Stats, "dev" | "ino">): string {
  return `${dev}:${ino}`;
}

function fileIdAt(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? [] : [fileIdOf(stats)];
}

function isUnreadable(error: unknown): error is SourceNotFoundError | SourceUnreadableError {
  return error instanceof SourceNotFoundError || error instanceof SourceUnreadableError;
}

function isNamedLikeSession({ name }: FolderEntry): boolean {
  return name.endsWith(".jsonl");
}

function realPathOf(path: string): string {
  return wrapSystemErrors(path, () => realpathSync(path));
}
