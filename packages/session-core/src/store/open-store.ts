import {
  AMOUNT,
  CALLBACK,
  checkArgument,
  FILE,
  list,
  OBJECT,
  oneOf,
  optional,
  options as optionsOf,
  type Rule,
  type RulesOf,
  record,
  ruleOf,
  STORE_KEY,
  TEXT,
} from "../arguments/rules.js";
import { InvalidArgumentError } from "../errors/bough-error.js";
import { PostgresDriverError } from "../errors/server-errors.js";
import { errorCode } from "../errors/system-error.js";
import { type Durability, isLikeServerAddress } from "../port/connection-options.js";
import type { FileTools } from "../tools/known-tools.js";
import { Store } from "./store.js";

/** Options for opening a store: of a file with `path`, or on a PostgreSQL server with `url`. */
export interface StoreOptions {
  /** The path of the file; `:memory:` for a store in memory. */
  readonly path?: string | undefined;
  /** The address of a PostgreSQL database: `postgres://user@host:5432/database`. Needs the package `@bough/postgres`. */
  readonly url?: string | undefined;
  /** On a server: the schema with the tables; default `bough`. */
  readonly schema?: string | undefined;
  /** On a server: whose sessions these are; default "". Row-level security keeps a tenant from those of others. */
  readonly tenant?: string | undefined;
  /** On a server: at most this many connections of this store; default 10. */
  readonly connections?: number | undefined;
  /** On a server, when the tables are created: the number of partitions of each table; default 0, none. */
  readonly partitions?: number | undefined;
  /**
   * `create` (default): creates a missing file (mode 0600) and its folder (mode 0700). `read-write`: throws for a missing file.
   * `read-only`: also throws for it, and writes nothing, not even the search index.
   */
  readonly mode?: "create" | "read-write" | "read-only" | undefined;
  /** `full` (default): acknowledged writes survive a power loss. `normal`: the most recent ones may be missing after it. */
  readonly durability?: Durability | undefined;
  /** The time that a write waits for the lock of another process, in milliseconds; default 10,000. Does not block the event loop. */
  readonly busyTimeoutMs?: number | undefined;
  /** Maximum size of the file in bytes; default: none. A larger write throws `StoreFullError`. */
  readonly maxBytes?: number | undefined;
  /**
   * The key of a locked store, any text that is not empty; a new file is locked with it. The file, its journal and its backups are encrypted.
   * Needs the package `better-sqlite3-multiple-ciphers`. Opening takes some 15 ms more, and without the key nobody can read the store.
   */
  readonly key?: string | undefined;
  /**
   * Called while a store of an older version is upgraded, with the number of copied entries and of all entries. The upgrade is one
   * synchronous transaction of about 20 MB of payloads a second: a crash or a full disk leaves the old store as it was.
   */
  readonly onUpgrade?: ((done: number, total: number) => void) | undefined;
  /** Tools of the host that touch files, by name, in addition to the known ones. */
  readonly fileTools?: FileTools | undefined;
}

const FILE_TOOL = record({ kind: oneOf("read", "write", "edit", "delete", "move", "patch"), pathArguments: optional(list(TEXT)) });

/** File tools by name. */
const FILE_TOOLS: Rule = (given, at) => {
  const misfit = OBJECT(given, at);
  if (misfit !== undefined || typeof given !== "object" || given === null) return misfit;
  return Object.entries(given)
    .map(([name, tool]) => FILE_TOOL(tool, `${at}.${name}`))
    .find((found) => found !== undefined);
};

/** SQLite stores the timeout in 32 bits. */
const MOST_WAIT_MS = 2 ** 31 - 1;

const OPTIONS = optionsOf(
  {
    path: optional(FILE),
    url: optional(TEXT),
    schema: optional(TEXT),
    tenant: optional(TEXT),
    connections: optional(AMOUNT),
    partitions: optional(ruleOf("a whole number from 0 up", (value) => Number.isSafeInteger(value) && Number(value) >= 0)),
    mode: optional(oneOf("create", "read-write", "read-only")),
    durability: optional(oneOf("full", "normal")),
    busyTimeoutMs: optional(
      ruleOf(
        `whole milliseconds from 0 to ${MOST_WAIT_MS}`,
        (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_WAIT_MS,
      ),
    ),
    maxBytes: optional(AMOUNT),
    key: optional(STORE_KEY),
    onUpgrade: optional(CALLBACK),
    fileTools: optional(FILE_TOOLS),
  } satisfies RulesOf<StoreOptions>,
  'an object such as { path: "sessions.db" }',
);

/**
 * Opens a store. Takes about 5 ms for an existing file of any size; a store of an older version is upgraded first.
 *
 * @throws {StoreNotFoundError} the file is missing and `mode` is not `create`.
 * @throws {ForeignFileError | NewerStoreError} the file belongs to another program or a newer version; it was not changed.
 * @throws {StoreLockedError | WrongKeyError} it is locked, and no key was given, or one that does not fit; no byte was changed.
 * @throws {StoreNotLockedError} a key was given for a store that is not locked; no byte was changed.
 * @throws {CiphersMissingError} a key was given, and the package for locked stores is not installed.
 * @throws {InvalidArgumentError} an option is of the wrong type or out of range.
 * @throws {StoreUnavailableError | StoreDeniedError | StoreReadOnlyError | StoreBusyError | StoreDamagedError}
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  checkArgument("options", options, OPTIONS);
  const { path, url, key, mode = "create", durability = "full", busyTimeoutMs = 10_000, maxBytes, onUpgrade, fileTools = {} } = options;
  if (path !== undefined && url !== undefined) throw new InvalidArgumentError("options", PLACE, "one with both");
  if (key !== undefined && (url !== undefined || path === ":memory:"))
    throw new InvalidArgumentError("options.key", "left out: only a store in a file can be locked", "a key");
  if (url !== undefined) {
    const { openPostgres } = await import("@bough/postgres").catch(explainMissingEngine);
    return new Store(await openPostgres({ ...options, url, mode, durability, busyTimeoutMs, fileTools }));
  }
  if (path === undefined) throw new InvalidArgumentError("options", PLACE, "one without both");
  if (isLikeServerAddress(path)) throw new InvalidArgumentError("options.path", "the path of a file", LIKE_ADDRESS);
  // Each engine is loaded when a store of it is opened.
  const { openSqliteStorage } = await import("../sqlite/sqlite-storage.js");
  return new Store(await openSqliteStorage({ path, mode, durability, busyTimeoutMs, maxBytes, key, onUpgrade, fileTools }));
}

const PLACE = "an object with a path or a url";

/** Never the text itself, which can contain a password. */
const LIKE_ADDRESS =
  "like the address of a server, which the option url takes: postgres://USER@HOST/DATABASE, without quotation marks or blanks";

/** `@bough/postgres` is an optional peer. Its absence is noticed when it is loaded. */
function explainMissingEngine(error: unknown): never {
  throw errorCode(error) === "ERR_MODULE_NOT_FOUND" ? new PostgresDriverError({ cause: error }) : error;
}
