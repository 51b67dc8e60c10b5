import {
  type Session,
  SessionExistsError,
  type SessionId,
  SessionNotFoundError,
  type SessionRecord,
  type Store,
} from "@bough/session-core";
import { digest } from "./stored-checkpoint.js";

/** Threads whose sessions stay open. */
const OPEN_THREADS = 1000;

/** The sessions of the threads of a store. */
export class Threads {
  readonly #store: Store;
  readonly #open = new Map<string, Promise<Session>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Runs `work` on the session of a thread; returns undefined if the thread does not exist. */
  async read<T>(threadId: string, work: (session: Session) => Promise<T>): Promise<T | undefined> {
    try {
      return await work(await this.#session(threadId, () => this.#store.openSession(sessionIdOf(threadId))));
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      this.#open.delete(threadId);
      return undefined;
    }
  }

  /** Runs `work` on the session of a thread, which is created if it does not exist. */
  async write<T>(threadId: string, work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#session(threadId, () => this.#openOrCreate(threadId)));
    } catch (error) {
      // The thread was deleted after its session was opened.
      if (!(error instanceof SessionNotFoundError)) throw error;
      this.#open.delete(threadId);
      return work(await this.#session(threadId, () => this.#openOrCreate(threadId)));
    }
  }

  /** Iterates over the ids of all threads, those with the newest activity first. */
  async *ids(): AsyncGenerator<string, void, void> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#store.listSessions({ kind: "all", archived: "all", cursor });
      yield* page.items.filter(isThread).map(threadIdOf);
      if (page.next === null) return;
      cursor = page.next;
    }
  }

  /** Deletes a thread with everything in it. A session that is no thread is not deleted. */
  async delete(threadId: string): Promise<void> {
    this.#open.delete(threadId);
    const record = await this.#store.findSession(sessionIdOf(threadId));
    if (record === undefined || !isThread(record)) return;
    try {
      await this.#store.deleteSession(record.id);
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  }

  #session(threadId: string, open: () => Promise<Session>): Promise<Session> {
    const known = this.#open.get(threadId);
    if (known !== undefined) return known;
    const opened = open();
    this.#open.set(threadId, opened);
    opened.catch(() => this.#open.delete(threadId));
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= OPEN_THREADS) break;
      this.#open.delete(oldest);
    }
    return opened;
  }

  async #openOrCreate(threadId: string): Promise<Session> {
    const id = sessionIdOf(threadId);
    try {
      return await this.#store.openSession(id);
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
    try {
      return await this.#store.createSession({ id, metadata: { adapter: ADAPTER, threadId } });
    } catch (error) {
      if (!(error instanceof SessionExistsError)) throw error;
      return this.#store.openSession(id);
    }
  }
}

/** The member `adapter` of the metadata of every thread's session. */
const ADAPTER = "langgraph";

/** The id of a thread is the id of its session; a text that is no id of a session is replaced by its digest. */
function sessionIdOf(threadId: string): SessionId {
  return /^[\p{L}\p{N}\p{P}\p{S}]{1,128}$/u.test(threadId) ? threadId : `thread-${digest(threadId)}`;
}

function isThread({ metadata }: SessionRecord): boolean {
  return metadata["adapter"] === ADAPTER;
}

function threadIdOf({ id, metadata }: SessionRecord): string {
  const { threadId } = metadata;
  // A fork has the metadata of its source.
  return typeof threadId === "string" && sessionIdOf(threadId) === id ? threadId : id;
}
