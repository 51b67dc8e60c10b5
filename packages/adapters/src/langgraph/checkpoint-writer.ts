import {
  type EntryId,
  type EntryInput,
  type EntryType,
  LeafMovedError,
  type Session,
  ValueChangedError,
  type Write,
} from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type { ChannelVersions, Checkpoint, CheckpointMetadata, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Channels, FoundCheckpoint } from "./channels.js";
import { UNORDERED } from "./history.js";
import type { Parts } from "./parts.js";
import { pack, unpack } from "./serialized.js";
import { checkpointEntryId, checkpointType, digest, memberOf, type StoredCheckpoint, type StoredValue } from "./stored-checkpoint.js";

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
  /** True if it is a checkpoint of the calling graph. */
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

/**
 * Writes a checkpoint and the messages that it has more than its parent, in one transaction. A checkpoint that is put again writes
 * nothing; with other content it is a new version of the same checkpoint.
 */
export async function putCheckpoint(session: Session, serde: SerializerProtocol, channels: Channels, put: PutCheckpoint): Promise<void> {
  const above = await findAbove(channels, put);
  const { ns } = put;
  for (let version = 1; ; version += 1) {
    const entryId = checkpointEntryId(ns, put.checkpoint.id, version);
    const existing = await channels.checkpoint(entryId);
    const { data, entries, inParts } = await plan(serde, channels, put, above, entryId);
    if (existing !== undefined && JSON.stringify(existing) === JSON.stringify(data)) return;
    if (existing !== undefined) continue;
    const planned = { ns, id: put.checkpoint.id, parentId: above?.entryId ?? null };
    await write(session, planned, [...entries, { type: "custom", customType: checkpointType(ns), id: entryId, data }]);
    for (const [channel, value] of inParts) channels.remember(entryId, channel, value);
    return;
  }
}

interface Place {
  readonly ns: string;
  readonly id: string;
  readonly parentId: EntryId | null;
}

async function write(session: Session, { ns, id, parentId }: Place, entries: readonly EntryInput[]): Promise<void> {
  for (;;) {
    const key = latestKey(ns);
    const latest = await latestCheckpoint(session, ns);
    const isNewest = latest === undefined || latest < id;
    const newest: readonly Write[] = [
      isNewest ? { kind: "value", key, value: id, ifEquals: latest } : { kind: "value", key: UNORDERED, value: true },
    ];
    try {
      if (ns === "") await writeOnLeaf(session, parentId, entries, newest);
      else await session.write([...chain(parentId, entries), ...newest]);
      return;
    } catch (error) {
      // Another process put a checkpoint of this thread between the reads above and the write.
      if (!(error instanceof LeafMovedError || error instanceof ValueChangedError)) throw error;
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

/** The writes of a checkpoint: the entries of its new messages, its own data, and the values that can be read in parts afterwards. */
interface Plan {
  readonly entries: readonly EntryInput[];
  readonly data: StoredCheckpoint;
  readonly inParts: readonly (readonly [channel: string, value: Parts])[];
}

/** Plans the messages and the checkpoint for the entry `entryId`. */
async function plan(
  serde: SerializerProtocol,
  channels: Channels,
  { ns, parent, checkpoint, metadata, newVersions }: PutCheckpoint,
  above: Above | undefined,
  entryId: EntryId,
): Promise<Plan> {
  const { channel_values, ...rest } = checkpoint;
  const entries: EntryInput[] = [];
  const inParts: [channel: string, value: Parts][] = [];
  const values: [channel: string, value: StoredValue][] = [];
  const holders: [channel: string, entryId: EntryId][] = [];
  let written = 0;
  // The same for a repeated put, so that it writes nothing twice.
  const newId = (): EntryId => `${digest(entryId)}.${(written++).toString(36)}`;
  // LangGraph puts a copy of a checkpoint below the parent of the original and names no new versions, though its values are others.
  const isCopy = metadata.source === "fork";
  const inherited = await inheritedHolders(serde, above, isCopy ? checkpoint.channel_versions : undefined);
  const stored = isCopy ? { ...checkpoint.channel_versions, ...newVersions } : newVersions;
  for (const [channel, value] of Object.entries(channel_values)) {
    const known = Object.hasOwn(newVersions, channel) ? undefined : memberOf(inherited, channel);
    const holder = known ?? (Object.hasOwn(stored, channel) ? entryId : undefined);
    if (holder !== undefined) holders.push([channel, holder]);
    if (holder !== entryId) continue;
    const planned = await channels.plan(channel, value, above, newId);
    values.push([channel, planned.value]);
    for (const entry of planned.entries) entries.push(entry);
    if (planned.parts !== undefined) inParts.push([channel, planned.parts]);
  }
  const data: StoredCheckpoint = {
    format: 1,
    ns,
    id: checkpoint.id,
    parent,
    checkpoint: await pack(serde, rest),
    metadata: await pack(serde, metadata),
    at: Object.fromEntries(holders),
    values: Object.fromEntries(values),
  };
  return { data, entries, inParts };
}

/** The entries that store the values of the parent; with `versions`, of the channels that have these versions there. */
async function inheritedHolders(
  serde: SerializerProtocol,
  above: Above | undefined,
  versions: ChannelVersions | undefined,
): Promise<StoredCheckpoint["at"]> {
  if (above === undefined || above.isForeign) return {};
  const { at, checkpoint } = above.stored;
  if (versions === undefined) return at;
  const kept = await unpack(serde, checkpoint);
  const before = isObject(kept) && isObject(kept["channel_versions"]) ? kept["channel_versions"] : {};
  return Object.fromEntries(Object.entries(at).filter(([channel]) => memberOf(before, channel) === memberOf(versions, channel)));
}

/** The leaf follows the checkpoints of the graph, so that the session is read as the conversation; those of subgraphs are branches. */
async function writeOnLeaf(session: Session, parentId: EntryId | null, entries: readonly EntryInput[], newest: readonly Write[]) {
  const { leafId } = session;
  const move: readonly Write[] = (await continues(session, leafId, parentId)) ? [] : [{ kind: "moveLeaf", to: parentId }];
  const writes = entries.map((entry): Write => ({ kind: "entry", entry }));
  await session.write([...move, ...writes, ...newest], { expectedLeafId: leafId });
}

/** Entries that Bough appends to a conversation without adding to what was said. */
const ADDITIONS: readonly EntryType[] = ["compaction", "context_edit", "model_change", "thinking_level_change"];

/** True if only additions, such as a compaction, lie between a checkpoint and the leaf: the next checkpoint is appended below them. */
async function continues(session: Session, leafId: EntryId | null, parentId: EntryId | null): Promise<boolean> {
  if (leafId === parentId) return true;
  if (leafId === null || parentId === null) return false;
  for (const { id, type } of await session.tree.path(leafId, MOST_ADDITIONS)) {
    if (id === parentId) return true;
    if (!ADDITIONS.includes(type)) return false;
  }
  return false;
}

const MOST_ADDITIONS = 100;

/** Each entry below the one before it, the first one below `parentId`. */
function chain(parentId: EntryId | null, entries: readonly EntryInput[]): readonly Write[] {
  return entries.map((entry, at) => ({ kind: "entry", entry, parentId: entries[at - 1]?.id ?? parentId }));
}
