import { type EntryId, type EntryInput, LeafMovedError, type Session, type Write } from "@bough/session-core";
import type { ChannelVersions, Checkpoint, CheckpointMetadata, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Channels, FoundCheckpoint } from "./channels.js";
import { pack } from "./serialized.js";
import { checkpointEntryId, checkpointType, digest, type StoredCheckpoint, type StoredValue } from "./stored-checkpoint.js";

/** A checkpoint that LangGraph puts. */
export interface PutCheckpoint {
  readonly ns: string;
  /** The id of the parent checkpoint; null: it is the first one of its namespace. */
  readonly parent: string | null;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  /** The versions of the channels that changed since the parent. */
  readonly newVersions: ChannelVersions;
}

/** The checkpoint below whose entry the new one is appended. */
interface Above extends FoundCheckpoint {
  /** Whether it is a checkpoint of the calling graph. */
  readonly isForeign: boolean;
}

/** The id of the newest checkpoint of a namespace. */
export async function latestCheckpoint(session: Session, ns: string): Promise<string | undefined> {
  const value = await session.values.get(latestKey(ns));
  return typeof value === "string" ? value : undefined;
}

function latestKey(ns: string): string {
  return ns === "" ? "langgraph.latest" : `langgraph.latest.${digest(ns)}`;
}

/** Writes a checkpoint and the messages that it has more than its parent, in one transaction. */
export async function putCheckpoint(session: Session, serde: SerializerProtocol, channels: Channels, put: PutCheckpoint): Promise<void> {
  const above = await findAbove(channels, put);
  const parentId = above?.entryId ?? null;
  const entries = await planEntries(serde, channels, put, above);
  for (;;) {
    const latest = await latestCheckpoint(session, put.ns);
    const isNewest = latest === undefined || latest < put.checkpoint.id;
    const newest: readonly Write[] = isNewest ? [{ kind: "value", key: latestKey(put.ns), value: put.checkpoint.id }] : [];
    try {
      if (put.ns === "") await writeOnLeaf(session, parentId, entries, newest);
      else await session.write([...chain(parentId, entries), ...newest]);
      return;
    } catch (error) {
      if (!(error instanceof LeafMovedError)) throw error;
      await session.refresh();
    }
  }
}

/** The parent, or for the first checkpoint of a subgraph that of the graph that called it. */
async function findAbove(channels: Channels, { ns, parent, metadata }: PutCheckpoint): Promise<Above | undefined> {
  const own = parent === null ? undefined : await channels.find(ns, parent);
  if (own !== undefined) return { ...own, isForeign: false };
  const callers = Object.entries(metadata.parents ?? {}).filter(([caller]) => caller !== ns);
  const [nearest] = callers.toSorted(([a], [b]) => b.length - a.length);
  const caller = nearest && (await channels.find(...nearest));
  return caller && { ...caller, isForeign: true };
}

/** The entries of new messages, and behind them the entry of the checkpoint. */
async function planEntries(
  serde: SerializerProtocol,
  channels: Channels,
  { ns, parent, checkpoint, metadata, newVersions }: PutCheckpoint,
  above: Above | undefined,
): Promise<readonly EntryInput[]> {
  const { channel_values, ...rest } = checkpoint;
  const entryId = checkpointEntryId(ns, checkpoint.id);
  const entries: EntryInput[] = [];
  const values: [channel: string, value: StoredValue][] = [];
  const at: [channel: string, entryId: EntryId][] = [];
  let written = 0;
  // The same for a repeated put, so that it writes nothing twice.
  const newId = (): EntryId => `${digest(entryId)}.${(written++).toString(36)}`;
  for (const [channel, value] of Object.entries(channel_values)) {
    const holder = channel in newVersions ? entryId : above?.isForeign === false ? above.stored.at[channel] : undefined;
    if (holder !== undefined) at.push([channel, holder]);
    if (holder !== entryId) continue;
    const planned = await channels.plan(entryId, channel, value, above, newId);
    values.push([channel, planned.value]);
    entries.push(...planned.entries);
  }
  const data: StoredCheckpoint = {
    format: 1,
    ns,
    id: checkpoint.id,
    parent,
    checkpoint: await pack(serde, rest),
    metadata: await pack(serde, metadata),
    at: Object.fromEntries(at),
    values: Object.fromEntries(values),
  };
  return [...entries, { type: "custom", customType: checkpointType(ns), id: entryId, data }];
}

/** The leaf follows the checkpoints of the graph, so that the session is read as the conversation; those of subgraphs are branches. */
async function writeOnLeaf(session: Session, parentId: EntryId | null, entries: readonly EntryInput[], newest: readonly Write[]) {
  const leafId = session.leafId;
  const move: readonly Write[] = leafId === parentId ? [] : [{ kind: "moveLeaf", to: parentId }];
  const writes = entries.map((entry): Write => ({ kind: "entry", entry }));
  await session.write([...move, ...writes, ...newest], { expectedLeafId: leafId });
}

/** Each entry below the one before it, the first one below `parentId`. */
function chain(parentId: EntryId | null, entries: readonly EntryInput[]): readonly Write[] {
  return entries.map((entry, at) => ({ kind: "entry", entry, parentId: entries[at - 1]?.id ?? parentId }));
}
