import type { EntryId, Session } from "@bough/session-core";
import type { CheckpointPendingWrite, PendingWrite, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { TASKS, WRITES_IDX_MAP } from "./framework.js";
import { pack, unpack } from "./serialized.js";
import { digest, memberOf, type Packed } from "./stored-checkpoint.js";

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
export async function putWrites(
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
export async function readWrites(session: Session, serde: SerializerProtocol, checkpoint: EntryId): Promise<CheckpointPendingWrite[]> {
  const stored = (await session.values.list(prefixOf(checkpoint))).map(({ value }) => value).filter(isTaskWrites);
  const ordered = stored.toSorted((a, b) => compareTexts(a.path, b.path) || compareTexts(a.task, b.task));
  const read: CheckpointPendingWrite[] = [];
  for (const { task, writes } of ordered) {
    for (const [, channel, value] of writes.toSorted(([a], [b]) => a - b)) read.push([task, channel, await unpack(serde, value)]);
  }
  return read;
}

/** The tasks that older versions of LangGraph left to the next checkpoint as writes. */
export async function readPendingSends(session: Session, serde: SerializerProtocol, checkpoint: EntryId): Promise<readonly unknown[]> {
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
