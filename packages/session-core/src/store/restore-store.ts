import { randomUUID } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CALLBACK, checkArgument, FILE, optional, options as optionsOf, type RulesOf, SIGNAL, STORE_KEY } from "../arguments/rules.js";
import { InvalidArgumentError } from "../errors/bough-error.js";
import { BackupDamagedError, StoreDamagedError, StoreDeniedError } from "../errors/store-errors.js";
import { openStore } from "./open-store.js";

/** The backup to restore, and the store to replace. */
export interface RestoreOptions {
  /** A file written by `Store.backup`. It is not changed. */
  readonly backup: string;
  /** The path of the store. An existing store is replaced. */
  readonly path: string;
  /** The key of a locked backup, and of the store that it replaces if that is locked. */
  readonly key?: string | undefined;
  /** Called with numbers of pages while the backup is copied. */
  readonly onProgress?: ((donePages: number, totalPages: number) => void) | undefined;
  /** Aborts before the store is replaced; `restoreStore` throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a restore. */
export interface RestoredStore {
  readonly path: string;
  /** The path of the old store; null if there was none. */
  readonly keptAt: string | null;
}

const OPTIONS = optionsOf(
  {
    backup: FILE,
    path: FILE,
    key: optional(STORE_KEY),
    onProgress: optional(CALLBACK),
    signal: optional(SIGNAL),
  } satisfies RulesOf<RestoreOptions>,
  'an object such as { backup: "backup.db", path: "sessions.db" }',
);

/**
 * Replaces a store by a backup. Copies the backup into the folder of the store, verifies the copy as `Store.verify` does, and
 * renames it; keeps the old store under another name. Reads the whole backup.
 *
 * @throws {StoreNotFoundError | ForeignFileError | NewerStoreError} `backup` is not a store that can be read.
 * @throws {BackupDamagedError} it has an integrity violation.
 * @throws {StoreLockedError | WrongKeyError | StoreNotLockedError} the backup, or the store, and the key do not fit.
 * @throws {StoreInUseError} the store is open, in this process or in another. Nothing was replaced.
 * @throws {StoreUnavailableError | StoreDeniedError | StoreFullError | StoreReadOnlyError} the folder of the store cannot be written.
 * @example
 * const { keptAt } = await restoreStore({ backup: "backup.db", path: "sessions.db" });
 */
export async function restoreStore(options: RestoreOptions): Promise<RestoredStore> {
  checkArgument("options", options, OPTIONS);
  const backup = resolve(options.backup);
  const path = resolve(options.path);
  const { toFileError } = await import("../sqlite/file/sqlite-errors.js");
  if (isSameFile(backup, path, toFileError)) throw new InvalidArgumentError("backup", "another file than the store", options.backup);
  const { realPathOf } = await import("../sqlite/file/store-file.js");
  // A link to the store keeps leading to it.
  const replaced = realPathOf(path);
  const stamp = new Date().toISOString().replaceAll(":", "-").replace("Z", "");
  const keptAt = `${replaced}.replaced-${stamp}`;
  const whole = `${replaced}.${randomUUID()}.restoring`;
  try {
    await copyChecked(backup, whole, options).catch((error: unknown) => {
      throw error instanceof StoreDeniedError && error.path === whole ? toFileError(error.cause, replaced) : error;
    });
    const { replaceStore } = await import("../sqlite/file/backup.js");
    options.signal?.throwIfAborted();
    return { path, keptAt: replaceStore(whole, replaced, keptAt, options.key) ? keptAt : null };
  } finally {
    for (const side of ["", "-wal", "-shm"]) rmSync(`${whole}${side}`, { force: true });
  }
}

async function copyChecked(backup: string, whole: string, { key, onProgress, signal }: RestoreOptions): Promise<void> {
  try {
    const source = await openStore({ path: backup, key, mode: "read-only" });
    try {
      await source.backup(whole, onProgress, signal);
    } finally {
      await source.close();
    }
    await requireWhole(backup, whole, key);
  } catch (error) {
    if (error instanceof StoreDamagedError) throw new BackupDamagedError(backup, "SQLite cannot read it", { cause: error });
    throw error;
  }
}

// Verifies the copy, not the backup, which could change between the check and the rename.
async function requireWhole(backup: string, whole: string, key: string | undefined): Promise<void> {
  const copy = await openStore({ path: whole, key, mode: "read-write" });
  try {
    for await (const { message } of copy.verify()) throw new BackupDamagedError(backup, message);
  } finally {
    await copy.close();
  }
}

function isSameFile(a: string, b: string, toTyped: (error: unknown, path: string) => unknown): boolean {
  const [one, other] = [a, b].map((path) => {
    try {
      return statSync(path, { throwIfNoEntry: false });
    } catch (error) {
      throw toTyped(error, path);
    }
  });
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}
