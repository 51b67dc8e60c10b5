import { isDeepStrictEqual } from "node:util";
import {
  type ContextEditPayload,
  type Entry,
  type EntryId,
  type EntryInput,
  type Message,
  pagesOf,
  type Session,
  type SessionContext,
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

/** The history at a leaf, oldest item first. */
export interface History {
  readonly items: readonly HistoryItem[];
  /** False if there may be older items. */
  readonly isWhole: boolean;
  /** The compaction in force, if it was read. */
  readonly compaction: Compaction | undefined;
  /** The entries of the path that were read, newest first. */
  readonly path: readonly Entry[];
}

const PAGE = 200;

type Replacement = ContextEditPayload["replacement"];

/**
 * Reads the history at the leaf: what the model sees. After a compaction these are its summary, the items that it kept, and those
 * after it. With `limit`, only the newest items are read.
 */
export async function readHistory(session: Session, limit = Number.POSITIVE_INFINITY): Promise<History> {
  const { compaction: inForce } = await session.context();
  const firstId = inForce?.payload.firstKeptEntryId ?? inForce?.entryId;
  const edits = new Map<EntryId, Replacement>();
  const itemsByEntry = new Map<EntryId, readonly HistoryItem[]>();
  const lists: ReadonlySet<EntryId | null>[] = [];
  const path: Entry[] = [];
  let compaction: Compaction | undefined;
  let left = limit;
  for await (const entry of upwards(session)) {
    path.push(entry);
    if (entry.type === "context_edit" && !edits.has(entry.targetId)) edits.set(entry.targetId, entry.replacement);
    const items = lists.every((list) => list.has(entry.id)) ? historyItems(entry, edits.get(entry.id)) : [];
    itemsByEntry.set(entry.id, items);
    if (entry.type !== "compaction") left -= items.length;
    else if (entry.id === inForce?.entryId) compaction = entry;
    else if (replacesOthers(entry, inForce) && edits.get(entry.id) !== null) lists.push(new Set(entry.keptEntryIds));
    // What a compaction keeps in an order of its own is read whole.
    if (entry.id === firstId || (left <= 0 && compaction?.keptEntryIds === undefined)) break;
  }
  const items = orderOf(path, compaction).flatMap((id) => itemsByEntry.get(id) ?? []);
  return { items: items.slice(-limit), isWhole: left > 0, compaction, path };
}

type Compaction = Extract<Entry, { type: "compaction" }>;

/** True for an earlier compaction that named what it kept: the rest stays replaced, unless the one in force names what it keeps itself. */
function replacesOthers({ keptEntryIds }: Compaction, inForce: SessionContext["compaction"]): boolean {
  return keptEntryIds !== undefined && inForce?.payload.keptEntryIds === undefined;
}

/** The entries of a history, oldest first: the summary stands before what its compaction kept, or where the list of these has it. */
function orderOf(path: readonly Entry[], compaction: Compaction | undefined): readonly EntryId[] {
  const { id: summaryId, seq: start, keptEntryIds } = compaction ?? { id: null, seq: 0 };
  const said = path.filter(({ type }) => type !== "compaction").reverse();
  const after = said.flatMap(({ id, seq }) => (seq > start ? [id] : []));
  const before = keptEntryIds ?? [null, ...said.flatMap(({ id, seq }) => (seq < start ? [id] : []))];
  return [...before.flatMap((id) => id ?? summaryId ?? []), ...after];
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
export function rewrite(history: History, wanted: readonly AgentInputItem[]): readonly Write[] {
  const { items, compaction } = history;
  let same = 0;
  while (same < items.length && isDeepStrictEqual(items[same]?.item, wanted[same])) same += 1;
  // Of an entry with several items, those before the first changed one are written again.
  const changed = items[same];
  const from = same - (changed?.place ?? 0);
  const isWhole = history.isWhole && from === 0;
  // Without its compaction the history would be what the compaction replaced.
  const removed = isWhole && compaction !== undefined ? START_ANEW : removals(history, items.slice(from));
  return [...removed, ...toWrites(entriesOf(wanted.slice(from), isWhole))];
}

/** The writes that begin a history without items: what was said stays in the tree. */
export const START_ANEW: readonly Write[] = [{ kind: "moveLeaf", to: null }];

/** The writes that append entries. */
export function toWrites(entries: readonly EntryInput[]): readonly Write[] {
  return entries.map((entry) => ({ kind: "entry", entry }));
}

function removals({ compaction, path }: History, removed: readonly HistoryItem[]): readonly Write[] {
  const [first] = removed;
  if (first === undefined) return [];
  if (compaction !== undefined && first.entry.seq <= compaction.seq)
    return [...new Set(removed.map(({ entry }) => entry.id))].map((targetId) => editOf(targetId, null));
  return [{ kind: "moveLeaf", to: first.entry.parentId }, ...editsAbove(path, first.entry)];
}

/** The edits at and below an entry of what is above it: a move of the leaf before that entry would undo them. */
function editsAbove(path: readonly Entry[], { seq }: Entry): readonly Write[] {
  const left = path.filter((entry) => entry.seq >= seq);
  const known = new Set(left.map(({ id }) => id));
  return left.flatMap((entry) => {
    if (entry.type !== "context_edit" || known.has(entry.targetId)) return [];
    // The newest edit of an entry counts.
    known.add(entry.targetId);
    return [editOf(entry.targetId, entry.replacement)];
  });
}

function editOf(targetId: EntryId, replacement: Replacement): Write {
  return { kind: "entry", entry: { type: "context_edit", targetId, replacement } };
}
