import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { ForeignFileError, StoreUnavailableError } from "../errors/store-errors.js";
import { HEADER_BYTES, isSuccessor } from "./file-header.js";
import { describeFileError } from "./sqlite-errors.js";

/** A descriptor of a file that is open for reading, and how many `StoreFile`s use it. */
interface SharedDescriptor {
  readonly fd: number;
  users: number;
}

/** How much of a store is read into memory at most: SQLite takes no larger one from there. */
const WHOLE_BYTES = 2 ** 31 - 1;
const TOO_LARGE_TO_READ_WHOLE =
  "it is larger than 2 GiB, and reading it in place needs permission to write in its folder; copy it to another folder";

const READ_BYTES = 64 * 1024 * 1024;

// One descriptor for each file, closed after the last connection to that file. Closing any descriptor of a file releases
// every POSIX lock that the process holds on it, SQLite's included; another process that closes the store then takes
// itself for the last one and removes the journal that this process still writes to.
const descriptors = new Map<string, SharedDescriptor>();

/** Which file stands at a path: its device and inode number. */
type FileId = Pick<Stats, "dev" | "ino">;

/**
 * The file of a store, as it was when it was opened. Says later whether the path still leads to the same file with a
 * continuation of the same content; each check costs about 6 µs (two `stat`, one read of 100 bytes).
 */
export class StoreFile {
  readonly path: string;
  readonly #id: FileId;
  readonly #descriptor: SharedDescriptor;
  #header: Buffer;
  #journal: FileId | undefined;
  #released = false;

  private constructor(path: string, id: FileId, descriptor: SharedDescriptor) {
    this.path = path;
    this.#id = id;
    this.#descriptor = descriptor;
    this.#header = this.readHeader();
  }

  /** The file at `path`; undefined: none is there. @throws {ForeignFileError | StoreUnavailableError} */
  static find(path: string): StoreFile | undefined {
    return withTypedErrors(path, () => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) return undefined;
      if (!found.isFile()) throw new ForeignFileError(path, "no file");
      return new StoreFile(path, found, acquire(path, found));
    });
  }

  /** Its first bytes as they are now; fewer than 100 where the file is shorter. */
  readHeader(): Buffer {
    return this.#read(HEADER_BYTES);
  }

  /** All of its bytes. @throws {StoreUnavailableError} there are more than `WHOLE_BYTES`, or they cannot be read. */
  readAll(): Buffer {
    return withTypedErrors(this.path, () => {
      const { size } = fstatSync(this.#descriptor.fd);
      if (size > WHOLE_BYTES) throw new StoreUnavailableError(this.path, TOO_LARGE_TO_READ_WHOLE);
      return this.#read(size);
    });
  }

  // One call reads less than it was asked for where the file is on some network file systems, and never 2 GiB.
  #read(bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes);
    let end = 0;
    for (let read = -1; end < bytes && read !== 0; end += read) {
      read = readSync(this.#descriptor.fd, buffer, end, Math.min(bytes - end, READ_BYTES), end);
    }
    return buffer.subarray(0, end);
  }

  /** Remembers the header, and the journal beside the file, now that SQLite has opened both. @throws {StoreUnavailableError} the file was replaced meanwhile. */
  recordOpened(): void {
    if (!isSameFile(this.path, this.#id)) throw new StoreUnavailableError(this.path, "the file was replaced while it was being opened");
    this.#header = this.readHeader();
    this.#journal = statSync(`${this.path}-wal`, { throwIfNoEntry: false });
  }

  /**
   * Why what is written here would not be found again; undefined: the file is still the one that was opened.
   *
   * @throws {StoreUnavailableError} the file system does not say, such as while a network drive is away.
   */
  findLossReason(): string | undefined {
    return withTypedErrors(this.path, () => this.#lossReason());
  }

  #lossReason(): string | undefined {
    if (!isSameFile(this.path, this.#id)) return "the file was deleted, moved or replaced while it was open";
    if (this.#journal !== undefined && !isSameFile(`${this.path}-wal`, this.#journal)) {
      return "its journal (-wal) was deleted, moved or replaced while it was open";
    }
    return this.#isContinued() ? undefined : "the file was overwritten or cut while it was open";
  }

  // A checkpoint of another process may be writing the header while it is read, so a difference is read twice.
  #isContinued(): boolean {
    for (let previous: Buffer | undefined; ; ) {
      const header = this.readHeader();
      if (header.equals(this.#header)) return true;
      if (isSuccessor(this.#header, header)) {
        this.#header = header;
        return true;
      }
      if (previous?.equals(header) === true) return false;
      previous = header;
    }
  }

  /** Gives the descriptor back, after SQLite has closed the file. A second call does nothing. */
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
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === ino && now.dev === dev;
}

/** Runs `look`; what the file system refuses comes out typed. */
function withTypedErrors<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (isFileSystemError(error)) throw new StoreUnavailableError(path, describeFileError(error.code), { cause: error });
    throw error;
  }
}

function isFileSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "errno" in error && "code" in error;
}
