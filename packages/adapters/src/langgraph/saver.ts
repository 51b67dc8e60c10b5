import { BoughError, type EntryId, InvalidArgumentError, type Session, SessionNotFoundError, type Store } from "@bough/session-core";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { requireStore } from "../store-argument.js";
import { ChannelCache, Channels, type FoundCheckpoint } from "./channels.js";
import { latestCheckpoint, putCheckpoint } from "./checkpoint-writer.js";
import { CheckpointUnreadableError } from "./errors.js";
import { type HistoryFilter, history, leafCheckpoint } from "./history.js";
import { pack, unpack } from "./serialized.js";
import { checkpointEntryId, digest, memberOf, type Packed, type StoredCheckpoint } from "./stored-checkpoint.js";
import { Threads } from "./threads.js";

/**
 * A LangGraph checkpointer that keeps threads in a store of Bough: a thread is a session, its messages are entries.
 *
 * @example
 * const checkpointer = new BoughSaver(await openStore({ path: "threads.db" }));
 * const graph = new StateGraph(MessagesAnnotation).addNode("agent", agent).addEdge(START, "agent").compile({ checkpointer });
 */
export class BoughSaver extends BaseCheckpointSaver {
  readonly #threads: Threads;
  readonly #cache = new ChannelCache();

  /** `serde`: how values are serialized; default: LangGraph's JSON. The store is not closed by the checkpointer. */
  constructor(store: Store, serde?: SerializerProtocol) {
    super(serde);
    this.#threads = new Threads(requireStore(store));
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { threadId, ns, checkpointId } = placeOf(config);
    if (threadId === undefined) return undefined;
    return this.#threads.read(threadId, async (session) => {
      const id = checkpointId ?? (await latestCheckpoint(session, ns ?? ""));
      const found = id === undefined ? await leafCheckpoint(session, ns) : await this.#channels(session).find(ns ?? "", id);
      return found && this.#tuple(session, threadId, found);
    });
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { threadId, ns, checkpointId } = placeOf(config);
    const before = placeOf(options.before ?? {}).checkpointId;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for await (const id of threadId === undefined ? this.#threads.ids() : [threadId]) {
      for await (const found of this.#history(id, { ns, checkpointId, before })) {
        if (left <= 0) return;
        if (!(await this.#matches(found.stored, options.filter))) continue;
        const tuple = await this.#threads.read(id, (session) => this.#tuple(session, id, found));
        if (tuple === undefined) break;
        yield tuple;
        left -= 1;
      }
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions = checkpoint.channel_versions,
  ): Promise<RunnableConfig> {
    const { threadId, ns = "", checkpointId } = placeOf(config);
    if (threadId === undefined) throw new InvalidArgumentError("config.configurable.thread_id", "a text", "missing");
    await this.#threads.write(threadId, async (session) => {
      const put = { ns, parent: checkpointId ?? null, checkpoint, metadata, newVersions };
      await putCheckpoint(session, this.serde, this.#channels(session), put);
    });
    return configOf(threadId, ns, checkpoint.id);
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ""): Promise<void> {
    const { threadId, ns = "", checkpointId } = placeOf(config);
    if (threadId === undefined) throw new InvalidArgumentError("config.configurable.thread_id", "a text", "missing");
    if (checkpointId === undefined) throw new InvalidArgumentError("config.configurable.checkpoint_id", "a text", "missing");
    const task = { task: taskId, path: taskPath };
    await this.#threads.write(threadId, (session) => putWrites(session, this.serde, checkpointEntryId(ns, checkpointId), writes, task));
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#threads.delete(threadId);
  }

  async *#history(threadId: string, filter: HistoryFilter): AsyncGenerator<FoundCheckpoint, void, void> {
    const session = await this.#threads.read(threadId, async (session) => session);
    try {
      if (session !== undefined) yield* history(session, filter);
    } catch (error) {
      // The thread was deleted meanwhile.
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  }

  async #matches(stored: StoredCheckpoint, filter: Readonly<Record<string, unknown>> = {}): Promise<boolean> {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    if (wanted.length === 0) return true;
    const metadata = new Map(Object.entries(Object(await unpack(this.serde, stored.metadata))));
    return wanted.every(([key, value]) => JSON.stringify(metadata.get(key)) === JSON.stringify(value));
  }

  async #tuple(session: Session, threadId: string, found: FoundCheckpoint): Promise<CheckpointTuple> {
    try {
      return await this.#readTuple(session, threadId, found);
    } catch (cause) {
      if (cause instanceof BoughError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CheckpointUnreadableError(threadId, found.stored.id, reason, { cause });
    }
  }

  async #readTuple(session: Session, threadId: string, found: FoundCheckpoint): Promise<CheckpointTuple> {
    const { ns, id, parent, ...stored } = found.stored;
    const kept = await unpack(this.serde, stored.checkpoint);
    const metadata = await unpack(this.serde, stored.metadata);
    if (!isCheckpoint(kept) || !isMetadata(metadata)) throw new CheckpointUnreadableError(threadId, id, "it is no checkpoint of LangGraph");
    const checkpoint: Checkpoint = { ...kept, channel_values: await this.#channels(session).values(found) };
    // Before version 4, tasks to be sent were writes to the parent.
    if (checkpoint.v < 4 && parent !== null) {
      checkpoint.channel_values[TASKS] = await readPendingSends(session, this.serde, checkpointEntryId(ns, parent));
      const versions = Object.values(checkpoint.channel_versions);
      checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
    }
    return {
      config: configOf(threadId, ns, id),
      checkpoint,
      metadata,
      ...(parent === null ? {} : { parentConfig: configOf(threadId, ns, parent) }),
      pendingWrites: await readWrites(session, this.serde, checkpointEntryId(ns, id)),
    };
  }

  #channels(session: Session): Channels {
    return new Channels(session, this.serde, this.#cache);
  }
}

function isCheckpoint(value: unknown): value is Omit<Checkpoint, "channel_values"> {
  return typeof value === "object" && value !== null && "v" in value && "id" in value && "channel_versions" in value;
}

function isMetadata(value: unknown): value is CheckpointMetadata {
  return typeof value === "object" && value !== null;
}

interface Place {
  readonly threadId: string | undefined;
  readonly ns: string | undefined;
  readonly checkpointId: string | undefined;
}

function placeOf({ configurable = {} }: RunnableConfig): Place {
  return {
    threadId: textOf("thread_id", configurable["thread_id"]) || undefined,
    ns: textOf("checkpoint_ns", configurable["checkpoint_ns"]),
    checkpointId: textOf("checkpoint_id", configurable["checkpoint_id"]) || textOf("thread_ts", configurable["thread_ts"]) || undefined,
  };
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw new InvalidArgumentError(`config.configurable.${name}`, "a text", `a ${typeof value}`);
}

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
}

// The writes of a task are a value of the session, because LangGraph writes them while their checkpoint is still being put,
// and replaces some of them later.

/** The writes of one task to one checkpoint. */
interface TaskWrites {
  readonly task: string;
  readonly path: string;
  readonly writes: readonly StoredWrite[];
}

type StoredWrite = readonly [index: number, channel: string, value: Packed];

const prefixOf = (checkpoint: EntryId): string => `langgraph.writes.${checkpoint}.`;

/** Stores writes of a task. An ordinary write stays as it came first; errors, interrupts and resumes replace older ones. */
async function putWrites(
  session: Session,
  serde: SerializerProtocol,
  checkpoint: EntryId,
  writes: readonly PendingWrite[],
  task: { readonly task: string; readonly path: string },
): Promise<void> {
  const packed: StoredWrite[] = [];
  for (const [at, [channel, value]] of writes.entries())
    packed.push([memberOf(WRITES_IDX_MAP, channel) ?? at, channel, await pack(serde, value)]);
  const key = prefixOf(checkpoint) + digest(task.task);
  await session.values.update(key, (before) => ({ ...task, writes: merged(isTaskWrites(before) ? before.writes : [], packed) }));
}

/** Returns the writes to a checkpoint in the order in which LangGraph applies them. */
async function readWrites(session: Session, serde: SerializerProtocol, checkpoint: EntryId): Promise<CheckpointPendingWrite[]> {
  const stored = (await session.values.list(prefixOf(checkpoint))).map(({ value }) => value).filter(isTaskWrites);
  const ordered = stored.toSorted((a, b) => compareTexts(a.path, b.path) || compareTexts(a.task, b.task));
  const read: CheckpointPendingWrite[] = [];
  for (const { task, writes } of ordered) {
    for (const [, channel, value] of writes.toSorted(([a], [b]) => a - b)) read.push([task, channel, await unpack(serde, value)]);
  }
  return read;
}

/** The tasks that older versions of LangGraph left to the next checkpoint as writes. */
async function readPendingSends(session: Session, serde: SerializerProtocol, checkpoint: EntryId): Promise<readonly unknown[]> {
  return (await readWrites(session, serde, checkpoint)).filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
}

function merged(before: readonly StoredWrite[], writes: readonly StoredWrite[]): readonly StoredWrite[] {
  const byIndex = new Map(before.map((write) => [write[0], write]));
  for (const write of writes) if (write[0] < 0 || !byIndex.has(write[0])) byIndex.set(write[0], write);
  return [...byIndex.values()];
}

function isTaskWrites(value: unknown): value is TaskWrites {
  return typeof value === "object" && value !== null && "task" in value && "path" in value && "writes" in value;
}

/** By code point, as LangGraph compares: the order of UTF-8. */
function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
