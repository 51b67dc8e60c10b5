import type { EntryId, SessionId } from "../ids/ids.js";
import type { ReadingPosition } from "./source-session.js";

/** A file of another program, as a sync read it last. */
export interface SourceFileRecord {
  readonly path: string;
  /** Differs from the stamp of the file when the file was changed since. Empty: the file is to be read again. */
  readonly stamp: string;
  /** The name of its format; null: it is of no known format. */
  readonly format: string | null;
}

/** The position at which the reading of a file ended, with a checksum of the bytes before it. */
export interface CheckedPosition extends ReadingPosition {
  /** The CRC-32 of the bytes before `offset`. */
  readonly checksum: number;
  /** The last entry before it, in the store. */
  readonly lastId: EntryId | null;
}

/** A session of such a file, as a sync read it last. */
export interface SourceSessionRecord {
  readonly path: string;
  /** Its id in its program. */
  readonly sourceId: SessionId;
  /** The session in the store; null: it was deleted there. */
  readonly sessionId: SessionId | null;
  readonly revision: string | null;
  /** Where the last reading put the leaf `main`. */
  readonly leafId: EntryId | null;
  /** The title that the last reading set, as it was stored; null: it set none. */
  readonly title: string | null;
  /** null: the next reading starts at the beginning. */
  readonly position: CheckedPosition | null;
  /** When a sync found that its program had removed it; null: it has not. */
  readonly goneAtMs: number | null;
}

/** A file of a session. */
export interface SessionSourceRow {
  readonly sessionId: SessionId;
  readonly path: string;
  /** When a sync found that its program had removed the session or the file; null: it has not. */
  readonly goneAtMs: number | null;
}

/** A session whose end, usually the last reply, its program was still writing when a sync read it. */
export interface HeldSession {
  readonly sessionId: SessionId;
  /** From this time on a sync takes the end as it is, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** Options that a sync adds to an import. The import continues from the earlier sync, and the store keeps its result for the next one. */
export interface SyncedImport {
  /** The record that the last sync stored of this session, if the session is still in the store. */
  readonly known?: SourceSessionRecord | undefined;
  /** The records before it were imported by an earlier sync. Only with `known`. */
  readonly from?: CheckedPosition | undefined;
  /** The checksum of the file before a position; undefined: it changed meanwhile. Called in the transaction, after the last record. */
  checksumAt(position: ReadingPosition): number | undefined;
}

/** The records that a store keeps of the files of other programs, so that a sync reads only changes. */
export interface SourceRecords {
  /** Paths of the files of the store. Other code in this process must not open them: closing one releases the locks of SQLite on it. */
  readonly files: readonly string[];
  /** The files of other programs that syncs have read: the one at `path`, and those below it. */
  sourceFiles(path: string): Promise<readonly SourceFileRecord[]>;
  /** Records files as read. One whose stamp is empty is read again by the next sync. */
  setSourceFiles(files: readonly SourceFileRecord[]): Promise<void>;
  /** The sessions of such a file. `importSession` with `sync` adds them. */
  sourceSessions(path: string): Promise<readonly SourceSessionRecord[]>;
  /** The files of all sessions of other programs. */
  sessionSources(): Promise<readonly SessionSourceRow[]>;
  /** The sessions whose end the last sync of their file left out until a time after `nowMs`. */
  heldSessions(nowMs: number): Promise<readonly HeldSession[]>;
  /** Records that programs have removed these sessions, or have them again (null). */
  setSourcesGone(sessions: readonly Pick<SourceSessionRecord, "path" | "sourceId">[], goneAtMs: number | null): Promise<void>;
}
