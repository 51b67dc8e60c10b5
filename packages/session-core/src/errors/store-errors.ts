import { BoughError } from "./bough-error.js";

/** There is no file at the path, and the caller did not ask to create one. Nothing was created. */
export class StoreNotFoundError extends BoughError {
  readonly code = "STORE_NOT_FOUND";
  readonly path: string;

  constructor(path: string) {
    super(`No store at ${path}.`, { hint: 'Open it with mode: "create" to create one.' });
    this.path = path;
  }
}

/** The file is not a Bough store: another program's database, or not a database. The file was not changed. */
export class ForeignFileError extends BoughError {
  readonly code = "FOREIGN_FILE";
  readonly path: string;
  readonly found: string;

  constructor(path: string, found: string) {
    super(`${path} is not a Bough store (${found}). The file was not changed.`, { hint: "Use another path." });
    this.path = path;
    this.found = found;
  }
}

/** A newer version of Bough wrote the store. The file was not changed. */
export class NewerStoreError extends BoughError {
  readonly code = "NEWER_STORE";
  readonly path: string;
  readonly version: number;
  readonly supported: number;

  constructor(path: string, version: number, supported: number, { hint = "Update Bough." }: { readonly hint?: string | undefined } = {}) {
    super(`A newer version of Bough wrote ${path} (format ${version}; the newest supported format is ${supported}).`, { hint });
    this.path = path;
    this.version = version;
    this.supported = supported;
  }
}

/** Another process held the write lock for longer than the busy timeout. Nothing was written. */
export class StoreBusyError extends BoughError {
  readonly code = "STORE_BUSY";
  readonly waitedMs: number;

  constructor(waitedMs: number, options?: { cause: unknown }) {
    super(`Another process held the write lock for more than ${waitedMs} ms. Nothing was written.`, { ...options, hint: "Try again." });
    this.waitedMs = waitedMs;
  }
}

/** The store was opened for reading only, or its file or folder is not writable. Nothing was written. */
export class StoreReadOnlyError extends BoughError {
  readonly code = "STORE_READ_ONLY";
  readonly path: string;

  constructor(path: string, options?: { readonly cause?: unknown; readonly hint?: string }) {
    super(`${path} can only be read. Nothing was written.`, {
      hint: "Check the permissions of the file and its folder, and the mode that the store was opened with.",
      ...options,
    });
    this.path = path;
  }
}

/** The disk is full, or the size limit given to `openStore` is reached. Nothing of the operation was written. */
export class StoreFullError extends BoughError {
  readonly code = "STORE_FULL";
  readonly path: string;

  constructor(path: string, options?: { cause: unknown }) {
    super(`No space left to write ${path}. Nothing was written.`, { ...options, hint: "Free some space and try again." });
    this.path = path;
  }
}

/** SQLite reports that the file is corrupt. Nothing was written. */
export class StoreDamagedError extends BoughError {
  readonly code = "STORE_DAMAGED";
  readonly path: string;

  constructor(path: string, options?: { cause: unknown }) {
    super(`${path} is damaged.`, {
      ...options,
      hint: "Restore a backup with restoreStore(), or export the sessions that can still be read.",
    });
    this.path = path;
  }
}

/**
 * The stored payload of these entries cannot be read. Entries of other blocks and other sessions are not affected. `Store.verify`
 * names every such block.
 */
export class PayloadDamagedError extends BoughError {
  readonly code = "PAYLOAD_DAMAGED";
  readonly path: string;
  readonly sessionId: string | null;
  /** The first and the last entry, by order of arrival (`Entry.seq`). */
  readonly seqs: readonly [first: number, last: number];

  constructor(path: string, sessionId: string | null, seqs: readonly [number, number], reason: string, options?: { cause: unknown }) {
    const [first, last] = seqs;
    const entries = first === last ? `the entry in row ${first}` : `the entries in rows ${first} to ${last}`;
    super(`The payload of ${entries} of session ${sessionId} in ${path} cannot be read: ${reason}.`, {
      ...options,
      hint: "Restore a backup with restoreStore(), or export the other sessions.",
    });
    this.path = path;
    this.sessionId = sessionId;
    this.seqs = seqs;
  }
}

/** The permissions of the file or of its folder do not let this user open it. Nothing was written. */
export class StoreDeniedError extends BoughError {
  readonly code = "STORE_DENIED";
  readonly path: string;

  constructor(path: string, reason: string, options?: { cause: unknown }) {
    super(`Cannot open ${path}: ${reason}.`, options);
    this.path = path;
  }
}

/**
 * The file cannot be opened or read: a missing folder, a device, an error of the disk. Or another program replaced,
 * truncated or moved the file while it was open: a write that throws this may be in the old file; repeat it with the same ids.
 */
export class StoreUnavailableError extends BoughError {
  readonly code = "STORE_UNAVAILABLE";
  readonly path: string;

  constructor(path: string, reason: string, options?: { cause: unknown }) {
    super(`Cannot open ${path}: ${reason}.`, options);
    this.path = path;
  }
}

/** The backup to restore has an integrity violation or cannot be read. Nothing was replaced. */
export class BackupDamagedError extends BoughError {
  readonly code = "BACKUP_DAMAGED";
  readonly path: string;
  readonly violation: string;

  constructor(path: string, violation: string, options?: { cause: unknown }) {
    super(`The backup ${path} is damaged: ${violation.replace(/\.$/, "")}. Nothing was replaced.`, {
      ...options,
      hint: "Restore another backup.",
    });
    this.path = path;
    this.violation = violation;
  }
}

/** The store to replace is open, in this process or another one. Nothing was replaced. */
export class StoreInUseError extends BoughError {
  readonly code = "STORE_IN_USE";
  readonly path: string;

  constructor(path: string, options?: { cause: unknown }) {
    super(`${path} is in use by another program. Nothing was replaced.`, { ...options, hint: "End that program and try again." });
    this.path = path;
  }
}

/** The store is locked, and no key was given. The file was not changed. */
export class StoreLockedError extends BoughError {
  readonly code = "STORE_LOCKED";
  readonly path: string;

  constructor(path: string) {
    super(`${path} is locked, and no key was given. Nothing was changed.`, { hint: "Open it with openStore({ path, key })." });
    this.path = path;
  }
}

/** The key does not fit the locked store. The file was not changed. */
export class WrongKeyError extends BoughError {
  readonly code = "WRONG_KEY";
  readonly path: string;

  constructor(path: string) {
    super(`The key does not fit ${path}. Nothing was changed.`, { hint: "Check the key." });
    this.path = path;
  }
}

/** A key was given for a store that is not locked. The file was not changed. */
export class StoreNotLockedError extends BoughError {
  readonly code = "STORE_NOT_LOCKED";
  readonly path: string;

  constructor(path: string) {
    super(`${path} is not locked, but a key was given. Nothing was changed.`, {
      hint: "Leave the key out, or lock the store with changeStoreKey({ path, newKey }).",
    });
    this.path = path;
  }
}

/** Locked stores need the package better-sqlite3-multiple-ciphers, which is not installed. No file was opened. */
export class CiphersMissingError extends BoughError {
  readonly code = "CIPHERS_MISSING";

  constructor(nodeVersion: string, options?: { cause: unknown }) {
    const version = Number.parseInt(nodeVersion, 10) < 22 ? "12" : "13";
    super("A locked store needs the package better-sqlite3-multiple-ciphers, which is not installed. Nothing was changed.", {
      ...options,
      hint: `npm install better-sqlite3-multiple-ciphers@${version}, with --global where Bough is installed globally`,
    });
  }
}

/** The store was closed before this call. Nothing was written. */
export class StoreClosedError extends BoughError {
  readonly code = "STORE_CLOSED";
  readonly path: string;

  constructor(path: string) {
    super(`The store ${path} is closed.`, { hint: "Open it again with openStore()." });
    this.path = path;
  }
}

/** A file exists at the path to write. It was not changed. */
export class TargetExistsError extends BoughError {
  readonly code = "TARGET_EXISTS";
  readonly path: string;

  constructor(path: string) {
    super(`${path} exists already and was not changed.`, { hint: "Use another path." });
    this.path = path;
  }
}

/**
 * Why better-sqlite3 cannot run: this version would crash this Node; its native binary is missing, mostly because its install
 * script did not run; or the binary was built for another version of Node or another machine.
 */
export type DriverFault = "wrong-version" | "binary-missing" | "binary-foreign";

/** The packages with the native drivers of SQLite: of stores that are not locked, and of locked ones. */
export type DriverName = "better-sqlite3" | "better-sqlite3-multiple-ciphers";

/**
 * A native driver of SQLite cannot run on this Node. No file was opened. `hint` has the repair commands for npm, pnpm and yarn.
 * `driverVersion` is empty if the package's manifest was not found.
 */
export class DriverUnusableError extends BoughError {
  readonly code = "DRIVER_UNUSABLE";
  readonly fault: DriverFault;
  readonly driverVersion: string;
  readonly nodeVersion: string;

  constructor(
    fault: DriverFault,
    driverVersion: string,
    nodeVersion: string,
    { driver = "better-sqlite3", ...options }: { readonly cause?: unknown; readonly driver?: DriverName } = {},
  ) {
    const repair = repairOf(fault, driverVersion, nodeVersion).replaceAll("better-sqlite3", driver);
    super(`${problemOf(fault, `${driver} ${driverVersion}`.trim(), nodeVersion)}.`, {
      ...options,
      hint: `${repair}. More: ${TROUBLESHOOTING}`,
    });
    this.fault = fault;
    this.driverVersion = driverVersion;
    this.nodeVersion = nodeVersion;
  }
}

const TROUBLESHOOTING = "https://github.com/bough-sessions/bough/blob/main/docs/troubleshooting.md";

function problemOf(fault: DriverFault, driver: string, nodeVersion: string): string {
  switch (fault) {
    case "wrong-version":
      return `${driver} does not run on Node ${nodeVersion}`;
    case "binary-missing":
      return `${driver} has no native binary for Node ${nodeVersion}`;
    case "binary-foreign":
      return `The native binary of ${driver} does not load on Node ${nodeVersion}: it was built for another version of Node or another machine`;
  }
}

/** Version 13 includes its binaries and needs Node 22. Version 12 has an install script, which most package managers run only on request. */
function repairOf(fault: DriverFault, driverVersion: string, nodeVersion: string): string {
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
