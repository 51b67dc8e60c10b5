import { type FSWatcher, lstatSync, readdirSync, realpathSync, statSync, watch } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { isAtOrBelow, MAX_LINKED, whyNotFollowed } from "@bough/formats";
import { isSystemError } from "@bough/session-core/engine";

/** The events of a watcher. */
export interface FolderWatcherEvents {
  /** A file or folder below a watched folder may have changed, appeared or gone. */
  readonly onChange: (path: string) => void;
  /** The system sends no events for a part of this folder. Reported once for each folder. */
  readonly onUnwatched: (folder: string, reason: string) => void;
}

/** A folder to watch with all that is below it. */
interface WatchedFolder {
  /** Absolute. */
  readonly folder: string;
  /** Matches the path below it of each folder that is left out, with `/` between names. undefined: none. */
  readonly skipped?: RegExp | undefined;
}

/** Folders that hold no sessions; watching them would take thousands of watches. */
const SKIPPED = new Set(["node_modules", ".git"]);

/**
 * Watches folders and all that is below them by events of the file system. A folder may be missing, be removed and come back.
 *
 * `isRecursive`: the system watches a whole tree at once (macOS, Windows). Elsewhere each folder has a watch of its own, which also
 * reports its files: Node's recursive watches of Linux take one for each file. Links to folders are followed, each folder once, where a
 * sync follows them; at most 10,000 folders that are not in the root itself are watched.
 * Changes in a skipped folder are not reported: opencode has had a folder for each message.
 */
export class FolderWatcher {
  readonly #events: FolderWatcherEvents;
  readonly #isRecursive: boolean;
  readonly #folders: readonly WatchedFolder[];
  readonly #roots: readonly string[];
  /** Watches of folders at and below the roots, by path, with the identity of each folder. */
  readonly #watches = new Map<string, { readonly watcher: FSWatcher; readonly id: string }>();
  /** The identities of these folders, so that links that lead in a circle end. */
  readonly #ids = new Set<string>();
  /** For each root the watch of the nearest folder above it that exists. */
  readonly #above = new Map<string, { readonly id: string; readonly watcher: FSWatcher }>();
  readonly #unwatched = new Set<string>();
  /** Watched folders to which links lead out of their root. */
  readonly #outside = new Set<string>();

  constructor(folders: readonly WatchedFolder[], isRecursive: boolean, events: FolderWatcherEvents) {
    this.#folders = folders;
    this.#roots = [...new Set(folders.map(({ folder }) => folder))];
    this.#isRecursive = isRecursive;
    this.#events = events;
  }

  /** Starts to watch. Called again, it finds folders that were moved, with one above them, or whose watch was lost. */
  start(): void {
    for (const root of this.#roots) {
      this.#watchAbove(root);
      this.#watchAnew(root, root);
    }
  }

  /** The roots that exist and send no events. The caller must poll them. */
  get unwatched(): ReadonlySet<string> {
    return this.#unwatched;
  }

  close(): void {
    for (const { watcher } of [...this.#watches.values(), ...this.#above.values()]) watcher.close();
    this.#watches.clear();
    this.#ids.clear();
    this.#above.clear();
  }

  // The folder above reports that a root was made, removed or replaced, which the watch of the root does not everywhere.
  #watchAbove(root: string): void {
    const folder = nearestFolder(dirname(root));
    const id = folder === undefined ? undefined : folderId(folder);
    if (folder === undefined || id === undefined || this.#above.get(root)?.id === id) return;
    this.#above.get(root)?.watcher.close();
    this.#above.delete(root);
    const next = root.slice(folder.endsWith(sep) ? folder.length : folder.length + 1).split(sep)[0];
    const watcher = this.#open(folder, false, root, (name) => {
      // The folder itself may be removed after the root was, and made again: then its watch is of the old one.
      if (name !== null && name !== next && folderId(folder) === id) return;
      this.#watchAbove(root);
      this.#watchAnew(root, root);
      this.#events.onChange(root);
    });
    if (watcher !== undefined) this.#above.set(root, { id, watcher });
  }

  #watchTree(folder: string, root: string): void {
    const id = folderId(folder);
    if (id === undefined || this.#ids.has(id) || !this.#isReached(folder, root)) return;
    const watcher = this.#open(folder, this.#isRecursive, root, (name) => this.#onEvent(folder, name, root));
    if (watcher === undefined) return;
    this.#watches.set(folder, { watcher, id });
    this.#ids.add(id);
    if (this.#isRecursive) return;
    for (const below of foldersIn(folder)) if (!this.#isSkipped(below, true)) this.#watchTree(below, root);
  }

  /** True if a sync reads the folder, because it follows each link that leads to it. */
  #isReached(folder: string, root: string): boolean {
    if (folder === root) return true;
    const isOutside = this.#outside.has(dirname(folder));
    try {
      if (lstatSync(folder).isSymbolicLink()) {
        const [real, target] = [realpathSync(root), realpathSync(folder)];
        if (whyNotFollowed(target, statSync(folder), { real, dev: statSync(root).dev }) !== undefined) return false;
        if (isAtOrBelow(target, real)) return true;
      } else if (!isOutside) return true;
    } catch (error) {
      if (isSystemError(error)) return false;
      throw error;
    }
    if (this.#outside.size >= MAX_LINKED) return false;
    this.#outside.add(folder);
    return true;
  }

  /** True if a path is in a skipped folder, or is one. If several watched folders contain the path, all must skip it. */
  #isSkipped(path: string, isFolder: boolean): boolean {
    const around = this.#folders.filter(({ folder }) => path === folder || path.startsWith(join(folder, "/")));
    return around.length > 0 && around.every(({ folder, skipped }) => isMatchedOnWay(relative(folder, path), isFolder, skipped));
  }

  /** Watches a new folder, and reports the path. The files that a new folder already contains are reported with the folder. */
  #onEvent(folder: string, name: string | null, root: string): void {
    const path = name === null ? folder : join(folder, name);
    if (this.#isSkipped(path, folderId(path) !== undefined)) return;
    if (!this.#isRecursive && name !== null && !SKIPPED.has(name)) this.#watchAnew(path, root);
    // A link to a folder that is watched under its own path is not reported: a sync would read the whole folder again.
    if (this.#watches.has(path) || !this.#ids.has(folderId(path) ?? "")) this.#events.onChange(path);
  }

  /** Watches a folder. If another folder had this path before, its watch is dropped first. */
  #watchAnew(path: string, root: string): void {
    const known = this.#watches.get(path);
    if (known !== undefined && known.id !== folderId(path)) this.#drop(path);
    this.#watchTree(path, root);
  }

  /** Ends the watches at and below a path. */
  #drop(path: string): void {
    for (const [folder, { watcher, id }] of this.#watches) {
      if (folder !== path && !folder.startsWith(join(path, "/"))) continue;
      watcher.close();
      this.#watches.delete(folder);
      this.#outside.delete(folder);
      this.#ids.delete(id);
    }
  }

  #open(folder: string, recursive: boolean, root: string, onName: (name: string | null) => void): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { recursive, persistent: true }, (_event, name) => onName(name));
      // On Windows the removal of a watched folder is an error of its watch.
      watcher.on("error", () => {
        this.#drop(folder);
        this.#events.onChange(folder);
      });
      return watcher;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // A folder that is gone, or that may not be read, has no sessions to report.
      if (!["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(error.code ?? "")) this.#giveUp(root, error.code ?? error.message);
      return undefined;
    }
  }

  #giveUp(root: string, code: string): void {
    if (this.#unwatched.has(root)) return;
    this.#unwatched.add(root);
    this.#events.onUnwatched(root, REASONS[code] ?? code);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the limit of watches is reached, see fs.inotify.max_user_watches",
  EMFILE: "the limit of open watchers is reached, see fs.inotify.max_user_instances",
};

/** True if `skipped` matches one of the folders on a relative path. */
function isMatchedOnWay(path: string, isFolder: boolean, skipped: RegExp | undefined): boolean {
  const names = path.split(sep);
  const folders = isFolder ? names : names.slice(0, -1);
  return folders.some((_name, at) => skipped?.test(folders.slice(0, at + 1).join("/")) === true);
}

/** The folders in a folder, links to folders included; none if it cannot be listed. */
function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !SKIPPED.has(entry.name))
      .map(({ name }) => join(folder, name));
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** Identifies a folder, also one that got the number of a removed one; undefined: there is no folder at the path. */
function folderId(path: string): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeMs}` : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function nearestFolder(path: string): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    if (folderId(folder) !== undefined) return folder;
    if (basename(folder) === "") return undefined;
  }
}
