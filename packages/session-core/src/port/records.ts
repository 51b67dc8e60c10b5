import type { EntryPayload, EntryType } from "../entry/entry.js";
import type { MessageRole } from "../entry/message.js";
import type { EntryId, SessionId } from "../ids/ids.js";

/** The leaf that every session has. */
export const MAIN_LEAF = "main";

/** A session and its row, which no other session has, also none with the same id that is made after it was deleted. */
export interface SessionRow {
  readonly id: SessionId;
  readonly seq: number;
}

/** What names a session: its id, or, where only the one that was opened is meant, also its row. */
export type SessionKey = SessionId | SessionRow;

/** A subagent's session is listed apart from conversations and never offered for continuing. */
export type SessionKind = "conversation" | "subagent";

/** Where a session came from: forked at an entry, or started by a tool call. The parent may be gone. */
export interface SessionParent {
  readonly sessionId: SessionId;
  readonly entryId: EntryId | null;
  readonly toolCallId: string | null;
}

/** Where an imported session was read. */
export interface SessionSource {
  readonly format: string;
  readonly path: string;
  /** Its id in the program that wrote it. */
  readonly id: string;
}

/** What is known of a session without reading an entry. Times are milliseconds since 1970. */
export interface SessionRecord {
  readonly id: SessionId;
  readonly kind: SessionKind;
  readonly title: string | null;
  readonly titleSource: "user" | "auto" | null;
  /** The directory it was recorded in; it may be gone. */
  readonly cwd: string | null;
  readonly createdAtMs: number;
  /** Of the newest user or assistant message. Renaming, labelling and moving about leave it alone. */
  readonly activeAtMs: number;
  readonly archivedAtMs: number | null;
  readonly parent: SessionParent | null;
  readonly entryCount: number;
  /** User and assistant messages on all branches. */
  readonly messageCount: number;
  /** Size of all payloads in bytes. */
  readonly payloadBytes: number;
  /** Preview of the first user message: what screens show where there is no title. */
  readonly firstText: string | null;
  readonly source: SessionSource | null;
  /** Header fields of the source that we do not know. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a new session starts with. */
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

/** Which sessions to list; every part narrows. Newest activity first. */
export interface SessionFilter {
  readonly cwd?: string | undefined;
  /** Default: conversations only. */
  readonly kind?: SessionKind | "all" | undefined;
  /** Default: only those that are not archived. */
  readonly archived?: boolean | "all" | undefined;
  /** Default: sessions without an entry are left out. */
  readonly empty?: boolean | undefined;
  readonly parentId?: SessionId | undefined;
  /** At most this many; default 1,000. */
  readonly limit?: number | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
}

/** A page of an answer, and where the next one starts (null: there is none). */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** An entry without its payload: enough to draw a tree. */
export interface OutlineRow {
  readonly id: EntryId;
  readonly seq: number;
  /** null: a first entry. A parent's row always comes before. */
  readonly parentSeq: number | null;
  readonly type: EntryType;
  readonly role: MessageRole | null;
  /** Entries above it on its path. */
  readonly depth: number;
  readonly createdAtMs: number;
  /** One line, at most 160 code units, without control characters. */
  readonly preview: string;
  readonly isError: boolean;
  /** Size of its payload as JSON, in bytes of UTF-8: what tells large entries from small ones without reading them. */
  readonly payloadBytes: number;
}

/** A label of an entry. */
export interface Label {
  readonly entryId: EntryId;
  readonly label: string;
  readonly createdAtMs: number;
}

/** A named leaf: where one of the session's writers stands. */
export interface LeafRecord {
  readonly name: string;
  readonly entryId: EntryId | null;
}

/** A leaf as a handle last saw it. Storages keep more in it than this; hand back the one you were given. */
export interface LeafState {
  readonly entryId: EntryId | null;
  readonly seq: number | null;
}

/** One move of a leaf. */
export interface LeafMove {
  readonly from: EntryId | null;
  readonly to: EntryId | null;
  readonly movedAtMs: number;
  readonly state: "done" | "undone" | "dropped";
}

/** A small named value that a host keeps with a session. */
export interface StoredValue {
  readonly key: string;
  readonly value: unknown;
  readonly updatedAtMs: number;
}

/** How a path is scanned. */
export interface PathScan {
  /** Where to start; default: the leaf of the handle. */
  readonly leafId?: EntryId | null | undefined;
  /** `up`: from the leaf to the first entry (default). `down`: from the first entry to the leaf. */
  readonly order?: "up" | "down" | undefined;
  /** Only entries below this one, which must be on the path; it is left out itself. */
  readonly stopAt?: EntryId | undefined;
  readonly types?: readonly EntryType[] | undefined;
  readonly roles?: readonly MessageRole[] | undefined;
  /** At most this many; default: all. */
  readonly limit?: number | undefined;
  /** From the page before. */
  readonly cursor?: string | undefined;
}

/** A path scan with its start resolved by the handle. */
export type PathScanFrom = PathScan & { readonly leafId: EntryId | null };

/** Where a context ends: at an entry, before the first entry (null), or at a named leaf. */
export type ContextEnd = { readonly entryId: EntryId | null } | { readonly leafName: string };

/** What a context is built from: the entries of the bounded walk, and what lies beyond it but still counts. */
export interface ContextPath {
  readonly leaf: LeafState;
  /** Oldest first: from the first kept entry (or the compaction, or the first entry) to the leaf. */
  readonly entries: readonly ContextEntry[];
  /** Whether `entries` only continues a window that the caller holds, which ends at `knownSeq`. */
  readonly continues: boolean;
  /** The compaction that the context starts with; it is among the entries of the window. */
  readonly compactionSeq: number | null;
  /** The first entry that the compaction kept; null: none, or no compaction. */
  readonly firstKeptSeq: number | null;
  /** The entry that says which model answers: a model_change, or a reply that names its model. */
  readonly model: EntryPayload | null;
  readonly thinking: EntryPayload | null;
  readonly system: EntryPayload | null;
}

/** An entry of a context path. */
export interface ContextEntry {
  readonly id: EntryId;
  readonly seq: number;
  readonly payload: EntryPayload;
}

/** What one model was used for, from the figures that replies report. */
export interface ModelUsage {
  /** "" where the reply did not say. */
  readonly provider: string;
  readonly model: string;
  readonly replies: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** US dollars, as reported; 0 where nothing was. */
  readonly costUsd: number;
}

/** Figures of one session or of a whole store. */
export interface Statistics {
  readonly sessions: number;
  readonly entries: number;
  readonly messages: number;
  readonly payloadBytes: number;
  /** Entries by type. */
  readonly byType: Readonly<Record<string, number>>;
  /** What these sessions used themselves, most expensive first. */
  readonly usage: readonly ModelUsage[];
  /** What forks have taken over from the sessions they came from: counted there already. */
  readonly inheritedUsage: readonly ModelUsage[];
}
