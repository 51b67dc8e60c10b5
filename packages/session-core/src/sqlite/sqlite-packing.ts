import type { SessionSeq } from "../ids/ids.js";
import type { FileSize, PackedBlocks, PackScope, PayloadPacking, RowSize, WhenLocked } from "../port/session-storage.js";
import { encodeBlockAsync } from "./file/block.js";
import { checkpointRarely, checkpointUsually } from "./file/open-database.js";
import { commitPack, measureFile, measureRows, planPack } from "./payloads/pack.js";
import { mergeIndex } from "./search/search-index.js";
import type { SerializedConnection } from "./serialized-connection.js";

/** The number of blocks that `nextInBulk` packs at once. */
const BULK_BLOCKS = 8;

/** Packs the payloads of an SQLite storage. Blocks are compressed in another thread, outside of any transaction. */
export class SqlitePacking implements PayloadPacking {
  readonly #queue: SerializedConnection;
  /** The session of the last block. */
  #session: SessionSeq | undefined;

  constructor(queue: SerializedConnection) {
    this.#queue = queue;
  }

  next(scope: PackScope, whenLocked?: WhenLocked): Promise<PackedBlocks | undefined> {
    return this.#pack(scope, 1, whenLocked);
  }

  async nextInBulk(scope: PackScope): Promise<PackedBlocks | undefined> {
    await this.#queue.read(checkpointRarely);
    try {
      return await this.#pack(scope, BULK_BLOCKS);
    } finally {
      await this.#queue.read(checkpointUsually);
    }
  }

  /** One transaction for each block. All blocks are compressed while the first ones are written. */
  async #pack(scope: PackScope, count: number, whenLocked?: WhenLocked): Promise<PackedBlocks | undefined> {
    const plans = await this.#queue.read((connection) => planPack(connection, scope, this.#session, count));
    this.#session = plans[0]?.session;
    if (plans.length === 0) return undefined;
    const encoded = plans.map(({ entries }) => encodeBlockAsync(entries));
    // If a transaction fails, nothing awaits the blocks after it.
    for (const block of encoded) block.catch(() => {});
    const packed = { entries: 0, blockBytes: 0 };
    for (const [at, plan] of plans.entries()) {
      const block = await encoded[at];
      // Without a block, those after it would leave rows between them.
      if (block === undefined || !(await this.#queue.maintain((connection) => commitPack(connection, plan, block), whenLocked))) break;
      packed.entries += plan.rows.length;
      packed.blockBytes += block.data.length;
    }
    return packed;
  }

  unpacked(): Promise<RowSize> {
    return this.#queue.read(measureRows);
  }

  fileSize(): Promise<FileSize> {
    return this.#queue.read(measureFile);
  }

  shrinkFile(): Promise<boolean> {
    return this.#queue.write((connection) => {
      mergeIndex(connection);
      return connection.releaseFreePages();
    });
  }
}
