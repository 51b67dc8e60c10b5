import type { MessagePort } from "node:worker_threads";
import type { PreparedRow, ReadingPosition, SourceHeader, SourceRecord } from "@bough/session-core/engine";

// Between the thread that reads files (reading-worker) and the one that writes the store (reading-thread). Questions about files and
// sessions are messages that the writer awaits. Records come in batches that it takes without awaiting, inside its transaction.

/** The data that the reading thread is started with. */
export interface ReadingSetup {
  /** Where batches are posted. */
  readonly batches: MessagePort;
  /** Counters of both threads, by `BATCHES_POSTED`, `BATCHES_TAKEN` and `IS_STOPPED`. */
  readonly counters: Int32Array<SharedArrayBuffer>;
}

/** A request to the reading thread. */
export type ReadingRequest =
  /** Which format is the file of? A database is copied for it once, and read from this copy afterwards. */
  | { readonly kind: "detect"; readonly path: string }
  | { readonly kind: "open"; readonly path: string; readonly format: string }
  | { readonly kind: "next" }
  | { readonly kind: "records"; readonly from: ReadingPosition | undefined }
  | { readonly kind: "close" }
  /** The import has ended: until the next one, files and folders may change. */
  | { readonly kind: "forget" };

/** The answer to `detect`: the name of the format, if it is known; to `open` and `next`: the next session of the file, or none. */
export type ReadingAnswer =
  | { readonly kind: "format"; readonly name: string | undefined }
  | { readonly kind: "session"; readonly session: RemoteSession }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly reason: string };

/** A session without its records. */
export interface RemoteSession {
  readonly header: SourceHeader;
  readonly path: string | undefined;
  readonly revision: string | undefined;
  readonly hasPosition: boolean;
}

/** Records of one session, in order. */
export type RecordBatch =
  | { readonly kind: "records"; readonly records: readonly (SourceRecord | PreparedRow)[] }
  | { readonly kind: "end"; readonly revision: string | undefined; readonly position: ReadingPosition | undefined }
  | { readonly kind: "failed"; readonly reason: string };

/** Counter: the batches that the reader has posted since it was started. */
export const BATCHES_POSTED = 0;
/** Counter: those that the writer has written. The reader waits for it before it is `MOST_AHEAD` batches ahead. */
export const BATCHES_TAKEN = 1;
/** 1: the writer left the session; the reader ends it. */
export const IS_STOPPED = 2;

/** The number of batches that are held in memory at most. */
export const MOST_AHEAD = 8;
