import { type Entry, type EntryPayload, type FileLists, fileLists, type Session } from "@bough/session-core";
import { isSummary } from "@bough/session-core/view";
import type { PathItem, Span } from "./span.js";

const NONE: FileLists = { readFiles: [], modifiedFiles: [] };

/**
 * The file lists stored in the `details` of a summary. Empty if a hook wrote the entry (its `details` have another
 * meaning) or if the value has another shape.
 */
export function fileListsOf(payload: EntryPayload): FileLists {
  if (!isSummary(payload)) return NONE;
  const { details } = payload;
  if (payload.fromHook === true || typeof details !== "object" || details === null) return NONE;
  return {
    readFiles: "readFiles" in details ? stringsIn(details.readFiles) : [],
    modifiedFiles: "modifiedFiles" in details ? stringsIn(details.modifiedFiles) : [],
  };
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

/** Two lists as one, sorted, without duplicates. A file that was modified is not listed as read. */
function joinLists(a: FileLists, b: FileLists): FileLists {
  const modified = new Set([...a.modifiedFiles, ...b.modifiedFiles]);
  const read = new Set([...a.readFiles, ...b.readFiles].filter((path) => !modified.has(path)));
  return { readFiles: [...read].sort(), modifiedFiles: [...modified].sort() };
}

/** Files that the covered entries read and modified, joined with the lists of the summaries among them and before them. */
export async function coveredFileLists(session: Session, { context }: Span, covered: readonly PathItem[]): Promise<FileLists> {
  const own = await operatedFiles(session, covered);
  const earlier = context.compaction === null ? [] : [fileListsOf(context.compaction.payload)];
  for (const { id, type } of covered) if (type === "branch_summary") earlier.push(fileListsOf(await session.entry(id)));
  return earlier.reduce(joinLists, own);
}

/** Files that all entries of a branch read and modified, joined with the lists of the summaries on it. */
export async function branchFileLists(session: Session, entries: readonly Entry[]): Promise<FileLists> {
  return entries.reduce<FileLists>((lists, entry) => joinLists(lists, fileListsOf(entry)), await operatedFiles(session, entries));
}

/** Files that the tool calls of a path, given by its entries in order, read and modified. */
async function operatedFiles(session: Session, path: readonly { readonly id: string }[]): Promise<FileLists> {
  const [first, last] = [path[0], path.at(-1)];
  return first === undefined || last === undefined ? NONE : fileLists(await session.fileOperations({ fromId: first.id, toId: last.id }));
}
