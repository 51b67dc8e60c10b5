import { resolve } from "node:path";
import { checkArgument, FILE, optional, options as optionsOf, type RulesOf, STORE_KEY } from "../arguments/rules.js";
import { InvalidArgumentError } from "../errors/bough-error.js";

/** A store in a file, with its key and the one that it gets. */
export interface KeyChangeOptions {
  readonly path: string;
  /** The key of the store; undefined: it is not locked. */
  readonly key?: string | undefined;
  /** The key that the store gets; undefined: it is unlocked. */
  readonly newKey?: string | undefined;
}

/** The result of a change of a key. */
export interface ChangedKey {
  /**
   * The number of other names (hard links) of the file. They keep the old file, with the old key or without one. 0: the old file is gone;
   * unless the store was unlocked, it was overwritten with zeros.
   */
  readonly otherNames: number;
}

const OPTIONS = optionsOf(
  { path: FILE, key: optional(STORE_KEY), newKey: optional(STORE_KEY) } satisfies RulesOf<KeyChangeOptions>,
  'an object such as { path: "sessions.db", newKey }',
);

/**
 * Locks a store, unlocks it, or changes its key: writes a copy with the new key beside it, checks the copy, and renames it over the store. A
 * process that is killed at any moment leaves the whole store, with the old key or with the new one. Needs the space of a second copy, and
 * nobody else may have the store open. Reads and writes the whole file, some 50 MB a second, and blocks the thread.
 *
 * @throws {StoreNotFoundError | ForeignFileError | NewerStoreError} there is no store at `path`.
 * @throws {StoreLockedError | WrongKeyError | StoreNotLockedError} the store and `key` do not fit.
 * @throws {StoreInUseError} the store is open, in this process or in another. Nothing was changed.
 * @throws {StoreFullError | StoreUnavailableError | StoreDeniedError | StoreReadOnlyError} the copy cannot be written. Nothing was changed.
 * @throws {CiphersMissingError} the package for locked stores is not installed.
 * @example
 * const notLocked = await openStore({ path: "notes.db" });
 * await notLocked.close();
 * await changeStoreKey({ path: "notes.db", newKey: "correct horse battery staple" });
 * const store = await openStore({ path: "notes.db", key: "correct horse battery staple" });
 * await store.close();
 */
export async function changeStoreKey(options: KeyChangeOptions): Promise<ChangedKey> {
  checkArgument("options", options, OPTIONS);
  const { path, key, newKey } = options;
  if (key === undefined && newKey === undefined)
    throw new InvalidArgumentError("options", "an object with a key, a newKey or both", "one without");
  const { changeKey } = await import("../sqlite/file/change-key.js");
  return { otherNames: changeKey(resolve(path), { key, newKey }) };
}
