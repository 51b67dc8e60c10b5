import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";
import { RequestTooLargeError } from "../errors/compaction-errors.js";
import { type FittedRequest, fitRequest } from "../fit/fit-request.js";
import type { Change } from "../fit/request-parts.js";
import { type BackgroundState, startsAgain } from "../plan/background-state.js";
import { type Decision, decide, isStalled } from "../plan/decide.js";
import { messageBudget, type TokenUse } from "../plan/limits.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { applyBackground, cancelBackground, startBackground, startOf, whenBackgroundSettled } from "./background.js";
import { compactNow, runDeferred } from "./compact.js";
import { type ContextState, readContextState } from "./context-state.js";
import { thinkingOf } from "./draft.js";
import { currentOperation, type Engine, whenIdle } from "./engine.js";
import type { RequestInput } from "./options.js";
import { pruneOldOutput } from "./prune-now.js";
import type { CompactionResult } from "./results.js";

/** A request that fits, and how it was made to. */
export interface PreparedRequest {
  /** For the converters: `toAiSdk(prepared.context)`, `toAnthropic`, `toOpenAiChat`… Its messages are the ones that fit. */
  readonly context: SessionContext;
  readonly messages: readonly ContextMessage[];
  /** `entries[i]` is the entry behind `messages[i]`. */
  readonly entries: readonly EntryId[];
  readonly use: TokenUse;
  /** false only where the input says `tooLarge: "return"`: not even everything that may be left out was enough. */
  readonly fits: boolean;
  readonly done: AutomaticWork & { readonly changes: readonly Change[] };
  /** A prompt to go on with, where a compaction came between turns and work is left. */
  readonly continuePrompt: string | null;
}

// Copilot CLI's warning: what cannot be compacted takes most of the window.
const FIXED_WARNING_SHARE = 0.8;

/** See `Compactor.prepareRequest`. */
export async function prepareRequest(engine: Engine, input: RequestInput): Promise<PreparedRequest> {
  input.signal?.throwIfAborted();
  await whenIdle(engine.session, input.signal);
  const deferred = await runDeferred(engine, input.signal);
  const { state, compaction, background, pruned } = await keepWithinThreshold(engine, input, false, deferred);
  const shaped = fitContext(engine, state);
  const context = { ...state.context, messages: shaped.messages, entries: shaped.entries };
  const use = { ...state.use, messageTokens: shaped.totalTokens, ...totalOf(state, shaped) };
  emitRequestEvents(engine, state, shaped, use);
  if (!shaped.fits && input.tooLarge !== "return") throw new RequestTooLargeError(use.totalTokens, requestLimit(state));
  engine.memory.lastRequest = context;
  engine.memory.lastRequestAtMs = engine.now();
  engine.memory.requests += 1;
  const done = { compaction, background, pruned, changes: shaped.changes };
  const continuePrompt = compaction?.kind === "compacted" ? compaction.continuePrompt : null;
  return { context, messages: shaped.messages, entries: shaped.entries, use, fits: shaped.fits, done, continuePrompt };
}

/** What a request may have at most. A guard that is off still keeps what the window cannot hold from being sent. */
function requestLimit({ settings, limits }: ContextState): number {
  return settings.request.fit === "off" ? limits.hardLimitTokens : limits.limitTokens;
}

function fitContext(engine: Engine, state: ContextState): FittedRequest {
  const { memory } = engine;
  const { calibration } = memory;
  const { counter } = state.meter;
  return fitRequest({
    messages: state.context.messages,
    entries: state.context.entries,
    tokens: state.measured.perMessage,
    count: (message) => messageTokens(counter, message, state.model),
    // Where the provider counts more than we do, or counts what we were not told of, less fits by our count.
    limitTokens: messageBudget({
      windowTokens: state.limits.windowTokens,
      limitTokens: Math.max(1, Math.floor((requestLimit(state) - calibration.unseenTokens) / calibration.ratio)),
      toolTokens: state.use.toolTokens,
      toolMarginShare: state.settings.window.toolMarginShare,
    }),
    systemTokens: state.use.systemTokens,
    settings: state.settings.request,
    windowTokens: state.limits.windowTokens,
    model: state.model,
    known: { totalTokens: state.measured.total, largestTokens: state.measured.largest },
    summarizedThinking: thinkingOf(state.context.compaction?.payload),
  });
}

/** What the provider reported is about all messages; once some are left out, only our count is right. */
function totalOf({ use }: ContextState, { totalTokens, changes }: FittedRequest): Pick<TokenUse, "totalTokens" | "source"> {
  if (changes.length === 0) return use;
  return { totalTokens: use.systemTokens + use.toolTokens + totalTokens, source: "counted" };
}

function emitRequestEvents(engine: Engine, state: ContextState, shaped: FittedRequest, use: TokenUse): void {
  const fixedTokens = use.systemTokens + use.toolTokens;
  if (fixedTokens >= FIXED_WARNING_SHARE * use.limitTokens)
    engine.emit({ type: "usageWarning", fixedTokens, limitTokens: use.limitTokens });
  if (shaped.changes.length > 0) {
    engine.emit({
      type: "truncation",
      tokensBefore: state.measured.total,
      tokensAfter: shaped.totalTokens,
      messagesBefore: state.context.messages.length,
      messagesAfter: shaped.messages.length,
      changes: shaped.changes,
    });
  }
  engine.emit({ type: "usageInfo", use, messages: shaped.messages.length, isInitial: engine.memory.requests === 0 });
}

/** What the automatic path did on its way to a request. */
export interface AutomaticWork {
  /** The last compaction that was tried; null: none. */
  readonly compaction: CompactionResult | null;
  readonly background: "none" | "started" | "running" | "applied" | "discarded";
  /** Results whose output was taken out of the context. */
  readonly pruned: number;
}

/** A walk through the automatic path: how the session looks, and what was done so far. */
interface Progress {
  state: ContextState;
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
): Promise<AutomaticWork & { readonly state: ContextState }> {
  const walk: Progress = {
    state: await readContextState(engine, input),
    compaction: before,
    background: "none",
    pruned: 0,
    hasPruned: false,
  };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    input.signal?.throwIfAborted();
    if (!(await carryOut(engine, walk, input, nextDecision(engine, walk, between)))) break;
    walk.state = await readContextState(engine, input);
  }
  input.signal?.throwIfAborted();
  if (walk.background === "none" && engine.memory.background.at === "running") walk.background = "running";
  return walk;
}

function nextDecision(engine: Engine, { state, compaction }: Progress, between: boolean): Decision {
  const { memory } = engine;
  if (compaction !== null) return "nothing";
  return decide(
    {
      usedTokens: state.use.totalTokens,
      messages: state.context.messages.length,
      limits: state.limits,
      background: memory.background.at,
      stalled: isStalled(memory.stall, {
        turnId: state.turn.id,
        thresholdTokens: state.limits.thresholdTokens,
        usedTokens: state.use.totalTokens,
        messages: state.context.messages.length,
      }),
      startedAlready: !startsAgain(memory.backgroundStart, startOf(state)),
      warm: state.turn.rounds > 0,
      turnOpen: state.turn.open,
      between,
    },
    state.settings,
    engine.options.random ?? Math.random,
  );
}

/** Does what was decided. Whether to look again. */
async function carryOut(engine: Engine, walk: Progress, input: RequestInput, decision: Decision): Promise<boolean> {
  switch (decision) {
    case "nothing":
      return false;
    case "discard":
      cancelBackground(engine, "discarded");
      // It was started too early: the next one waits until there is more.
      engine.memory.backgroundStart = startOf(walk.state);
      walk.background = "discarded";
      return true;
    case "start-background":
      if (await pruneOnce(engine, walk)) return true;
      startBackground(engine, walk.state);
      walk.background = "started";
      return false;
    case "wait":
      await whenBackgroundSettled(engine, input.signal);
      return isReady(engine.memory.background) ? applyIfFree(engine, walk) : true;
    case "apply":
      return applyIfFree(engine, walk);
    case "compact":
      if (await pruneOnce(engine, walk)) return true;
      // Somebody compacts or navigates by hand since a moment: the guard makes this one request fit.
      if (currentOperation(engine.session) !== undefined) return false;
      walk.compaction = await compactNow(engine, { trigger: "threshold", signal: input.signal });
      if (walk.compaction.kind === "failed" || walk.compaction.kind === "nothing-to-compact")
        recordStall(engine, walk.state, walk.compaction.kind);
      return true;
  }
}

function isReady(state: BackgroundState<unknown>): boolean {
  return state.at === "ready";
}

async function applyIfFree(engine: Engine, walk: Progress): Promise<boolean> {
  if (currentOperation(engine.session) !== undefined) return false;
  const result = await applyBackground(engine);
  // One that came too late leaves no trace, and the next look may ask for another.
  if (result.kind !== "compacted") return true;
  walk.compaction = result;
  walk.background = "applied";
  return true;
}

/** Once on a walk: old tool output goes before anything is summarised. */
async function pruneOnce(engine: Engine, walk: Progress): Promise<boolean> {
  if (walk.hasPruned) return false;
  walk.hasPruned = true;
  const edits = await pruneOldOutput(engine, walk.state);
  walk.pruned += edits;
  return edits > 0;
}

/** Nothing is tried again before `isStalled` says so: the request guard makes the request fit. */
function recordStall(engine: Engine, { turn, limits, use, context }: ContextState, because: "failed" | "nothing-to-compact"): void {
  const { messages } = context;
  const now = { turnId: turn.id, thresholdTokens: limits.thresholdTokens, usedTokens: use.totalTokens, messages: messages.length };
  engine.memory.stall = { because, ...now, turnOver: because === "failed" && !turn.open };
  engine.emit({ type: "stalled", because });
}
