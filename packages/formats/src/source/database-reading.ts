import { errorCode, type SourceRecord } from "@bough/session-core/engine";
import { SourceUnreadableError } from "../errors.js";
import { openDetected, type SourceDatabase } from "./source-database.js";
import type { SourceFolders } from "./source-folders.js";

/**
 * A database whose sessions are read one after another. It is opened by the first query and stays open until `end`; records that are
 * read later open it again.
 */
export class DatabaseReading {
  readonly path: string;
  readonly #folders: SourceFolders | undefined;
  #open: SourceDatabase | undefined;
  #hasEnded = false;

  constructor(path: string, folders?: SourceFolders) {
    this.path = path;
    this.#folders = folders;
  }

  /** @throws what {@link SourceDatabase} throws. */
  get database(): SourceDatabase {
    this.#open ??= openDetected(this.path, this.#folders);
    return this.#open;
  }

  /**
   * The same records; where pages of the database are damaged, those before, and a problem: other sessions may lie in other pages. After
   * `end`, the database is closed behind them.
   */
  *whileOpen(records: Iterable<SourceRecord>): Generator<SourceRecord, void, void> {
    try {
      yield* records;
    } catch (error) {
      // One that is in use is read again.
      if (!(error instanceof SourceUnreadableError) || isInUse(error.cause)) throw error;
      const message = `the rest of the session was left out: ${error.reason}`;
      yield { kind: "problem", problem: { code: "unreadable-file", path: error.path, line: null, message } };
    } finally {
      if (this.#hasEnded) this.#close();
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#close();
  }

  #close(): void {
    this.#open?.close();
    this.#open = undefined;
  }
}

function isInUse(cause: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED|READONLY)/.test(errorCode(cause) ?? "");
}

/** The text of a value: some programs store text as bytes. */
export function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8") : undefined;
}
