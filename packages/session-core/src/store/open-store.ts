import { AMOUNT, checkArgument, FILE, list, OBJECT, oneOf, optional, type Rule, record, ruleOf, TEXT } from "../arguments/rules.js";
import type { Durability } from "../storage/open-database.js";
import type { FileTools } from "../tools/known-tools.js";
import { SqliteStorage } from "./sqlite-storage.js";
import { Store } from "./store.js";

/** How to open a store. */
export interface StoreOptions {
  /** The file; `:memory:` for a store that ends with the process. */
  readonly path: string;
  /**
   * `create` (default): makes the file and its folder, for the user alone, where they are missing. `read-write`: refuses
   * a missing file. `read-only`: refuses it too and writes nothing, not even the search index.
   */
  readonly mode?: "create" | "read-write" | "read-only" | undefined;
  /** `full` (default): an acknowledged append survives a power cut. `normal`: a power cut may take the newest ones. */
  readonly durability?: Durability | undefined;
  /** How long a write waits for other processes, in milliseconds; default 10,000. The event loop goes on meanwhile. */
  readonly busyTimeoutMs?: number | undefined;
  /** Largest size of the file in bytes; default: none. A write beyond it throws `StoreFullError`. */
  readonly maxBytes?: number | undefined;
  /** Tools of the host that touch files, by name, beside the known ones. */
  readonly fileTools?: FileTools | undefined;
}

const FILE_TOOL = record({ kind: oneOf("read", "write", "edit", "delete", "move", "patch"), pathArguments: optional(list(TEXT)) });

/** Tools by the names they are called by. */
const FILE_TOOLS: Rule = (given, at) => {
  const misfit = OBJECT(given, at);
  if (misfit !== undefined) return misfit;
  return Object.entries(given as FileTools)
    .map(([name, tool]) => FILE_TOOL(tool, `${at}.${name}`))
    .find((found) => found !== undefined);
};

/** SQLite keeps the wait in 32 bits. */
const MOST_WAIT_MS = 2 ** 31 - 1;

const OPTIONS = record(
  {
    path: FILE,
    mode: optional(oneOf("create", "read-write", "read-only")),
    durability: optional(oneOf("full", "normal")),
    busyTimeoutMs: optional(
      ruleOf(
        `whole milliseconds from 0 to ${MOST_WAIT_MS}`,
        (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_WAIT_MS,
      ),
    ),
    maxBytes: optional(AMOUNT),
    fileTools: optional(FILE_TOOLS),
  },
  'an object such as { path: "sessions.db" }',
);

/**
 * Opens a store. Takes about 5 ms for a file that is there, whatever its size.
 *
 * @throws {StoreNotFoundError} the file is missing and `mode` is not `create`.
 * @throws {ForeignFileError | NewerStoreError} it is another program's or a newer version's; not one byte of it changed.
 * @throws {InvalidArgumentError} an option is of the wrong type or out of range.
 * @throws {StoreUnavailableError | StoreReadOnlyError | StoreBusyError | StoreDamagedError}
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  checkArgument("options", options, OPTIONS);
  const { path, mode = "create", durability = "full", busyTimeoutMs = 10_000, maxBytes, fileTools = {} } = options;
  return new Store(await SqliteStorage.open({ path, mode, durability, busyTimeoutMs, maxBytes, fileTools }));
}
