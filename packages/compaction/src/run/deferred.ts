import { turnOf } from "../rules/turn.js";
import { compactNow } from "./compact-now.js";
import type { Engine } from "./engine.js";
import { inHook } from "./lock.js";
import { patiently } from "./patiently.js";
import type { CompactionResult } from "./result.js";

/** Whether the agent is inside a turn: its newest prompt, tool call or tool result waits for a reply. */
export async function turnRuns({ session }: Engine): Promise<boolean> {
  return turnOf(await session.context()).open;
}

/** Runs a compaction that was asked for inside a turn, once no turn runs or a new one has just begun. */
export async function runDeferred(engine: Engine, signal: AbortSignal | undefined): Promise<CompactionResult | null> {
  const { deferred } = engine.memory;
  // A hook of another operation is no end of a turn.
  if (deferred === null || inHook(engine.session) || (await insideOldTurn(engine))) return null;
  engine.memory.deferred = null;
  const signals = [deferred.signal, signal].filter((one) => one !== undefined);
  const order = { trigger: "manual", ...deferred, signal: AbortSignal.any(signals) } as const;
  return patiently(engine.session, signal, () => compactNow(engine, order));
}

/** A new prompt ends the turn before it; only rounds of tools mean that the old turn still runs. */
async function insideOldTurn({ session }: Engine): Promise<boolean> {
  const { open, rounds } = turnOf(await session.context());
  return open && rounds > 0;
}
