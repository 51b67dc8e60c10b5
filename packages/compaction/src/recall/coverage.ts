import type { Entry, EntryId, Session } from "@bough/session-core";

/** A summary on a path and the entries that it stands for, both ends included; null where that cannot be told. */
export interface Covered {
  readonly summary: Entry & { readonly type: "compaction" | "branch_summary" };
  readonly fromEntryId: EntryId | null;
  readonly toEntryId: EntryId | null;
}

/**
 * The summaries on the path of a leaf, oldest first, without compactions that were undone there. Reads only summaries and
 * edits, whatever lies between.
 */
export async function coveredOn(session: Session, leafId: EntryId | null = session.leafId): Promise<readonly Covered[]> {
  if (leafId === null) return [];
  const { items } = await session.scan({ leafId, order: "down", types: ["compaction", "branch_summary", "context_edit"] });
  const undone = new Set(items.flatMap((entry) => (entry.type === "context_edit" && entry.replacement === null ? [entry.targetId] : [])));
  const covered: Covered[] = [];
  let previous: Entry | null = null;
  for (const entry of items) {
    if (undone.has(entry.id)) continue;
    if (entry.type === "branch_summary") covered.push({ summary: entry, ...(told(entry) ?? (await branchRange(session, entry))) });
    if (entry.type !== "compaction") continue;
    covered.push({ summary: entry, ...(told(entry) ?? (await compactionRange(session, entry, previous))) });
    previous = entry;
  }
  return covered;
}

type Range = Pick<Covered, "fromEntryId" | "toEntryId">;

const UNKNOWN: Range = { fromEntryId: null, toEntryId: null };

/** What the engine wrote into the entry. */
function told(entry: Entry): Range | null {
  const covers: unknown = "covers" in entry ? entry.covers : undefined;
  if (typeof covers !== "object" || covers === null || !("fromEntryId" in covers) || !("toEntryId" in covers)) return null;
  const { fromEntryId, toEntryId } = covers;
  return typeof fromEntryId === "string" && typeof toEntryId === "string" ? { fromEntryId, toEntryId } : null;
}

/** Of a compaction that another program wrote: from what the one before it kept, up to what it keeps itself. */
async function compactionRange(session: Session, entry: Entry & { type: "compaction" }, previous: Entry | null): Promise<Range> {
  const kept = entry.firstKeptEntryId;
  const end = kept === null ? entry.parentId : (await session.entry(kept)).parentId;
  const start = previous?.type === "compaction" ? (previous.firstKeptEntryId ?? previous.id) : await firstOf(session, entry.id);
  return end === null ? UNKNOWN : { fromEntryId: start, toEntryId: end };
}

/** Of a branch summary that another program wrote: from where the paths parted to the leaf that was left. */
async function branchRange(session: Session, { fromId, parentId }: Entry & { type: "branch_summary" }): Promise<Range> {
  if (fromId === null) return UNKNOWN;
  const ancestor = parentId === null ? null : await session.commonAncestor(fromId, parentId);
  for await (const entry of session.walk({ leafId: fromId, ...(ancestor === null ? {} : { stopAt: ancestor }) })) {
    return { fromEntryId: entry.id, toEntryId: fromId };
  }
  return UNKNOWN;
}

async function firstOf(session: Session, leafId: EntryId): Promise<EntryId | null> {
  for await (const entry of session.walk({ leafId })) return entry.id;
  return null;
}
