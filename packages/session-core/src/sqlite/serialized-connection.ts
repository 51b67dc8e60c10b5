import type { SessionKey, SessionRow } from "../port/records.js";
import type { WhenLocked } from "../port/session-storage.js";
import type { Connection } from "./file/connection.js";
import { retryWhileBusy, WriteLock } from "./file/write-lock.js";
import { resolveSession } from "./sessions/session-rows.js";

/** A statement or several on a session, with the arguments of the port. */
export type SessionFunction<A extends readonly unknown[], T> = (connection: Connection, session: SessionRow, ...args: A) => T;

/** Runs the operations of a storage on its connection: writes one after the other, reads at once. */
export class SerializedConnection {
  readonly #connection: Connection;
  readonly lock: WriteLock;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.lock = new WriteLock(connection.busyTimeoutMs);
  }

  /** Queues a write. If no write waits, its first attempt runs before this returns. */
  write<T>(write: (connection: Connection) => T): Promise<T> {
    return this.lock.run(() => write(this.#connection));
  }

  /** Runs a write of maintenance. @throws {StoreBusyError} another write has or wants the lock, and `whenLocked` is `throw`. */
  async maintain<T>(write: (connection: Connection) => T, whenLocked: WhenLocked = "wait"): Promise<T> {
    return whenLocked === "wait" ? this.write(write) : this.lock.runIfFree(() => write(this.#connection));
  }

  writeSession<A extends readonly unknown[], T>(key: SessionKey, write: SessionFunction<A, T>, ...args: A): Promise<T> {
    return this.write((connection) => connection.write(() => write(connection, resolveSession(connection, key), ...args)));
  }

  /** Runs a read at once. Only while another process recovers the WAL it waits, at most the busy timeout. */
  read<T>(read: (connection: Connection) => T): Promise<T> {
    return retryWhileBusy(this.#connection.busyTimeoutMs, () => read(this.#connection));
  }

  readSession<A extends readonly unknown[], T>(key: SessionKey, read: SessionFunction<A, T>, ...args: A): Promise<T> {
    return this.read((connection) => read(connection, resolveSession(connection, key), ...args));
  }

  /** Like `readSession`, for reads of several queries: all of them use one snapshot. */
  readSnapshot<A extends readonly unknown[], T>(key: SessionKey, read: SessionFunction<A, T>, ...args: A): Promise<T> {
    return this.read((connection) => connection.read(() => read(connection, resolveSession(connection, key), ...args)));
  }
}
