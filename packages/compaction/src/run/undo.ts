import type { EntryId } from "@bough/session-core";
import { cancelBackground } from "./background.js";
import { followLeaf } from "./checkpoint.js";
import type { Engine } from "./engine.js";
import { alone } from "./lock.js";
import { look } from "./look.js";

/** What became of an undo. `compactionId` is the compaction that no longer counts from here on. */
export type UndoResult =
  | { readonly kind: "undone"; readonly compactionId: EntryId; readonly entryId: EntryId }
  | { readonly kind: "nothing-to-undo" };

/**
 * See `Compactor.undoCompaction`. The automatic path stands still until the next turn, or it would do at once what was
 * just undone; the request guard goes on.
 */
export async function undoCompaction(engine: Engine): Promise<UndoResult> {
  return alone(engine.session, "undo", async () => {
    cancelBackground(engine);
    const { session, memory } = engine;
    const { leafId } = session;
    const { compaction } = await session.context({ leafId });
    if (compaction === null) return { kind: "nothing-to-undo" };
    const edit = { type: "context_edit", targetId: compaction.entryId, replacement: null } as const;
    const { id } = await session.append(edit, { expectedLeafId: leafId });
    const after = await look(engine);
    memory.stall = {
      because: "undone",
      turnId: after.turn.id,
      thresholdTokens: after.limits.thresholdTokens,
      usedTokens: after.use.totalTokens,
      messages: after.context.messages.length,
    };
    engine.emit({ type: "stalled", because: "undone" });
    await followLeaf(engine);
    return { kind: "undone", compactionId: compaction.entryId, entryId: id };
  });
}
