import { type EntryId, LeafMovedError, type SessionContext, StoreReadOnlyError, type Write } from "@bough/session-core";
import { readSpan } from "../plan/span.js";
import { type PruneEdit, type PrunePlan, planPrune } from "../prune/plan-prune.js";
import type { ContextState } from "./context-state.js";
import type { Engine } from "./engine.js";

/**
 * Shortens old tool output in the context by edits, according to the settings; the entries keep the originals.
 *
 * @returns the number of results that were shortened.
 */
export async function pruneOldOutput(engine: Engine, state: ContextState, cacheIsCold?: boolean): Promise<number> {
  const { leafId } = engine.session;
  if (leafId === null) return 0;
  const { edits, savedTokens } = await planAt(engine, state, leafId, cacheIsCold);
  if (edits.length === 0 || !(await writeEdits(engine, leafId, edits))) return 0;
  engine.emit({ type: "pruned", edits: edits.length, savedTokens });
  return edits.length;
}

/** True if pruning at the threshold would make a compaction needless, so that none has to be prepared. */
export async function waitsForPruning(engine: Engine, state: ContextState): Promise<boolean> {
  const { leafId } = engine.session;
  if (state.settings.prune.when !== "threshold" || leafId === null) return false;
  return (await planAt(engine, state, leafId)).edits.length > 0;
}

const NOTHING: PrunePlan = { edits: [], savedTokens: 0 };

async function planAt(engine: Engine, state: ContextState, leafId: EntryId, cacheIsCold?: boolean): Promise<PrunePlan> {
  if (!state.settings.prune.enabled) return NOTHING;
  const { items } = await readSpan(engine.session, leafId, state.meter, state.shape);
  const idle = cacheIsCold ?? (await isCacheCold(engine, state));
  const settings = pruneSettingsFor(state, idle);
  return planPrune({ items, settings, idle, wantedTokens: state.use.totalTokens - lowWaterOf(state) });
}

/** The size of the context at which pruning stops. */
function lowWaterOf({ settings: { prune }, limits }: ContextState): number {
  return Math.min(prune.lowWaterTokens, prune.lowWaterShare * limits.thresholdTokens);
}

// A number of tokens in the settings is meant for large windows. In a small window it would ask for more savings than there are.
const MIN_SAVINGS_SHARE = 0.2;

/** The settings in tokens of this window. A cold cache is written anew in any case, so a pruning need not pay for that. */
function pruneSettingsFor({ settings: { prune }, limits }: ContextState, isCold: boolean): ContextState["settings"]["prune"] {
  const least = Math.min(prune.minSavingsTokens, Math.floor(MIN_SAVINGS_SHARE * limits.roomTokens));
  return {
    ...prune,
    protectTokens: Math.min(prune.protectTokens, Math.floor(prune.protectShare * limits.roomTokens)),
    minSavingsTokens: isCold ? least : Math.max(least, Math.floor(prune.minSavingsShare * limits.roomTokens)),
  };
}

/** false: another writer moved the leaf, so the plan is about another path and the next check plans again; or the store is only read. */
async function writeEdits({ session }: Engine, leafId: EntryId, edits: readonly PruneEdit[]): Promise<boolean> {
  const writes = edits.map(
    ({ targetId, replacement }): Write => ({ kind: "entry", entry: { type: "context_edit", targetId, replacement } }),
  );
  try {
    await session.write(writes, { expectedLeafId: leafId });
    return true;
  } catch (error) {
    if (error instanceof LeafMovedError || error instanceof StoreReadOnlyError) return false;
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
