import type { EntryId, SessionId } from "../ids/ids.js";
import type { Write } from "../port/writes.js";

/** The leaf of a handle. */
export interface OpenSessionOptions {
  /** Default `main`. If the session has no leaf of this name, it is created at the position of `main`. */
  readonly leaf?: string | undefined;
}

/** Options for creating a session: the writes of the transaction that creates it. */
export interface CreateSessionOptions {
  /** Entries, labels and values of the new session, written at its leaf `main`. A session that exists already does not get them. */
  readonly writes?: readonly Write[] | undefined;
}

/** Options for forking a session: the part that is copied, and the record of the fork. */
export interface ForkOptions extends CreateSessionOptions {
  /** The last entry of the path that is copied; with `tree`, the position of the leaf `main` of the fork. Default: the leaf `main`. */
  readonly at?: EntryId | undefined;
  /** Copies all branches with all leaves, not only one path. Default false. */
  readonly tree?: boolean | undefined;
  /** Copies the values of the session. Default: with `tree`. */
  readonly values?: boolean | undefined;
  /** Default: with `tree` that of the source session, otherwise none. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Default: that of the session that was forked first, and a number, as in "Tabs in the lexer, fork 2". null: none. */
  readonly title?: string | null | undefined;
  readonly id?: SessionId | undefined;
  readonly cwd?: string | undefined;
}
