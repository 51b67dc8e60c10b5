import { isDeepStrictEqual } from "node:util";
import { type Entry, pagesOf, type Session } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import { messageOf, type PiMessage } from "./entries.js";

// pi stores the messages that a compaction keeps in the compaction; Bough stores where they start on the path
// (`firstKeptEntryId`). Messages that are those of the path, as pi's own compaction makes them, are stored Bough's way.

/** The fields in which a compaction stores its tail. */
export interface StoredTail {
  readonly firstKeptEntryId: string | null;
  /** The messages themselves, if they are not those of the path. Default: absent. */
  readonly retainedTail?: readonly PiMessage[] | undefined;
}

const PAGE = 100;

/** Returns the fields that store the tail of a compaction below `parentId`. */
export async function storedTail(session: Session, parentId: string | null, tail: readonly PiMessage[]): Promise<StoredTail> {
  const held = { firstKeptEntryId: null, retainedTail: tail };
  if (parentId === null || tail.length === 0) return held;
  let left = tail.length;
  for await (const entry of walkUp(session, parentId)) {
    const message = tailMessage(entry);
    if (message === undefined) continue;
    left -= 1;
    if (!isDeepStrictEqual(message, tail[left])) return held;
    if (left === 0) return { firstKeptEntryId: entry.id, retainedTail: undefined };
  }
  return held;
}

/** The messages that a compaction keeps: all from the first one on, or those that it names, in the order of its list. */
export async function keptTail(session: Session, entry: Extract<Entry, { type: "compaction" }>): Promise<readonly PiMessage[]> {
  const { retainedTail } = entry;
  if (Array.isArray(retainedTail)) return retainedTail.filter(isMessage);
  const { firstKeptEntryId, keptEntryIds, parentId } = entry;
  if (firstKeptEntryId === null || parentId === null) return [];
  const tail = new Map<string, PiMessage>();
  for await (const kept of walkUp(session, parentId)) {
    const message = tailMessage(kept);
    if (message !== undefined) tail.set(kept.id, message);
    if (kept.id === firstKeptEntryId) break;
  }
  const order = keptEntryIds ?? [...tail.keys()].reverse();
  return order.flatMap((id) => (id === null ? [] : (tail.get(id) ?? [])));
}

function isMessage(value: unknown): value is PiMessage {
  return isObject(value) && typeof value.role === "string";
}

async function* walkUp(session: Session, leafId: string): AsyncGenerator<Entry, void, void> {
  for await (const { items } of pagesOf((cursor) => session.scan({ leafId, order: "up", limit: PAGE, cursor }))) yield* items;
}

/** The message that pi makes of an entry before a compaction; undefined if it makes none. */
function tailMessage(entry: Entry): PiMessage | undefined {
  if (entry.type === "message" || entry.type === "custom_message") return messageOf(entry);
  if (entry.type !== "branch_summary") return undefined;
  const { summary, fromId, createdAtMs } = entry;
  const message = { role: "branchSummary", summary, fromId, timestamp: createdAtMs };
  return isMessage(message) ? message : undefined;
}
