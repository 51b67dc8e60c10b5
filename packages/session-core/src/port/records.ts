import type { EntryPayload, EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { EntryId, EntrySeq, SessionId, SessionSeq } from "../ids/ids.js";

/** The name of the leaf that every session has. */
export const MAIN_LEAF = "main";

/** The id and the row number of a session. The row number is never used again, even if a later session gets the same id. */
export interface SessionRow {
  readonly id: SessionId;
  readonly seq: SessionSeq;
}

/** Selects a session: by its id, or by a `SessionRow` if a later session with the same id must not match. */
export type SessionKey = SessionId | SessionRow;

/** Lists contain conversations by default; sessions of subagents only on request. */
export type SessionKind = "conversation" | "subagent";

/** The session from which a session was forked, or whose tool call started it. It may have been deleted. */
export interface SessionParent {
  readonly sessionId: SessionId;
  readonly entryId: EntryId | null;
  readonly toolCallId: string | null;
}

/** The source of an imported session. */
export interface SessionSource {
  readonly format: string;
  readonly path: string;
  /** The id of the session in that source. */
  readonly id: string;
}

/** A session and the position of one of its leaves: what a handle needs. */
export interface OpenedSession {
  /** Its row number, so that a handle does not match a later session with the same id. */
  readonly row: SessionRow;
  readonly leaf: LeafState;
}

/** The stored properties of a session, without its entries. Times are milliseconds since 1970. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly kind: SessionKind;
  readonly title: string | null;
  readonly titleSource: "user" | "auto" | null;
  /** The working directory of the session; it may no longer exist. */
  readonly cwd: string | null;
  readonly createdAtMs: number;
  /** Time of the newest user or assistant message. Titles, labels and leaf moves do not change it. */
  readonly activeAtMs: number;
  readonly archivedAtMs: number | null;
  readonly parent: SessionParent | null;
  readonly entryCount: number;
  /** User and assistant messages on all branches. */
  readonly messageCount: number;
  /** Size of all payloads in bytes. */
  readonly payloadBytes: number;
  /** Preview of the first user message, for sessions without a title. */
  readonly firstText: string | null;
  readonly source: SessionSource | null;
  /** Unknown header fields of the source. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The properties of a new session. */
export interface NewSession {
  /** Default: a new id. */
  readonly id?: SessionId | undefined;
  readonly title?: string | undefined;
  readonly titleSource?: "user" | "auto" | undefined;
  readonly cwd?: string | undefined;
  readonly kind?: SessionKind | undefined;
  readonly createdAtMs?: number | undefined;
  readonly parent?: SessionParent | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The part of a session that a fork copies, and the session that it creates. */
export interface Fork {
  readonly into: Omit<NewSession, "title"> & { readonly title?: string | null | undefined };
  /**
   * The last entry of the path that is copied; null copies no entry. With `tree`, where the leaf `main` of the copy is. Default: the leaf
   * `main` of the source.
   */
  readonly at?: EntryId | null | undefined;
  /** True to copy all branches and leaves. */
  readonly tree: boolean;
  readonly values: boolean;
}

/** Which sessions to list. Conditions are combined with AND. Newest activity first. */
export interface SessionFilter {
  /** Recorded in this directory. */
  readonly cwd?: string | undefined;
  /** Recorded in one of these directories, or below one. */
  readonly under?: readonly string[] | undefined;
  /** Last active at or after `sinceMs` and before `untilMs`; milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** Recorded by this agent: the format of the imported file, such as `claude` or `pi`; `bough` also for sessions that were not imported. */
  readonly agent?: string | undefined;
  /** Default: conversations only. */
  readonly kind?: SessionKind | "all" | undefined;
  /** Default: false. */
  readonly archived?: boolean | "all" | undefined;
  /** Also sessions without entries. Default: false. */
  readonly empty?: boolean | undefined;
  readonly parentId?: SessionId | undefined;
  /**
   * Only sessions whose metadata has all of these top-level members, each equal. A value of more than 500 characters as JSON is not
   * indexed and finds nothing.
   */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** At most this many; default 1,000. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A page of results. `next` is the cursor of the next page, or null. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/**
 * Iterates over the pages of `session.scan`, `store.listSessions` or a search. A page is read when the loop requests it, so a loop
 * that ends early reads no further.
 *
 * @param read Reads the page at a cursor; the first page without one.
 * @example
 * for await (const { items } of pagesOf((cursor) => store.listSessions({ limit: 50, cursor }))) console.log(items.length);
 */
export async function* pagesOf<P extends { readonly next: string | null }>(
  read: (cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor);
    yield page;
    if (page.next === null) return;
    cursor = page.next;
  }
}

/** An entry without its payload, for trees. */
export interface OutlineRow {
  readonly id: EntryId;
  readonly seq: number;
  /** null for a first entry. Lower than `seq`. */
  readonly parentSeq: number | null;
  readonly type: EntryType;
  readonly role: MessageRole | null;
  /** The number of entries above it. */
  readonly depth: number;
  readonly createdAtMs: number;
  /** One line, at most 240 code units, without control characters. Paths in calls are relative to the session's directory. */
  readonly preview: string;
  readonly isError: boolean;
  /** Size of the payload as JSON, in bytes of UTF-8. */
  readonly payloadBytes: number;
  /** Of a `custom` or `custom_message` entry or a message of the role `custom`; null if it is longer than 500 characters. */
  readonly customType: string | null;
}

/** Which entries of a session to read, of all its branches, in order of arrival. Conditions are combined with AND. */
export interface EntryListing {
  /** `oldest` first (default), or `newest` first. */
  readonly order?: "oldest" | "newest" | undefined;
  /** Only entries that arrived after this one, given by its `seq`. */
  readonly afterSeq?: number | undefined;
  /** Only entries that arrived before this one, given by its `seq`. */
  readonly beforeSeq?: number | undefined;
  readonly types?: readonly EntryType[] | undefined;
  /** Only `custom` and `custom_message` entries and messages of the role `custom` of this type, at most 500 characters, read by an index. */
  readonly customType?: string | undefined;
  /** At most this many; default 1,000. */
  readonly limit?: number | undefined;
}

/** A label of an entry. */
export interface Label {
  readonly entryId: EntryId;
  readonly label: string;
  readonly createdAtMs: number;
}

/** A leaf: the named position of a writer. null: before the first entry. */
export interface LeafRecord {
  readonly name: string;
  readonly entryId: EntryId | null;
}

/**
 * The position of a leaf as a handle last read it. Only a storage makes one, as a class of its own, whose members nobody else knows; a
 * handle passes the object back to that storage unchanged.
 */
export abstract class LeafState {
  /** Makes the type nominal: no object literal is a `LeafState`. */
  declare protected readonly opaque: undefined;
  /** null: before the first entry. */
  abstract readonly entryId: EntryId | null;
}

/** One move of a leaf. */
export interface LeafMove {
  readonly from: EntryId | null;
  readonly to: EntryId | null;
  readonly movedAtMs: number;
  readonly state: "done" | "undone" | "dropped";
}

/** A value of the host, stored with a session. */
export interface StoredValue {
  readonly key: string;
  readonly value: unknown;
  readonly updatedAtMs: number;
}

/** A value of the host without the value itself. */
export interface ValueKey {
  readonly key: string;
  /** Size of the value as JSON, in bytes of UTF-8. */
  readonly bytes: number;
  readonly updatedAtMs: number;
}

/** A range of values by key. Keys are ordered by their code points. */
export interface ValueRange {
  /** Only keys that start with it. Default: all. */
  readonly prefix?: string | undefined;
  /** Default `asc`. */
  readonly order?: "asc" | "desc" | undefined;
  /** Only keys after this one in that order; the last key of the page before. */
  readonly after?: string | undefined;
  /** At most this many; default: all. */
  readonly limit?: number | undefined;
}

/** Which entries of a path to read, and in which order. */
export interface PathScan {
  /** The end of the path. Default: the leaf of the handle. */
  readonly leafId?: EntryId | null | undefined;
  /** `up`: from the leaf to the first entry (default). `down`: from the first entry to the leaf. */
  readonly order?: "up" | "down" | undefined;
  /** Only entries below this one, which must be on the path. */
  readonly stopAt?: EntryId | undefined;
  readonly types?: readonly EntryType[] | undefined;
  readonly roles?: readonly MessageRole[] | undefined;
  /** Only `custom` and `custom_message` entries and messages of the role `custom` of this type. One longer than 500 characters finds nothing. */
  readonly customType?: string | undefined;
  /** At most this many; default: all. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A path scan with its start resolved by the handle. */
export type PathScanFrom = PathScan & { readonly leafId: EntryId | null };

/** Where a context ends: at an entry, before the first entry (null), or at a named leaf. */
export type ContextEnd = { readonly entryId: EntryId | null } | { readonly leafName: string };

/** The input of a context: the entries since the first kept one, and the settings in force. */
export interface ContextPath {
  /** The last entry of the path; null: the path has none. */
  readonly endSeq: EntrySeq | null;
  /** Oldest first: from the first kept entry (or the compaction, or the first entry) to the leaf. */
  readonly entries: readonly ContextEntry[];
  /** True if `entries` contains only the entries after `knownSeq`. */
  readonly continues: boolean;
  /** The compaction in force; it is one of the entries. */
  readonly compactionSeq: EntrySeq | null;
  /** The first entry that the compaction keeps, or null. */
  readonly firstKeptSeq: EntrySeq | null;
  /** The entry that set the model: a model_change, or a reply that names its model. */
  readonly model: EntryPayload | null;
  readonly thinking: EntryPayload | null;
  readonly system: EntryPayload | null;
}

/** An entry of a context path. */
export interface ContextEntry {
  readonly id: EntryId;
  readonly seq: EntrySeq;
  readonly payload: EntryPayload;
}

/** The usage of one model, as its replies report it. */
export interface ModelUsage {
  /** "" if the replies name none. */
  readonly provider: string;
  readonly model: string;
  readonly replies: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** US dollars, as reported; 0 if nothing was. */
  readonly costUsd: number;
  /** The number of replies that report tokens or a cost. If it is 0, the figures above are unknown, because none was recorded. */
  readonly recordedReplies: number;
}

/** The totals that a list shows of a session besides its record. */
export interface SessionTotals {
  /** Entries without children; 0 if the session is empty. */
  readonly branches: number;
  readonly usage: readonly ModelUsage[];
  /** The usage of entries that are copies of those of another session, where it counts. */
  readonly inheritedUsage: readonly ModelUsage[];
  /** The number of entries that are copies of entries of another session. */
  readonly inheritedEntries: number;
}

/** Totals of one session or of a store. */
export interface Statistics {
  readonly sessions: number;
  /** All entries, also those that are copies. */
  readonly entries: number;
  /** The number of entries that are copies of entries of another session. */
  readonly inheritedEntries: number;
  readonly messages: number;
  readonly payloadBytes: number;
  /** Entries by type. */
  readonly byType: Readonly<Record<string, number>>;
  /** The usage of these sessions, most expensive first. */
  readonly usage: readonly ModelUsage[];
  /** The usage of entries that are copies of those of other sessions, where it counts: a request counts once in `usage` of a store. */
  readonly inheritedUsage: readonly ModelUsage[];
}
