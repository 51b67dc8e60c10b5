import { type CompactionPayload, type EntryId, LeafMovedError, type Session } from "@bough/session-core";
import type { Draft } from "./draft.js";

/** How often a leaf that moves on below us is followed before we give up; each time something was appended meanwhile. */
const MAX_TRIES = 20;

/** Where a draft was appended; null: it is about a branch nobody is on, or another compaction was faster. */
export interface Committed {
  readonly entryId: EntryId;
}

/**
 * Appends a draft under the leaf, if what it summarises is still on the leaf's path and no other compaction or edit came
 * between. Later messages stay behind it. Never moves a leaf, never appends elsewhere: the leaf that was judged is the
 * leaf that is appended to, or the append fails.
 */
export async function commitDraft(
  session: Session,
  draft: Draft,
  tokens: Pick<CompactionPayload, "tokensBefore" | "tokensAfter">,
): Promise<Committed | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { leafId } = session;
    if (leafId === null || !(await stillHolds(session, draft, leafId))) return null;
    try {
      const { id } = await session.append({ ...draft.payload, ...tokens }, { expectedLeafId: leafId });
      return { entryId: id };
    } catch (error) {
      if (!(error instanceof LeafMovedError)) throw error;
      // Moved by another process, which this handle has not seen: its owner has to look first.
      if (session.leafId === leafId) return null;
    }
  }
  return null;
}

async function stillHolds(session: Session, draft: Draft, leafId: EntryId): Promise<boolean> {
  if (leafId === draft.leafId) return true;
  if ((await session.commonAncestor(leafId, draft.leafId)) !== draft.leafId) return false;
  const { items } = await session.scan({ leafId, stopAt: draft.leafId, types: ["compaction", "context_edit"] });
  return !items.some((entry) => entry.type === "compaction" || (entry.type === "context_edit" && undoes(draft, entry)));
}

/** Taking out the compaction that was in force, or a message that the summary tells of, makes the summary wrong. */
function undoes(draft: Draft, edit: { readonly targetId: EntryId; readonly replacement: unknown }): boolean {
  return edit.replacement === null && (edit.targetId === draft.previousId || draft.covered.has(edit.targetId));
}
