import { type BackgroundState, startsAgain } from "../rules/background-state.js";
import { type Decision, decide } from "../rules/decide.js";
import { isStalled } from "../rules/stall.js";
import { applyBackground, backgroundSettled, cancelBackground, startBackground, startOf } from "./background.js";
import { compactNow } from "./compact-now.js";
import type { Engine } from "./engine.js";
import { workOn } from "./lock.js";
import { type Look, look } from "./look.js";
import type { RequestInput } from "./options.js";
import { pruneNow } from "./prune-now.js";
import type { CompactionResult } from "./result.js";

/** What the automatic path did on its way to a request. */
export interface AutomaticWork {
  /** The last compaction that was tried; null: none. */
  readonly compaction: CompactionResult | null;
  readonly background: "none" | "started" | "running" | "applied" | "discarded";
  /** Results whose output was taken out of the context. */
  readonly pruned: number;
}

/** A walk through the automatic path: how the session looks, and what was done so far. */
interface Walk {
  look: Look;
  compaction: CompactionResult | null;
  background: AutomaticWork["background"];
  pruned: number;
  hasPruned: boolean;
}

// Discard, prune, wait, apply, compact: no path is longer, and none comes back to where it was.
const MAX_STEPS = 6;

/**
 * Brings the context under its threshold as the settings say: prunes, starts, awaits or applies a background summary, or
 * compacts. At most one compaction, `before` included, which was asked for and ran just now: a second one at once would summarise a summary (row 123).
 *
 * @throws the reason of `signal` when it is aborted.
 */
export async function keepWithinThreshold(
  engine: Engine,
  input: RequestInput,
  between: boolean,
  before: CompactionResult | null = null,
): Promise<AutomaticWork & { readonly look: Look }> {
  const walk: Walk = { look: await look(engine, input), compaction: before, background: "none", pruned: 0, hasPruned: false };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    input.signal?.throwIfAborted();
    if (!(await take(engine, walk, input, nextDecision(engine, walk, between)))) break;
    walk.look = await look(engine, input);
  }
  input.signal?.throwIfAborted();
  if (walk.background === "none" && engine.memory.background.at === "running") walk.background = "running";
  return walk;
}

function nextDecision(engine: Engine, { look, compaction }: Walk, between: boolean): Decision {
  const { memory } = engine;
  if (compaction !== null) return "nothing";
  return decide(
    {
      usedTokens: look.use.totalTokens,
      messages: look.context.messages.length,
      limits: look.limits,
      background: memory.background.at,
      stalled: isStalled(memory.stall, {
        turnId: look.turn.id,
        thresholdTokens: look.limits.thresholdTokens,
        usedTokens: look.use.totalTokens,
        messages: look.context.messages.length,
      }),
      startedAlready: !startsAgain(memory.backgroundStart, startOf(look)),
      warm: look.turn.rounds > 0,
      turnOpen: look.turn.open,
      between,
    },
    look.settings,
    engine.options.random ?? Math.random,
  );
}

/** Does what was decided. Whether to look again. */
async function take(engine: Engine, walk: Walk, input: RequestInput, decision: Decision): Promise<boolean> {
  switch (decision) {
    case "nothing":
      return false;
    case "discard":
      cancelBackground(engine, "discarded");
      // It was started too early: the next one waits until there is more.
      engine.memory.backgroundStart = startOf(walk.look);
      walk.background = "discarded";
      return true;
    case "start-background":
      if (await prunes(engine, walk)) return true;
      startBackground(engine, walk.look);
      walk.background = "started";
      return false;
    case "wait":
      await backgroundSettled(engine, input.signal);
      return isReady(engine.memory.background) ? applies(engine, walk) : true;
    case "apply":
      return applies(engine, walk);
    case "compact":
      if (await prunes(engine, walk)) return true;
      // Somebody compacts or navigates by hand since a moment: the guard makes this one request fit.
      if (workOn(engine.session) !== undefined) return false;
      walk.compaction = await compactNow(engine, { trigger: "threshold", signal: input.signal });
      if (walk.compaction.kind === "failed" || walk.compaction.kind === "nothing-to-compact")
        stall(engine, walk.look, walk.compaction.kind);
      return true;
  }
}

function isReady(state: BackgroundState<unknown>): boolean {
  return state.at === "ready";
}

async function applies(engine: Engine, walk: Walk): Promise<boolean> {
  if (workOn(engine.session) !== undefined) return false;
  const result = await applyBackground(engine);
  // One that came too late leaves no trace, and the next look may ask for another.
  if (result.kind !== "compacted") return true;
  walk.compaction = result;
  walk.background = "applied";
  return true;
}

/** Once on a walk: old tool output goes before anything is summarised. */
async function prunes(engine: Engine, walk: Walk): Promise<boolean> {
  if (walk.hasPruned) return false;
  walk.hasPruned = true;
  const edits = await pruneNow(engine, walk.look);
  walk.pruned += edits;
  return edits > 0;
}

/** Nothing is tried again before `isStalled` says so: the request guard makes the request fit. */
function stall(engine: Engine, { turn, limits, use, context }: Look, because: "failed" | "nothing-to-compact"): void {
  const { messages } = context;
  const now = { turnId: turn.id, thresholdTokens: limits.thresholdTokens, usedTokens: use.totalTokens, messages: messages.length };
  engine.memory.stall = { because, ...now, turnOver: because === "failed" && !turn.open };
  engine.emit({ type: "stalled", because });
}
