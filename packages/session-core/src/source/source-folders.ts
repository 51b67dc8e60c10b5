import { basename, dirname, join } from "node:path";
import { SourceNotFoundError, SourceUnreadableError } from "../errors/import-errors.js";
import { entriesOf, type FolderEntry, statOf } from "./open-source.js";

/**
 * The folders that one import has looked into. Each is listed once, whichever of its files asks: a folder of thousands
 * of sessions would otherwise be listed thousands of times. Memory: the names.
 */
export class SourceFolders {
  readonly #listed = new Map<string, ReadonlyMap<string, FolderEntry>>();
  readonly #found = new Map<unknown, Map<string, unknown>>();

  /**
   * What is in `folder` by name, in order of name; nothing where it is missing or no folder.
   *
   * @throws {SourceUnreadableError} it cannot be listed.
   */
  list(folder: string): ReadonlyMap<string, FolderEntry> {
    const known = this.#listed.get(folder);
    if (known !== undefined) return known;
    const entries = new Map(listed(folder).map((entry) => [entry.name, entry]));
    this.#listed.set(folder, entries);
    return entries;
  }

  /** Whether something is at `path`, be it readable or not. */
  has(path: string): boolean {
    try {
      return this.list(dirname(path)).has(basename(path));
    } catch (error) {
      // A folder that cannot be listed may still let a file be opened whose name is known.
      if (!(error instanceof SourceUnreadableError)) throw error;
      return isThere(path);
    }
  }

  /** The paths in `folder` whose name fits, in order of name. @throws {SourceUnreadableError} it cannot be listed. */
  paths(folder: string, fits: (entry: FolderEntry) => boolean): readonly string[] {
    const entries = [...this.list(folder).values()];
    return entries.filter((entry) => entry.isOpenable && fits(entry)).map(({ name }) => join(folder, name));
  }

  /** What `find` finds out about `folder`, done once for each function and folder. Throws what `find` throws, and then asks again. */
  once<T>(folder: string, find: (folder: string, folders: SourceFolders) => T): T {
    const known = this.#found.get(find) ?? new Map<string, unknown>();
    this.#found.set(find, known);
    if (!known.has(folder)) known.set(folder, find(folder, this));
    // Only what this very function gave stands in its map.
    return known.get(folder) as T;
  }
}

function listed(folder: string): readonly FolderEntry[] {
  try {
    return entriesOf(folder);
  } catch (error) {
    if (error instanceof SourceNotFoundError) return [];
    throw error;
  }
}

function isThere(path: string): boolean {
  try {
    statOf(path);
    return true;
  } catch (error) {
    if (error instanceof SourceNotFoundError) return false;
    if (error instanceof SourceUnreadableError) return true;
    throw error;
  }
}
