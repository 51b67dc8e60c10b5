import type { Entry, EntryId, Session } from "@bough/session-core";
import { entryText } from "./entry-text.js";

/** A range of a path to read. */
export interface RangeRequest {
  readonly from: EntryId;
  readonly to: EntryId;
  /** Entries more on both sides. */
  readonly around: number;
  /** Read up to this place of the whole text, in UTF-16 code units; what lies beyond may be missing. */
  readonly upTo: number;
}

/** Entries that are read at once: an answer seldom holds more, and one with large results not even these. */
const PAGE = 50;

/**
 * Entries of one path word for word, from the first on. A range that cannot be read is said in one line. Cost: the bodies
 * of the entries up to `upTo`, a page at a time, and of the others of the range their place alone.
 */
export async function rangeText(session: Session, request: RangeRequest): Promise<string> {
  const { from, to, upTo, around } = request;
  const shared = await session.commonAncestor(from, to);
  if (shared !== from) return notAbove(from, to, shared);
  let text = "";
  const read = (entries: readonly Entry[]) => {
    for (const entry of entries) if (text.length <= upTo) text += `${text === "" ? "" : "\n\n"}${entryText(entry)}`;
  };
  const above = await session.scan({ leafId: from, order: "up", limit: around + 1 });
  read(above.items.toReversed());
  if (to !== from) {
    for (let cursor: string | undefined; text.length <= upTo; ) {
      const { items, next } = await session.scan({ leafId: to, stopAt: from, order: "down", limit: PAGE, cursor });
      read(items);
      if (next === null) break;
      cursor = next;
    }
  }
  if (around > 0 && text.length <= upTo) read(await behind(session, to, around));
  return text;
}

function notAbove(from: EntryId, to: EntryId, shared: EntryId | null): string {
  return shared === to
    ? `${from} comes after ${to}: name the earlier entry first.`
    : `${from} and ${to} are on different branches, so nothing lies between them. Read them one by one.`;
}

/** What follows an entry on the session's own path; none where it is not on it. */
async function behind(session: Session, id: EntryId, count: number): Promise<readonly Entry[]> {
  const { leafId } = session;
  if (leafId === null || (await session.commonAncestor(id, leafId)) !== id) return [];
  return (await session.scan({ leafId, stopAt: id, order: "down", limit: count })).items;
}
