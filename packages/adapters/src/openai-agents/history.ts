import { isDeepStrictEqual } from "node:util";
import {
  type ContextEditPayload,
  type Entry,
  type EntryId,
  type EntryInput,
  type Message,
  pagesOf,
  type Session,
  type Write,
} from "@bough/session-core";
import type { AgentInputItem } from "@openai/agents-core";
import { entriesOf, itemsOf } from "./items.js";

/** An item of the history, the entry that holds it, and its place among the items of that entry. */
interface HistoryItem {
  readonly entry: Entry;
  readonly place: number;
  readonly item: AgentInputItem;
}

/** The history at a leaf, oldest item first, and the compaction that it starts with. */
export interface History {
  readonly leafId: EntryId | null;
  readonly items: readonly HistoryItem[];
  readonly compactionSeq: number | null;
}

const PAGE = 200;

type Replacement = ContextEditPayload["replacement"];

/**
 * Reads the history at the leaf: what the model sees. After a compaction these are its summary, the items that it kept, and those
 * after it. With `limit`, only the newest items are read.
 */
export async function readHistory(session: Session, limit = Number.POSITIVE_INFINITY): Promise<History> {
  const { compaction } = await session.context();
  const firstId = compaction?.payload.firstKeptEntryId ?? compaction?.entryId;
  const edits = new Map<EntryId, Replacement>();
  const newestFirst: HistoryItem[] = [];
  let summary: readonly HistoryItem[] = [];
  let compactionSeq: number | null = null;
  for await (const entry of upwards(session)) {
    if (entry.type === "context_edit" && !edits.has(entry.targetId)) edits.set(entry.targetId, entry.replacement);
    if (entry.id === compaction?.entryId) {
      summary = historyItems(entry, edits.get(entry.id));
      compactionSeq = entry.seq;
    } else if (entry.type !== "compaction") newestFirst.push(...historyItems(entry, edits.get(entry.id)).toReversed());
    if (entry.id === firstId || newestFirst.length >= limit) break;
  }
  const kept = newestFirst.slice(0, limit).reverse();
  // A compaction of the provider stands behind the items that it kept.
  const at = compaction?.payload.keptEntryIds?.at(-1) === null ? kept.findIndex(({ entry }) => entry.seq > (compactionSeq ?? 0)) : 0;
  const start = at === -1 ? kept.length : at;
  const items = [...kept.slice(0, start), ...summary, ...kept.slice(start)];
  return { leafId: session.leafId, items: kept.length >= limit ? kept : items.slice(-limit), compactionSeq };
}

async function* upwards(session: Session): AsyncGenerator<Entry, void, void> {
  for await (const { items } of pagesOf((cursor) => session.scan({ order: "up", limit: PAGE, cursor }))) yield* items;
}

function historyItems(entry: Entry, replacement: Replacement | undefined): readonly HistoryItem[] {
  if (replacement === null) return [];
  return itemsOf(entry, replacement && editedMessage(entry, replacement)).flatMap((item, place) =>
    isItem(item) ? [{ entry, place, item }] : [],
  );
}

function editedMessage(entry: Entry, { content }: NonNullable<Replacement>): Message | undefined {
  if (entry.type !== "message" || entry.message.role === "bashExecution") return undefined;
  // Only the content changes, and the store has validated it for this role when the edit was written.
  return { ...entry.message, content } as Message;
}

/** True if a value has the least members of an item. The framework validates the rest where it uses it. */
function isItem(item: unknown): item is AgentInputItem {
  return typeof item === "object" && item !== null && ("type" in item || "role" in item);
}

/**
 * The writes that turn a history into `wanted`: the items that both start with stay, the others leave the branch, and the new ones are
 * appended. Entries leave the branch by a move of the leaf; those that a compaction kept, which lie above it, by a context edit.
 */
export function rewrite({ items, compactionSeq }: History, wanted: readonly AgentInputItem[]): readonly Write[] {
  let same = 0;
  while (same < items.length && isDeepStrictEqual(items[same]?.item, wanted[same])) same += 1;
  // Of an entry with several items, those before the first changed one are written again.
  const changed = items[same];
  const from = same - (changed?.place ?? 0);
  const removed = items.slice(from);
  return [...removals(removed, compactionSeq), ...toWrites(entriesOf(wanted.slice(from), from === 0))];
}

/** The writes that append entries. */
export function toWrites(entries: readonly EntryInput[]): readonly Write[] {
  return entries.map((entry) => ({ kind: "entry", entry }));
}

function removals(removed: readonly HistoryItem[], compactionSeq: number | null): readonly Write[] {
  const [first] = removed;
  if (first === undefined) return [];
  if (compactionSeq === null || first.entry.seq > compactionSeq) return [{ kind: "moveLeaf", to: first.entry.parentId }];
  const targets = new Set(removed.map(({ entry }) => entry.id));
  return [...targets].map((targetId): Write => ({ kind: "entry", entry: { type: "context_edit", targetId, replacement: null } }));
}
