import { type EntryId, LeafMovedError, type SessionContext, type Write } from "@bough/session-core";
import { readSpan } from "../plan/span.js";
import { type PruneEdit, planPrune } from "../prune/plan-prune.js";
import type { ContextState } from "./context-state.js";
import type { Engine } from "./engine.js";

/**
 * Shortens old tool output in the context by edits, according to the settings; the entries keep the originals.
 *
 * @returns the number of results that were shortened.
 */
export async function pruneOldOutput(engine: Engine, state: ContextState): Promise<number> {
  const { leafId } = engine.session;
  if (!state.settings.prune.enabled || leafId === null) return 0;
  const { items } = await readSpan(engine.session, leafId, state.meter, state.shape);
  const { edits, savedTokens } = planPrune({ items, settings: pruneSettingsFor(state), idle: await isCacheCold(engine, state) });
  if (edits.length === 0 || !(await writeEdits(engine, leafId, edits))) return 0;
  engine.emit({ type: "pruned", edits: edits.length, savedTokens });
  return edits.length;
}

// Token counts in the settings are meant for large windows. In a small window they would protect every result, or ask for
// more savings than there are, so both are bounded by shares of the room.
const MIN_SAVINGS_SHARE = 0.2;

function pruneSettingsFor({ settings: { prune }, limits }: ContextState): ContextState["settings"]["prune"] {
  return {
    ...prune,
    protectTokens: Math.min(prune.protectTokens, limits.mostKeptTokens),
    minSavingsTokens: Math.min(prune.minSavingsTokens, Math.floor(MIN_SAVINGS_SHARE * limits.roomTokens)),
  };
}

/** false: another writer moved the leaf, so the plan is about another path. The next check plans again. */
async function writeEdits({ session }: Engine, leafId: EntryId, edits: readonly PruneEdit[]): Promise<boolean> {
  const writes = edits.map(
    ({ targetId, replacement }): Write => ({ kind: "entry", entry: { type: "context_edit", targetId, replacement } }),
  );
  try {
    await session.write(writes, { expectedLeafId: leafId });
    return true;
  } catch (error) {
    if (error instanceof LeafMovedError) return false;
    throw error;
  }
}

/** True if the provider's cache has expired, so that an edit early in the context costs nothing more. */
async function isCacheCold(engine: Engine, { settings, context }: ContextState): Promise<boolean> {
  const last = engine.state.lastRequestAtMs ?? (await lastReplyAtMs(engine, context));
  return last !== null && engine.now() - last >= settings.prune.idleMs;
}

/** The newest reply, not the newest message: a prompt may have been written long after the last request. */
async function lastReplyAtMs({ session }: Engine, { messages, entries }: SessionContext): Promise<number | null> {
  const id = entries[messages.findLastIndex(({ role }) => role === "assistant")];
  return id === undefined ? null : (await session.entry(id)).createdAtMs;
}
