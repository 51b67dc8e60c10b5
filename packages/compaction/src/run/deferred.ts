import { turnOf } from "../rules/turn.js";
import { compactNow } from "./compact-now.js";
import type { Engine } from "./engine.js";
import type { CompactionResult } from "./result.js";

/** Whether the agent is inside a turn: its newest prompt, tool call or tool result waits for a reply. */
export async function turnRuns({ session }: Engine): Promise<boolean> {
  return turnOf(await session.context()).open;
}

/** Runs a compaction that was asked for inside a turn, once no turn runs or a new one has just begun. */
export async function runDeferred(engine: Engine, signal: AbortSignal | undefined): Promise<CompactionResult | null> {
  const { deferred } = engine.memory;
  if (deferred === null || (await insideOldTurn(engine))) return null;
  engine.memory.deferred = null;
  return compactNow(engine, { trigger: "manual", ...deferred, signal });
}

/** A new prompt ends the turn before it; only rounds of tools mean that the old turn still runs. */
async function insideOldTurn({ session }: Engine): Promise<boolean> {
  const { open, rounds } = turnOf(await session.context());
  return open && rounds > 0;
}
