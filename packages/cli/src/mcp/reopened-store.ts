import { stat } from "node:fs/promises";
import type { Store } from "@bough/session-core";

/** A store that was opened, and the calls that read it now. */
interface Opened {
  /** The file at the path when it was opened. */
  readonly fileId: string;
  readonly store: Promise<Store>;
  calls: number;
}

/**
 * The store that a server reads. The first call opens it. A server runs for days: if another file has taken the place of the store, as
 * after a restore, the next call opens that one. A store that could not be opened is tried again by the next call.
 */
export class ReopenedStore {
  readonly #path: string | undefined;
  readonly #open: () => Promise<Store>;
  #current: Opened | undefined;

  /** `path`: its file; undefined: it is on a server. */
  constructor(path: string | undefined, open: () => Promise<Store>) {
    this.#path = path;
    this.#open = open;
  }

  /** Runs a call; the store stays open until it has ended. */
  async use<T>(call: (store: Store) => Promise<T>): Promise<T> {
    const fileId = await readFileId(this.#path);
    const opened = this.#take(fileId);
    try {
      return await call(await opened.store);
    } finally {
      opened.calls -= 1;
      if (opened !== this.#current) await closeUnused(opened);
    }
  }

  /** Closes the store, after the calls that run. */
  async close(): Promise<void> {
    const opened = this.#current;
    this.#current = undefined;
    if (opened !== undefined) await closeUnused(opened);
  }

  #take(fileId: string): Opened {
    const before = this.#current;
    if (before !== undefined && before.fileId === fileId) {
      before.calls += 1;
      return before;
    }
    const opened: Opened = { fileId, store: this.#open(), calls: 1 };
    this.#current = opened;
    opened.store.catch(() => {
      if (this.#current === opened) this.#current = undefined;
    });
    if (before !== undefined) void closeUnused(before);
    return opened;
  }
}

async function closeUnused({ store, calls }: Opened): Promise<void> {
  if (calls > 0) return;
  const opened = await store.catch(() => undefined);
  await opened?.close();
}

/**
 * Returns the identity of the file at a path, which differs from that of a file that replaces it; empty: there is no file, or the store is
 * on a server.
 */
async function readFileId(path: string | undefined): Promise<string> {
  if (path === undefined) return "";
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}
