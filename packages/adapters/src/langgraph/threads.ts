import {
  InvalidArgumentError,
  pagesOf,
  type Session,
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
    const id = sessionIdOf(threadId);
    try {
      return await work(await this.#session(id, () => this.#store.openSession(id)));
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      this.#open.delete(id);
      return undefined;
    }
  }

  /** Runs `work` on the session of a thread, which is created if it does not exist. */
  async write(threadId: string, work: (session: Session) => Promise<void>): Promise<void> {
    const id = sessionIdOf(threadId);
    const open = () => this.#store.openOrCreateSession(id, { metadata: { adapter: ADAPTER, threadId } });
    try {
      await work(await this.#session(id, open));
    } catch (error) {
      // The thread was deleted after its session was opened.
      if (!(error instanceof SessionNotFoundError)) throw error;
      this.#open.delete(id);
      await work(await this.#session(id, open));
    }
  }

  /** Iterates over the ids of all threads, those with the newest activity first. */
  async *ids(): AsyncGenerator<string, void, void> {
    const filter = { metadata: { adapter: ADAPTER }, kind: "all", archived: "all" } as const;
    for await (const { items } of pagesOf((cursor) => this.#store.listSessions({ ...filter, cursor }))) yield* items.map(threadIdOf);
  }

  /** Deletes a thread with everything in it. A session that is no thread is not deleted. */
  async delete(threadId: string): Promise<void> {
    const id = sessionIdOf(threadId);
    this.#open.delete(id);
    const record = await this.#store.findSession(id);
    if (record?.metadata["adapter"] !== ADAPTER) return;
    try {
      await this.#store.deleteSession(id);
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  }

  #session(id: SessionId, open: () => Promise<Session>): Promise<Session> {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const opened = open();
    this.#open.set(id, opened);
    opened.catch(() => this.#open.delete(id));
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_THREADS && oldest !== undefined) this.#open.delete(oldest);
    return opened;
  }
}

/** The member `adapter` of the metadata of every thread's session. */
const ADAPTER = "langgraph";

/**
 * The id of a thread is the id of its session; a text that is no id of a session is replaced by its digest.
 *
 * @throws {InvalidArgumentError} it has half of a character: no encoding keeps it, so all such ids would be one thread.
 */
function sessionIdOf(threadId: string): SessionId {
  if (!threadId.isWellFormed()) throw new InvalidArgumentError("thread_id", "a text without a lone surrogate", JSON.stringify(threadId));
  return /^[\p{L}\p{N}\p{P}\p{S}]{1,128}$/u.test(threadId) ? threadId : `thread-${digest(threadId)}`;
}

function threadIdOf({ id, metadata }: SessionRecord): string {
  const { threadId } = metadata;
  // A fork has the metadata of its source.
  return typeof threadId === "string" && sessionIdOf(threadId) === id ? threadId : id;
}
