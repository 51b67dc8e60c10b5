import type { EntryId, FileLists, SessionId } from "@bough/session-core";

/** Which entries of a path a summary stands for, both ends included. */
export interface CheckpointRange {
  readonly fromEntryId: EntryId;
  readonly toEntryId: EntryId;
  readonly entries: number;
  /** Entries among them that a model read. */
  readonly messages: number;
}

/** A summary that counts on a path, as screens and files show it. The idea and the word are Copilot CLI's. */
export interface Checkpoint {
  /** 1 for the oldest of its path. */
  readonly number: number;
  readonly sessionId: SessionId;
  /** The compaction. */
  readonly entryId: EntryId;
  /** The summary's own title, or else its short form or first words; one line. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly trigger: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** null: it stands for nothing that an earlier summary does not stand for. */
  readonly covers: CheckpointRange | null;
  readonly files: FileLists;
  readonly summary: string;
}
