/** The behavior of a maintenance write while another has or wants the lock: `wait` (default), or `throw` a `StoreBusyError` at once. */
export type WhenLocked = "wait" | "throw";

/** Which payloads are packed: `old` are those of sessions idle for an hour, and of active sessions those before the newest 128. */
export type PackScope = "old" | "all";

/** Packs payloads into compressed blocks. Entries read the same, packed or not. */
export interface PayloadPacking {
  /**
   * Packs payloads that are rows into one compressed block. undefined: nothing is left to pack in this scope. `entries: 0`: another
   * process packed the same rows. A storage that stores payloads in one form only returns undefined.
   */
  next(scope: PackScope, whenLocked?: WhenLocked): Promise<PackedBlocks | undefined>;
  /** The same for some blocks at once, each of which is a transaction of its own: faster, for a caller that waits for all of them. */
  nextInBulk(scope: PackScope): Promise<PackedBlocks | undefined>;
  /** The payloads that are not packed. */
  unpacked(): Promise<RowSize>;
  fileSize(): Promise<FileSize>;
  /**
   * Merges the search index into one segment, and gives free space in the file back to the file system. Returns false if there is
   * no room for a copy of the file, or another process holds the lock. Blocks for as long as it takes to write the file.
   */
  shrinkFile(): Promise<boolean>;
}

/** The number of payloads that one step packed, and the size in bytes of the compressed blocks that hold them now. */
export interface PackedBlocks {
  readonly entries: number;
  readonly blockBytes: number;
}

/** The payloads that are rows: their number, and the bytes of their JSON texts. */
export interface RowSize {
  readonly entries: number;
  readonly bytes: number;
}

/** The size of the file of a store, and how much of it is free. */
export interface FileSize {
  readonly bytes: number;
  readonly freeBytes: number;
}
