import { type Entry, type EntryId, type FileLists, fileLists, type Session } from "@bough/session-core";
import { fileListsOf, joinLists } from "../path/details.js";
import type { PathItem } from "../path/path-item.js";
import { shownByEntry } from "../path/shown.js";
import type { ContextMeter } from "../tokens/context-meter.js";

/** A branch that is about to be left: what its model saw below the point where the paths part. */
export interface Abandoned {
  /** In the order of the context. Summaries of earlier compactions and branches below that point are among the messages. */
  readonly items: readonly PathItem[];
  /** Every entry of the branch, oldest first. */
  readonly entryIds: readonly EntryId[];
  /** Files of all its entries, also of those that a compaction on it covers (regression R138). */
  readonly files: FileLists;
}

/**
 * Reads the path from `leafId` up to, and without, `ancestorId` (null: to its first entry), as the context at the leaf
 * shows it. Entries that an earlier compaction of the branch covers are told by that compaction's summary.
 */
export async function readAbandoned(
  session: Session,
  leafId: EntryId,
  ancestorId: EntryId | null,
  meter: ContextMeter,
): Promise<Abandoned> {
  const entries: Entry[] = [];
  for await (const entry of session.walk({ leafId, stopAt: ancestorId ?? undefined })) entries.push(entry);
  const context = await session.context({ leafId });
  const below = new Map(entries.map(({ id, type }) => [id, type]));
  const items = [...shownByEntry(context, await meter.measure(context, leafId))].flatMap(
    ([id, { messages, tokens }]): readonly PathItem[] => {
      const type = below.get(id);
      return type === undefined ? [] : [{ id, type, messages, tokens }];
    },
  );
  return { items, entryIds: entries.map(({ id }) => id), files: await filesOf(session, entries) };
}

async function filesOf(session: Session, entries: readonly Entry[]): Promise<FileLists> {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return { readFiles: [], modifiedFiles: [] };
  const own = fileLists(await session.fileOperations({ fromId: first.id, toId: last.id }));
  return entries.reduce<FileLists>((lists, entry) => joinLists(lists, fileListsOf(entry)), own);
}
