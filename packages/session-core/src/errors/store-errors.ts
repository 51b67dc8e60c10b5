import { BoughError } from "./bough-error.js";

/** No file at this path, and the caller did not ask to create one. Nothing was created. */
export class StoreNotFoundError extends BoughError {
  readonly code = "STORE_NOT_FOUND";
  override readonly name = "StoreNotFoundError";
  constructor(readonly path: string) {
    super(`No store at ${path}. Import a session or create one to make it.`);
  }
}

/** The file is not a Bough store: another program's database, or no database at all. Not one byte of it was changed. */
export class ForeignFileError extends BoughError {
  readonly code = "FOREIGN_FILE";
  override readonly name = "ForeignFileError";
  constructor(
    readonly path: string,
    readonly found: string,
  ) {
    super(`${path} is not a Bough store (${found}); it was left as it is. Name another path.`);
  }
}

/** The store was written by a newer version. Not one byte of it was changed; update Bough to open it. */
export class NewerStoreError extends BoughError {
  readonly code = "NEWER_STORE";
  override readonly name = "NewerStoreError";
  constructor(
    readonly path: string,
    readonly version: number,
    readonly supported: number,
  ) {
    super(`${path} was written by a newer Bough (format ${version}; this one reads up to ${supported}). Update Bough.`);
  }
}

/** Another process held the write lock for longer than the busy timeout. Nothing was written; try again. */
export class StoreBusyError extends BoughError {
  readonly code = "STORE_BUSY";
  override readonly name = "StoreBusyError";
  constructor(
    readonly waitedMs: number,
    options?: { cause: unknown },
  ) {
    super(`Another process held the write lock for more than ${waitedMs} ms. Nothing was written; try again.`, options);
  }
}

/** The store was opened for reading, or its file or folder cannot be written. Nothing was written. */
export class StoreReadOnlyError extends BoughError {
  readonly code = "STORE_READ_ONLY";
  override readonly name = "StoreReadOnlyError";
  constructor(
    readonly path: string,
    options?: { cause: unknown },
  ) {
    super(`${path} can only be read. Nothing was written; check its permissions or use another --store.`, options);
  }
}

/** The disk, or the size limit given at opening, is full. Nothing of the operation was written. */
export class StoreFullError extends BoughError {
  readonly code = "STORE_FULL";
  override readonly name = "StoreFullError";
  constructor(
    readonly path: string,
    options?: { cause: unknown },
  ) {
    super(`No space left to write ${path}. Nothing was written; free some space and try again.`, options);
  }
}

/** SQLite found the file damaged. Nothing was written; restore a backup or export what can still be read. */
export class StoreDamagedError extends BoughError {
  readonly code = "STORE_DAMAGED";
  override readonly name = "StoreDamagedError";
  constructor(
    readonly path: string,
    options?: { cause: unknown },
  ) {
    super(`${path} is damaged. Restore a backup, or export what can still be read.`, options);
  }
}

/**
 * The file could not be opened or read for a reason of the file system: permissions, a missing folder, a device. Or it was
 * replaced, cut or hidden while it was open: a write that throws this may stand in the old file; repeat it under the same id.
 */
export class StoreUnavailableError extends BoughError {
  readonly code = "STORE_UNAVAILABLE";
  override readonly name = "StoreUnavailableError";
  constructor(
    readonly path: string,
    reason: string,
    options?: { cause: unknown },
  ) {
    super(`Cannot open ${path}: ${reason}.`, options);
  }
}

/** Something does not hold in a backup that was to be restored, or it cannot be read. Nothing was replaced. */
export class BackupDamagedError extends BoughError {
  readonly code = "BACKUP_DAMAGED";
  override readonly name = "BackupDamagedError";
  constructor(
    readonly path: string,
    readonly finding: string,
    options?: { cause: unknown },
  ) {
    super(`The backup ${path} is damaged: ${finding.replace(/\.$/, "")}. Nothing was replaced; restore another one.`, options);
  }
}

/** The store that was to be replaced is open, here or in another process. Nothing was replaced. */
export class StoreInUseError extends BoughError {
  readonly code = "STORE_IN_USE";
  override readonly name = "StoreInUseError";
  constructor(
    readonly path: string,
    options?: { cause: unknown },
  ) {
    super(`${path} is in use by another program. Nothing was replaced; end that program and try again.`, options);
  }
}

/** The store was closed before this call. Nothing was written. */
export class StoreClosedError extends BoughError {
  readonly code = "STORE_CLOSED";
  override readonly name = "StoreClosedError";
  constructor(readonly path: string) {
    super(`The store ${path} is closed. Open it again.`);
  }
}

/** Something is at the path that was to be written. It was left as it is. */
export class TargetExistsError extends BoughError {
  readonly code = "TARGET_EXISTS";
  override readonly name = "TargetExistsError";
  constructor(readonly path: string) {
    super(`${path} exists already and was left as it is. Name another file.`);
  }
}

/**
 * Why better-sqlite3 cannot run: a version that would crash this Node; a native binary that is missing, mostly because an
 * install script was not run; or one that was built for another version of Node or another machine.
 */
export type DriverFault = "wrong-version" | "binary-missing" | "binary-foreign";

/**
 * The native driver of SQLite, better-sqlite3, cannot run on this Node. No file was opened. `message` names the commands
 * that repair it, for npm, pnpm and yarn. `driverVersion` is empty where the package has no manifest beside it.
 */
export class DriverUnusableError extends BoughError {
  readonly code = "DRIVER_UNUSABLE";
  override readonly name = "DriverUnusableError";
  constructor(
    readonly fault: DriverFault,
    readonly driverVersion: string,
    readonly nodeVersion: string,
    options?: { cause: unknown },
  ) {
    super(`${problem(fault, driverVersion, nodeVersion)}. ${repair(fault, driverVersion, nodeVersion)}. More: ${TROUBLESHOOTING}`, options);
  }
}

const TROUBLESHOOTING = "https://github.com/bough-sessions/bough/blob/main/docs/troubleshooting.md";

function problem(fault: DriverFault, driverVersion: string, nodeVersion: string): string {
  const driver = `better-sqlite3 ${driverVersion}`.trim();
  switch (fault) {
    case "wrong-version":
      return `${driver} does not run on Node ${nodeVersion}`;
    case "binary-missing":
      return `${driver} has no native binary for Node ${nodeVersion}`;
    case "binary-foreign":
      return `The native binary of ${driver} does not load on Node ${nodeVersion}: it was built for another version of Node or another machine`;
  }
}

/** Version 13 brings its binaries along and needs Node 22; version 12 has an install script, which most clients run only when told to. */
function repair(fault: DriverFault, driverVersion: string, nodeVersion: string): string {
  const old = Number.parseInt(nodeVersion, 10) < 22;
  const current = Number.parseInt(driverVersion, 10) >= 13;
  if (fault === "wrong-version" && old) return `Use Node 22 or later; to stay on this one, take version 12: ${PINNED}`;
  if (old) return `Use Node 22 or later; to stay on this one, run its install script: ${BUILT}`;
  if (current) return "Install it again; for a machine without a prebuilt binary: npm explore better-sqlite3 -- npm run build-release";
  return "Take version 13: npm install better-sqlite3@13; pnpm add better-sqlite3@13; yarn add better-sqlite3@13";
}

const PINNED =
  "npm install better-sqlite3@12; pnpm add better-sqlite3@12 --allow-build=better-sqlite3; " +
  'yarn set resolution "better-sqlite3@npm:^12.11.1 || ^13.2.0" npm:12.11.1';

const BUILT =
  "npm rebuild better-sqlite3; pnpm approve-builds better-sqlite3 && pnpm rebuild better-sqlite3; " +
  "yarn config set enableScripts true && yarn rebuild better-sqlite3";
