import type { PackScope, PayloadPacking } from "../port/packing.js";

/** Options for packing a store. */
export interface PackOptions {
  /**
   * `all` (default): every payload. `old`: those of sessions without activity for an hour, and of an active session those before
   * its newest 128 entries.
   */
  readonly scope?: PackScope | undefined;
  /** Called after every few blocks with the number of packed entries and of all entries to pack. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Stops after the current blocks; `pack` throws the reason. What was packed stays packed. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of packing a store. Sizes are of the file, in bytes. */
export interface PackedStore {
  readonly entries: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Free space in the file, which is used again: there was little, another process held the lock, or the disk had no room for a copy. */
  readonly freeBytes: number;
}

/** The share of the file that must be free before the file is rewritten without it. */
const FREE_SHARE = { all: 0.02, old: 0.25 };

/** Packs payloads, one transaction for each block, then merges the search index and returns free pages if the file has many. */
export async function packStore(packing: PayloadPacking, { scope = "all", onProgress, signal }: PackOptions): Promise<PackedStore> {
  const before = await packing.fileSize();
  const total = (await packing.unpacked()).entries;
  let entries = 0;
  for (;;) {
    signal?.throwIfAborted();
    const packed = await packing.nextInBulk(scope);
    if (packed === undefined) break;
    entries += packed.entries;
    onProgress?.(entries, Math.max(total, entries));
  }
  const packedFile = await packing.fileSize();
  if (packedFile.freeBytes > packedFile.bytes * FREE_SHARE[scope]) await packing.shrinkFile();
  const { bytes, freeBytes } = await packing.fileSize();
  return { entries, bytesBefore: before.bytes, bytesAfter: bytes, freeBytes };
}
