import type { Entry, Session } from "@bough/session-core";
import type { FoundCheckpoint } from "./channels.js";
import { CHECKPOINT_TYPES, checkpointEntryId, checkpointOf, checkpointType } from "./stored-checkpoint.js";

/** The checkpoints of a thread to list. */
export interface HistoryFilter {
  /** Default: all namespaces. */
  readonly ns: string | undefined;
  /** Only the checkpoint of this id. */
  readonly checkpointId: string | undefined;
  /** Only checkpoints whose id is smaller. */
  readonly before: string | undefined;
}

/** The key of the value that a thread has whose checkpoints were not put in the order of their ids, such as a copied one. */
export const UNORDERED = "langgraph.unordered";

/** The number of checkpoints that are read at once. */
const PAGE = 50;

/**
 * Iterates over the checkpoints of a thread, those of the graph before those of its subgraphs, newest first in each namespace.
 * Reads a page at a time, so that the cost is that of the checkpoints that are taken and of those of other subgraphs in between.
 */
export async function* history(session: Session, filter: HistoryFilter): AsyncGenerator<FoundCheckpoint, void, void> {
  const types = filter.ns === undefined ? CHECKPOINT_TYPES : [checkpointType(filter.ns)];
  const isOrdered = (await session.values.get(UNORDERED)) === undefined;
  for (const type of types) {
    if (isOrdered) yield* inOrder(session, type, filter);
    else yield* sorted(session, type, filter);
  }
}

/**
 * The checkpoint of the graph at or above the leaf. For a fork of a path of a thread, which has the entries of its source and not the
 * value that says which checkpoint is the newest.
 */
export async function leafCheckpoint(session: Session, ns = ""): Promise<FoundCheckpoint | undefined> {
  if (ns !== "") return undefined;
  const { items } = await session.scan({ order: "up", customType: checkpointType(ns), limit: 1 });
  const stored = items[0] && checkpointOf(items[0], session.id);
  return items[0] && stored && { entryId: items[0].id, stored };
}

async function* inOrder(session: Session, type: string, filter: HistoryFilter): AsyncGenerator<FoundCheckpoint, void, void> {
  for await (const entry of newestFirst(session, type, await startOf(session, filter))) {
    const found = matching(session, entry, filter);
    if (found !== undefined) yield found;
    if (found !== undefined && filter.ns !== undefined && filter.checkpointId !== undefined) return;
  }
}

/** The `seq` from which older checkpoints are listed: that of `before`, if it is a checkpoint of the namespace. */
async function startOf(session: Session, { ns, before }: HistoryFilter): Promise<number | undefined> {
  if (ns === undefined || before === undefined) return undefined;
  const id = checkpointEntryId(ns, before);
  return (await session.entriesById([id])).get(id)?.seq;
}

async function* sorted(session: Session, type: string, filter: HistoryFilter): AsyncGenerator<FoundCheckpoint, void, void> {
  const byId = new Map<string, FoundCheckpoint>();
  for await (const entry of newestFirst(session, type)) {
    const checkpoint = matching(session, entry, filter);
    if (checkpoint === undefined) continue;
    const key = `${checkpoint.stored.ns}\n${checkpoint.stored.id}`;
    // The newest entry of a checkpoint is its last version.
    if (!byId.has(key)) byId.set(key, checkpoint);
  }
  yield* [...byId.values()].sort((a, b) => (a.stored.id < b.stored.id ? 1 : -1));
}

async function* newestFirst(session: Session, customType: string, beforeSeq?: number): AsyncGenerator<Entry, void, void> {
  for (let before = beforeSeq; ; ) {
    const page = await session.list({ customType, order: "newest", beforeSeq: before, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last.seq;
  }
}

function matching(session: Session, entry: Entry, { ns, checkpointId, before }: HistoryFilter): FoundCheckpoint | undefined {
  const stored = checkpointOf(entry, session.id);
  if (stored === undefined || (ns !== undefined && stored.ns !== ns)) return undefined;
  if (checkpointId !== undefined && stored.id !== checkpointId) return undefined;
  return before !== undefined && stored.id >= before ? undefined : { entryId: entry.id, stored };
}
