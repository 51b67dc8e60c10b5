import { BoughSaver } from "@bough/adapters/langgraph";
import { openStore, type Store } from "@bough/session-core";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  MemorySaver,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { expect } from "vitest";

/**
 * Gives every call to LangGraph's MemorySaver and to a BoughSaver, and expects the same answers: a graph that runs with it is a test of
 * all that the graph reads and writes.
 */
export class BothSavers extends BaseCheckpointSaver {
  readonly store: Store;
  readonly memory = new MemorySaver();
  bough: BoughSaver;

  constructor(store: Store) {
    super();
    this.store = store;
    this.bough = new BoughSaver(store);
  }

  static async open(path = ":memory:"): Promise<BothSavers> {
    return new BothSavers(await openStore({ path }));
  }

  /** What a new process would read: no list of the old saver is remembered. */
  forget(): void {
    this.bough = new BoughSaver(this.store);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const [wanted, given] = await Promise.all([this.memory.getTuple(config), this.bough.getTuple(config)]);
    expect(given && comparable(given)).toEqual(wanted && comparable(wanted));
    return given;
  }

  override async *list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    const wanted = await collect(this.memory.list(config, options));
    const given = await collect(this.bough.list(config, options));
    // Across namespaces MemorySaver has no order.
    expect(given.map(comparable).toSorted(byPlace)).toEqual(wanted.map(comparable).toSorted(byPlace));
    yield* given;
  }

  override async put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions) {
    await this.memory.put(config, checkpoint, metadata);
    return this.bough.put(config, checkpoint, metadata, versions);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath?: string): Promise<void> {
    await this.memory.putWrites(config, writes, taskId, taskPath);
    await this.bough.putWrites(config, writes, taskId, taskPath);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.memory.deleteThread(threadId);
    await this.bough.deleteThread(threadId);
  }

  /** Verifies the store and closes it. */
  async close(): Promise<void> {
    expect(await collect(this.store.verify())).toEqual([]);
    await this.store.close();
  }
}

/** All items of an iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

type ComparableTuple = ReturnType<typeof comparable>;

/**
 * MemorySaver returns the config that it was asked for, which has more members than the place of the checkpoint. A channel without a
 * version has not been written yet: MemorySaver stores its default, other checkpointers leave it to LangGraph.
 */
function comparable({ config, checkpoint, ...tuple }: CheckpointTuple) {
  const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
  const written = Object.entries(checkpoint.channel_values).filter(([channel]) => channel in checkpoint.channel_versions);
  return {
    ...tuple,
    checkpoint: { ...checkpoint, channel_values: Object.fromEntries(written) },
    config: { thread_id, checkpoint_ns: checkpoint_ns ?? "", checkpoint_id },
  };
}

function byPlace(a: ComparableTuple, b: ComparableTuple): number {
  return `${a.config.checkpoint_ns} ${a.config.checkpoint_id}` < `${b.config.checkpoint_ns} ${b.config.checkpoint_id}` ? -1 : 1;
}
