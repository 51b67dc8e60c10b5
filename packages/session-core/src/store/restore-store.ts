import { randomUUID } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CALLBACK, checkArgument, FILE, optional, record, SIGNAL } from "../arguments/rules.js";
import { InvalidArgumentError } from "../errors/bough-error.js";
import { BackupDamagedError, StoreDamagedError } from "../errors/store-errors.js";
import { replaceStore } from "../storage/backup.js";
import { openStore } from "./open-store.js";

/** What is restored, and where to. */
export interface RestoreOptions {
  /** A file that `Store.backup` made. It is only read. */
  readonly backup: string;
  /** The store that is replaced; where there is none, one is made. */
  readonly path: string;
  /** Told pages of 4 KiB while the backup is copied. */
  readonly onProgress?: ((donePages: number, totalPages: number) => void) | undefined;
  /** Stops the work before anything was replaced; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** What a restoration came to. */
export interface RestoredStore {
  readonly path: string;
  /** Where the store that was replaced is kept, whole; null: there was none. */
  readonly keptAt: string | null;
}

const OPTIONS = record(
  { backup: FILE, path: FILE, onProgress: optional(CALLBACK), signal: optional(SIGNAL) },
  'an object such as { backup: "backup.db", path: "sessions.db" }',
);

/**
 * Puts a backup in the place of a store. The backup is copied beside the store, checked as `Store.verify` does, and takes
 * the name of the store by a rename; the store that was there is kept beside it. Reads all of the backup.
 *
 * @throws {StoreNotFoundError | ForeignFileError | NewerStoreError} `backup` is no store that can be read here.
 * @throws {BackupDamagedError} something does not hold in it.
 * @throws {StoreInUseError} the store is open, here or in another process. Nothing was replaced.
 * @throws {StoreUnavailableError | StoreFullError | StoreReadOnlyError} the folder of the store cannot be written.
 * @example
 * const { keptAt } = await restoreStore({ backup: "backup.db", path: "sessions.db" });
 */
export async function restoreStore(options: RestoreOptions): Promise<RestoredStore> {
  checkArgument("options", options, OPTIONS);
  const backup = resolve(options.backup);
  const path = resolve(options.path);
  if (isSameFile(backup, path)) throw new InvalidArgumentError("backup", "another file than the store", options.backup);
  const stamp = new Date().toISOString().replaceAll(":", "-").replace("Z", "");
  const keptAt = `${path}.replaced-${stamp}`;
  const whole = `${path}.${randomUUID()}.restoring`;
  try {
    await copyChecked(backup, whole, options);
    options.signal?.throwIfAborted();
    return { path, keptAt: replaceStore(whole, path, keptAt) ? keptAt : null };
  } finally {
    for (const side of ["", "-wal", "-shm"]) rmSync(`${whole}${side}`, { force: true });
  }
}

async function copyChecked(backup: string, whole: string, { onProgress, signal }: RestoreOptions): Promise<void> {
  try {
    const source = await openStore({ path: backup, mode: "read-only" });
    try {
      await source.backup(whole, onProgress, signal);
    } finally {
      await source.close();
    }
    await requireWhole(backup, whole);
  } catch (error) {
    if (error instanceof StoreDamagedError) throw new BackupDamagedError(backup, "SQLite cannot read it", { cause: error });
    throw error;
  }
}

// The copy is checked, not the backup: nothing can change between the check and the moment when it takes the name.
async function requireWhole(backup: string, whole: string): Promise<void> {
  const copy = await openStore({ path: whole, mode: "read-write" });
  try {
    for await (const { message } of copy.verify()) throw new BackupDamagedError(backup, message);
  } finally {
    await copy.close();
  }
}

function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}
