import type { EntryPayload, FileLists } from "@bough/session-core";

const NONE: FileLists = { readFiles: [], modifiedFiles: [] };

/**
 * The file lists that a summary carries in its `details`; none where a hook wrote them (pi's rule: only our own lists
 * are known to mean this) or where they are something else.
 */
export function fileListsOf(payload: EntryPayload): FileLists {
  if (payload.type !== "compaction" && payload.type !== "branch_summary") return NONE;
  if (payload.fromHook === true || typeof payload.details !== "object" || payload.details === null) return NONE;
  const { readFiles, modifiedFiles } = payload.details as Readonly<Record<string, unknown>>;
  return { readFiles: stringsIn(readFiles), modifiedFiles: stringsIn(modifiedFiles) };
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

/** Two lists as one, sorted, without repeats; a file that was modified is not among the read ones. */
export function joinLists(a: FileLists, b: FileLists): FileLists {
  const modified = new Set([...a.modifiedFiles, ...b.modifiedFiles]);
  const read = new Set([...a.readFiles, ...b.readFiles].filter((path) => !modified.has(path)));
  return { readFiles: [...read].sort(), modifiedFiles: [...modified].sort() };
}
