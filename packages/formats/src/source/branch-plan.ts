import type { Entry, EntryId } from "@bough/session-core";
import { joinTextBlocks } from "@bough/session-core/view";

/** The facts of a branch that its writer needs before it comes to them, and those that later entries record of earlier ones. */
export interface BranchPlan {
  /** The compactions that keep entries, in the order of the first ones that they keep, and the `seq` of that entry. */
  readonly kept: readonly { readonly compaction: EntryId; readonly fromSeq: number }[];
  /** The text of the first system message. */
  readonly system: string | undefined;
}

/** Reads the path of a branch. An entry that a compaction keeps counts also if an edit omits it: those behind it are kept. */
export async function planBranch(path: AsyncIterable<Entry>): Promise<BranchPlan> {
  const seqs = new Map<EntryId, number>();
  const kept: { compaction: EntryId; fromSeq: number }[] = [];
  let system: string | undefined;
  for await (const entry of path) {
    seqs.set(entry.id, entry.seq);
    if (entry.type === "message" && entry.message.role === "system") system ??= joinTextBlocks(entry.message.content);
    const fromSeq = entry.type === "compaction" && entry.firstKeptEntryId !== null ? seqs.get(entry.firstKeptEntryId) : undefined;
    if (fromSeq !== undefined) kept.push({ compaction: entry.id, fromSeq });
  }
  return { kept: kept.sort((a, b) => a.fromSeq - b.fromSeq), system };
}
