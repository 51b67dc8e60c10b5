import type { FileSize, SessionStorage } from "../port/session-storage.js";

/** How to pack a store. */
export interface PackOptions {
  /** Called after each block with the number of packed entries and of all entries to pack. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Stops after the current block; `pack` throws the reason. What was packed stays packed. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of packing a store. Sizes are of the file, in bytes. */
export interface PackedStore {
  readonly entries: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Free space that stayed in the file: another process held the lock, or the disk had no room for a copy. It is used again. */
  readonly freeBytes: number;
}

/** The share of the file that must be free before the file is rewritten without it, if nothing was packed. */
const FREE_SHARE = 0.02;

/** Packs every payload, one transaction for each block, then merges the search index and returns free pages to the file system. */
export async function packStore(storage: SessionStorage, { onProgress, signal }: PackOptions): Promise<PackedStore> {
  const before = await storage.fileSize();
  const total = (await storage.unpacked()).entries;
  let entries = 0;
  for (;;) {
    signal?.throwIfAborted();
    const packed = await storage.packNext("all");
    if (packed === undefined) break;
    entries += packed.entries;
    onProgress?.(entries, Math.max(total, entries));
  }
  if (entries > 0 || hasMuchFree(await storage.fileSize())) await storage.shrinkFile();
  const { bytes, freeBytes } = await storage.fileSize();
  return { entries, bytesBefore: before.bytes, bytesAfter: bytes, freeBytes: hasMuchFree({ bytes, freeBytes }) ? freeBytes : 0 };
}

function hasMuchFree({ bytes, freeBytes }: FileSize): boolean {
  return freeBytes > bytes * FREE_SHARE;
}
