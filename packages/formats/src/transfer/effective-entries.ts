import type { Entry, EntryId } from "@bough/session-core";
import { toEntrySeq } from "@bough/session-core/engine";
import { ProjectedEntry, type Replacement } from "@bough/session-core/wire";

/**
 * The entries of a branch as its context has them, for programs that have no context edits: an entry that is omitted is left out, one
 * that is replaced has its new content, and the edits themselves are left out. A compaction that is undone is left out too;
 * one that keeps all from an entry on that is left out keeps all from the next one on.
 *
 * `read` is called twice: a later entry edits an earlier one. Memory: the edits, and the ids of what is left out.
 */
export async function* effectiveEntries(read: () => AsyncIterable<Entry>): AsyncGenerator<Entry, void, void> {
  const edits = new Map<EntryId, Replacement>();
  for await (const entry of read()) if (entry.type === "context_edit") edits.set(entry.targetId, entry.replacement);
  /** The entry after each that is left out. */
  const nextOf = new Map<EntryId, EntryId>();
  let leftOut: EntryId[] = [];
  for await (const entry of read()) {
    const replacement = edits.get(entry.id);
    const edited = entry.type === "context_edit" ? undefined : replacement === undefined ? entry : editEntry(entry, replacement);
    if (edited === undefined) leftOut.push(entry.id);
    else {
      for (const id of leftOut) nextOf.set(id, entry.id);
      leftOut = [];
      yield edited.type === "compaction" ? keepingFrom(edited, nextOf) : edited;
    }
  }
}

function keepingFrom(compaction: Extract<Entry, { type: "compaction" }>, nextOf: ReadonlyMap<EntryId, EntryId>): Entry {
  const first = nextOf.get(compaction.firstKeptEntryId ?? "");
  return first === undefined ? compaction : { ...compaction, firstKeptEntryId: first === compaction.id ? null : first };
}

/** The entry with its new content; undefined: it is omitted. Entries without a message stay as they are. */
function editEntry(entry: Entry, replacement: Replacement): Entry | undefined {
  const projected = new ProjectedEntry({ id: entry.id, seq: toEntrySeq(entry.seq), payload: entry });
  if (projected.project(undefined) === null) return entry;
  const message = projected.project(replacement)?.message;
  if (message === undefined) return undefined;
  if (message.role === "compactionSummary" || message.role === "branchSummary")
    return "summary" in entry ? { ...entry, summary: message.summary } : entry;
  if (entry.type === "custom_message") return message.role === "custom" ? { ...entry, content: message.content } : entry;
  return entry.type === "message" ? { ...entry, message } : entry;
}
