import type { FileSize, PackedBlock, PackScope, PayloadPacking, RowSize, WhenLocked } from "../port/session-storage.js";
import { mergeIndex } from "../search/search-index.js";
import { encodeBlockAsync } from "../storage/block.js";
import { commitPack, measureFile, measureRows, planPack } from "../storage/pack.js";
import type { SessionSeq } from "../storage/schema.js";
import type { SerializedConnection } from "./serialized-connection.js";

/** Packs the payloads of an SQLite storage. Blocks are compressed in another thread, outside of any transaction. */
export class SqlitePacking implements PayloadPacking {
  readonly #queue: SerializedConnection;
  /** The session of the last block. */
  #session: SessionSeq | undefined;

  constructor(queue: SerializedConnection) {
    this.#queue = queue;
  }

  async next(scope: PackScope, whenLocked?: WhenLocked): Promise<PackedBlock | undefined> {
    const plan = await this.#queue.read((connection) => planPack(connection, scope, this.#session));
    this.#session = plan?.session;
    if (plan === undefined) return undefined;
    const block = await encodeBlockAsync(plan.entries);
    const isPacked = await this.#queue.maintain((connection) => commitPack(connection, plan, block), whenLocked);
    return isPacked ? { entries: plan.rows.length, blockBytes: block.data.length } : { entries: 0, blockBytes: 0 };
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
