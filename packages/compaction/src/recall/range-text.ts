import { type EntryId, EntryNotFoundError, type Session } from "@bough/session-core";
import { entryText } from "./entry-text.js";

/** A range of a path to read. */
export interface RangeRequest {
  readonly from: EntryId;
  readonly to: EntryId;
  readonly around: number;
  /** Characters of the whole text to skip. */
  readonly offset: number;
  readonly maxChars: number;
}

/**
 * Entries word for word, `maxChars` of their text from `offset` on, and how to continue. What cannot be read is said in
 * one line. Reads the path from the first to the last entry, a page at a time, and stops when the answer is full.
 */
export async function rangeText(session: Session, request: RangeRequest): Promise<string> {
  const { from, to } = request;
  if ((await session.commonAncestor(from, to)) !== from)
    return `${from} does not stand above ${to} on one path; name the earlier entry first.`;
  const ids = await idsBetween(session, request);
  return textOfRange(session, ids, request);
}

/** The ids of the range with its surroundings: what is above on the path, what is below on the session's own path. */
async function idsBetween(
  session: Session,
  { from, to, around }: RangeRequest,
): Promise<{ readonly leafId: EntryId; readonly stopAt: EntryId | null }> {
  let stopAt = (await session.entry(from)).parentId;
  for (let left = around; left > 0 && stopAt !== null; left -= 1) stopAt = (await session.entry(stopAt)).parentId;
  return { leafId: await below(session, to, around), stopAt };
}

async function below(session: Session, id: EntryId, count: number): Promise<EntryId> {
  const { leafId } = session;
  if (count === 0 || leafId === null || (await session.commonAncestor(id, leafId)) !== id) return id;
  let [last, left] = [id, count];
  for await (const entry of session.walk({ leafId, stopAt: id })) {
    if (left === 0) break;
    last = entry.id;
    left -= 1;
  }
  return last;
}

async function textOfRange(
  session: Session,
  { leafId, stopAt }: { readonly leafId: EntryId; readonly stopAt: EntryId | null },
  { offset, maxChars }: RangeRequest,
): Promise<string> {
  let [seen, text] = [0, ""];
  for await (const entry of session.walk({ leafId, ...(stopAt === null ? {} : { stopAt }) })) {
    const own = `${entryText(entry)}\n\n`;
    if (seen + own.length > offset) text += own.slice(Math.max(0, offset - seen));
    seen += own.length;
    if (text.length > maxChars) return `${cut(text, maxChars)}\n\n(more: continue with offset ${offset + cut(text, maxChars).length})`;
  }
  return text.trimEnd() === "" ? "There is nothing more." : text.trimEnd();
}

/** Never half of a surrogate pair. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** What is said of an id that is not there. */
export async function existing(session: Session, id: EntryId): Promise<string | null> {
  try {
    await session.entry(id);
    return null;
  } catch (error) {
    if (!(error instanceof EntryNotFoundError)) throw error;
    return `No entry of this session has the id ${id.slice(0, 60)}. Ids are in the summaries and in what recall_search finds.`;
  }
}
