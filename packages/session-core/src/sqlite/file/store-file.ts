import { closeSync, fstatSync, openSync, readSync, realpathSync, rmSync, type Stats, statSync } from "node:fs";
import {
  ForeignFileError,
  NewerStoreError,
  StoreDeniedError,
  StoreLockedError,
  StoreNotFoundError,
  StoreUnavailableError,
  WrongKeyError,
} from "../../errors/store-errors.js";
import { errorCode } from "../../errors/system-error.js";
import { toFileError } from "./sqlite-errors.js";
import { looksLocked, pageBytesOf, StoreLock } from "./store-lock.js";

/** The `application_id` in the header of every store: "Bgh1" in ASCII. */
export const APPLICATION_ID = 0x42676831;

// Offsets in the header of a database file: https://www.sqlite.org/fileformat.html#the_database_header
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
const CHANGE_COUNTER_OFFSET = 24;
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;
/** Offsets of the write version and the read version, which select the journal mode. */
export const JOURNAL_KIND_OFFSETS = [18, 19] as const;
/** The version of files with a rollback journal: reading them needs no other file. */
export const NO_JOURNAL_FILE = 1;
/** Offset of the schema cookie: four bytes, which a backup sets to a random number. */
export const SCHEMA_COOKIE_OFFSET = 40;

/** The kind of file at a path, by its first bytes. */
type FileIdentity = { readonly kind: "absent" } | { readonly kind: "empty" } | { readonly kind: "store"; readonly version: number };

/**
 * Identifies a file by its header, without SQLite, which could create side files or apply a journal.
 *
 * @throws {ForeignFileError} the file is not a store. It was not changed.
 * @throws {NewerStoreError} its format is newer than `supported`. It was not changed.
 * @throws {StoreLockedError | WrongKeyError} it is locked, and no key was given, or one that does not fit. It was not changed.
 */
export function identifyFile(path: string, file: StoreFile | undefined, supported: number): FileIdentity {
  if (file === undefined) return { kind: "absent" };
  const header = file.readHeader();
  if (header.length === 0) return { kind: "empty" };
  if (isBoughStore(header)) {
    const version = header.readUInt32BE(USER_VERSION_OFFSET);
    if (version > supported) throw new NewerStoreError(path, version, supported);
    return { kind: "store", version };
  }
  if (isUnfinished(path)) return { kind: "empty" };
  // The header of a locked file of another program is noise, too.
  if (file.lock !== undefined) throw new WrongKeyError(path);
  if (looksLocked(header)) throw new StoreLockedError(path);
  throw new ForeignFileError(path, hasMagic(header) ? "an SQLite database of another program" : "no SQLite database");
}

function hasMagic(header: Buffer): boolean {
  return header.toString("latin1", 0, MAGIC.length) === MAGIC;
}

function isBoughStore(header: Buffer): boolean {
  return header.length >= HEADER_BYTES && hasMagic(header) && header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID;
}

/** The maximum increase of the schema cookie of an open store since the last check. */
const MOST_SCHEMA_CHANGES = 10_000;

/**
 * True if the header `now` can be a later state of the header `before`. The header of another store copied over it cannot:
 * each store and each backup starts with a random schema cookie. VACUUM, ANALYZE and a new index increase it by a few.
 */
function isSuccessor(before: Buffer, now: Buffer): boolean {
  if (!isBoughStore(now)) return false;
  const increaseOf = (offset: number) => (now.readUInt32BE(offset) - before.readUInt32BE(offset)) >>> 0;
  if (now.readUInt32BE(USER_VERSION_OFFSET) < before.readUInt32BE(USER_VERSION_OFFSET)) return false;
  // In WAL mode the change counter stays the same over several transactions of one connection, also over a VACUUM.
  return increaseOf(SCHEMA_COOKIE_OFFSET) <= MOST_SCHEMA_CHANGES && increaseOf(CHANGE_COUNTER_OFFSET) < 2 ** 31;
}

// Offsets in the header of a rollback journal: https://www.sqlite.org/fileformat.html#the_rollback_journal
const JOURNAL_MAGIC = "d9d505f920a163d7";
const JOURNAL_PAGES_OFFSET = 16;
const JOURNAL_HEADER_BYTES = 28;

/**
 * True if the transaction that created the file was interrupted, for example by a power loss: its journal records that the
 * file was empty before, and SQLite will truncate it when it opens the file.
 */
function isUnfinished(path: string): boolean {
  const journal = readStart(`${realPathOf(path)}-journal`, JOURNAL_HEADER_BYTES);
  return (
    journal.length === JOURNAL_HEADER_BYTES &&
    journal.toString("hex", 0, 8) === JOURNAL_MAGIC &&
    journal.readUInt32BE(JOURNAL_PAGES_OFFSET) === 0
  );
}

function readStart(path: string, bytes: number): Buffer {
  try {
    const file = openSync(path, "r");
    try {
      const start = Buffer.alloc(bytes);
      return start.subarray(0, readSync(file, start, 0, bytes, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** @throws {StoreNotFoundError} the path has no store. */
export function requireStore(path: string, identity: FileIdentity): void {
  if (identity.kind !== "store") throw new StoreNotFoundError(path);
}

/** The path to which a link to a store leads; the path itself if nothing is there. SQLite keeps its side files beside that file. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return path;
    throw error;
  }
}

/** The path of the write-ahead log of a store. */
export function walOf(path: string): string {
  return `${realPathOf(path)}-wal`;
}

/** The first bytes of a file: as they are, and decrypted where they have to be. */
interface StartOfFile {
  readonly raw: Buffer;
  readonly header: Buffer;
}

/** The path of the file with another key that replaces the store when it is complete. Only one process at a time writes it. */
export function unfinishedKeyChange(path: string): string {
  return `${path}.changing-key`;
}

/**
 * Removes what a change of the key that was interrupted has left: its file, which is readable after an unlocking, and a journal of one page. Call
 * it with the store open in WAL mode or locked exclusively, which excludes that a change is running, and that the journal is in use.
 */
export function removeUnfinishedKeyChange(path: string): void {
  for (const left of [unfinishedKeyChange(path), `${path}-journal`]) rmSync(left, { force: true });
}

/** A descriptor of a file that is open for reading, and how many `StoreFile`s use it. */
interface SharedDescriptor {
  readonly fd: number;
  users: number;
}

/** The largest store that SQLite can open from memory. */
const WHOLE_BYTES = 2 ** 31 - 1;
const TOO_LARGE_TO_READ_WHOLE =
  "it is larger than 2 GiB, and reading it in place needs permission to write in its folder; copy it to another folder";

const READ_BYTES = 64 * 1024 * 1024;

// One descriptor for each file, closed after the last connection to it. Closing any descriptor of a file releases all POSIX
// locks of the process on it, also those of SQLite. Another process that closes the store would then delete the WAL that this
// process still writes to.
const descriptors = new Map<string, SharedDescriptor>();

const OR_UNDEFINED = { throwIfNoEntry: false } as const;

/** The identity of a file: device and inode number. */
type FileId = Pick<Stats, "dev" | "ino">;

/**
 * The file of an open store. Checks whether the path still leads to the same file and content. A check takes about 6 µs (two
 * `stat`, one read of 100 bytes).
 */
export class StoreFile {
  readonly path: string;
  readonly #key: string | undefined;
  #lock: StoreLock | undefined;
  readonly #id: FileId;
  readonly #descriptor: SharedDescriptor;
  readonly #journalPath: string;
  /** Receives the header at each check: a new buffer takes longer than the read. */
  readonly #buffer = Buffer.alloc(HEADER_BYTES);
  #start: StartOfFile;
  #journal: FileId | undefined;
  #released = false;
  #checkedAtMs = Date.now();
  /** Why the file can no longer be used. */
  #lossReason: string | undefined;

  private constructor(path: string, id: FileId, descriptor: SharedDescriptor, key: string | undefined) {
    this.path = path;
    this.#journalPath = walOf(path);
    this.#id = id;
    this.#descriptor = descriptor;
    this.#key = key;
    this.#start = this.#decrypt(this.#readStart(HEADER_BYTES));
  }

  /** Returns the file at `path`, or undefined. `key`: of a locked one. @throws {ForeignFileError | StoreUnavailableError | StoreDeniedError} */
  static find(path: string, key?: string): StoreFile | undefined {
    return withTypedErrors(path, () => {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return undefined;
      if (!stats.isFile()) throw new ForeignFileError(path, "no file");
      return new StoreFile(path, stats, acquire(path, stats), key);
    });
  }

  /** Reads the first 100 bytes; fewer if the file is shorter. Those of a locked file are decrypted, which is noise with a wrong key. */
  readHeader(): Buffer {
    return this.#decrypt(this.#readStart(HEADER_BYTES)).header;
  }

  /** The lock of the file; undefined if it is not locked, or no key was given. */
  get lock(): StoreLock | undefined {
    return this.#lock;
  }

  /** Decrypts the start of the file if it is locked: reads its first page. */
  #decrypt(raw: Buffer): StartOfFile {
    if (this.#key === undefined || !looksLocked(raw)) return { raw, header: raw };
    this.#lock ??= StoreLock.of(this.#key, raw);
    const page = this.#readStart(pageBytesOf(raw));
    if (page.length < pageBytesOf(raw)) return { raw, header: raw };
    return { raw: page.subarray(0, HEADER_BYTES), header: this.#lock.decryptHeader(page, HEADER_BYTES) };
  }

  /** True if another connection of this process has the file open. */
  get isShared(): boolean {
    return this.#descriptor.users > 1;
  }

  /** A descriptor for reading the file. The caller must not close it. */
  get descriptor(): number {
    return this.#descriptor.fd;
  }

  /** Reads the whole file. @throws {StoreUnavailableError} it is larger than `WHOLE_BYTES`, or cannot be read. */
  readAll(): Buffer {
    return withTypedErrors(this.path, () => {
      const { size } = fstatSync(this.#descriptor.fd);
      if (size > WHOLE_BYTES) throw new StoreUnavailableError(this.path, TOO_LARGE_TO_READ_WHOLE);
      return this.#readStart(size);
    });
  }

  // One call may read less than requested on some network file systems, and never reads 2 GiB.
  #readStart(bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes);
    let end = 0;
    for (let read = -1; end < bytes && read !== 0; end += read) {
      read = readSync(this.#descriptor.fd, buffer, end, Math.min(bytes - end, READ_BYTES), end);
    }
    return buffer.subarray(0, end);
  }

  /** True if the path leads elsewhere by now. */
  get isReplaced(): boolean {
    return !isSameFile(this.path, this.#id);
  }

  /** Records the header and the WAL after SQLite has opened them. @throws {StoreUnavailableError} the file was replaced meanwhile. */
  recordOpened(): void {
    if (this.isReplaced) throw new StoreUnavailableError(this.path, "the file was replaced while it was being opened");
    this.#start = this.#decrypt(this.#readStart(HEADER_BYTES));
    this.#journal = statSync(this.#journalPath, OR_UNDEFINED);
  }

  /**
   * Checks that the path still leads to the open file, unless the last check is less than `everyMs` milliseconds old. Once it leads
   * elsewhere, every call throws until the store is opened again.
   *
   * @throws {StoreUnavailableError} it leads elsewhere, or the file system does not respond, for example while a network drive is offline.
   */
  requireCurrent(everyMs: number): void {
    const nowMs = Date.now();
    if (this.#lossReason === undefined && Math.abs(nowMs - this.#checkedAtMs) >= everyMs) {
      this.#check();
      this.#checkedAtMs = nowMs;
    }
    if (this.#lossReason !== undefined) throw new StoreUnavailableError(this.path, `${this.#lossReason}; open the store again`);
  }

  /** True if the file was replaced or cannot be checked. */
  get isLost(): boolean {
    try {
      this.requireCurrent(0);
      return false;
    } catch (error) {
      if (error instanceof StoreUnavailableError || error instanceof StoreDeniedError) return true;
      throw error;
    }
  }

  #check(): void {
    try {
      this.#lossReason = this.#findLossReason();
    } catch (error) {
      throw toFileError(error, this.path);
    }
  }

  #findLossReason(): string | undefined {
    if (!isSameFile(this.path, this.#id)) return "the file was deleted, moved or replaced while it was open";
    if (this.#journal !== undefined && !isSameFile(this.#journalPath, this.#journal)) {
      return "its journal (-wal) was deleted, moved or replaced while it was open";
    }
    const isWhole = readSync(this.#descriptor.fd, this.#buffer, 0, HEADER_BYTES, 0) === HEADER_BYTES;
    if (isWhole && this.#buffer.equals(this.#start.raw)) return undefined;
    return this.#isContinued() ? undefined : "the file was overwritten or cut while it was open";
  }

  // Another process may write the header during the read, so an unexpected header is read twice.
  #isContinued(): boolean {
    for (let previous: Buffer | undefined; ; ) {
      const start = this.#decrypt(this.#readStart(HEADER_BYTES));
      if (start.raw.equals(this.#start.raw)) return true;
      if (isSuccessor(this.#start.header, start.header)) {
        this.#start = start;
        return true;
      }
      if (previous?.equals(start.raw) === true) return false;
      previous = start.raw;
    }
  }

  /** Releases the descriptor. Call it after SQLite has closed the file. A second call does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#descriptor.users -= 1;
    if (this.#descriptor.users > 0) return;
    descriptors.delete(keyOf(this.#id));
    closeSync(this.#descriptor.fd);
  }
}

function acquire(path: string, id: FileId): SharedDescriptor {
  const known = descriptors.get(keyOf(id));
  if (known !== undefined) {
    known.users += 1;
    return known;
  }
  const descriptor = { fd: openSync(path, "r"), users: 1 };
  descriptors.set(keyOf(id), descriptor);
  return descriptor;
}

function keyOf({ dev, ino }: FileId): string {
  return `${dev}:${ino}`;
}

function isSameFile(path: string, { dev, ino }: FileId): boolean {
  const now = statSync(path, OR_UNDEFINED);
  return now !== undefined && now.ino === ino && now.dev === dev;
}

/** Runs `access` and converts errors of the file system. @throws {StoreUnavailableError | StoreDeniedError} */
function withTypedErrors<T>(path: string, access: () => T): T {
  try {
    return access();
  } catch (error) {
    throw toFileError(error, path);
  }
}
