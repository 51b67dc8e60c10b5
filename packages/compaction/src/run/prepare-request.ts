import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";
import { RequestTooLargeError } from "../errors/compaction-errors.js";
import { type FittedRequest, fitRequest } from "../fit/fit-request.js";
import type { Change } from "../fit/request-parts.js";
import { type Decision, decide } from "../plan/decide.js";
import { messageBudget, type TokenUse } from "../plan/limits.js";
import { isStalled, startsAgain } from "../plan/stall.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { applyBackground, cancelBackground, startBackground, whenBackgroundSettled } from "./background.js";
import { compactNow, runDeferred } from "./compact.js";
import { type ContextState, readContextState, snapshotOf } from "./context-state.js";
import { storedThinking } from "./draft.js";
import { currentOperation, type Engine, whenIdle } from "./engine.js";
import type { RequestInput } from "./options.js";
import { pruneOldOutput } from "./prune-old-output.js";
import type { CompactionResult } from "./results.js";

/** A request that fits the window, and what was done to make it fit. */
export interface PreparedRequest {
  /** For the converters (`toAiSdk`, `toAnthropic`, `toOpenAiChat`…). Its messages are those of the request. */
  readonly context: SessionContext;
  readonly messages: readonly ContextMessage[];
  /** `entries[i]` is the id of the entry of `messages[i]`. */
  readonly entries: readonly EntryId[];
  readonly use: TokenUse;
  /** false only with `tooLarge: "return"`: the smallest possible request is larger than the window. */
  readonly fits: boolean;
  readonly done: AutomaticWork & { readonly changes: readonly Change[] };
  /** A prompt to continue with, when a compaction ran between turns and work is left (setting `autoContinue`). */
  readonly continuePrompt: string | null;
}

/** What automatic compaction did. */
export interface AutomaticWork {
  /** The last compaction that was tried; null: none. */
  readonly compaction: CompactionResult | null;
  readonly background: "none" | "started" | "running" | "applied" | "discarded";
  /** Tool results that were shortened by edits. */
  readonly pruned: number;
}

/** See `Compactor.prepareRequest`. */
export async function prepareRequest(engine: Engine, input: RequestInput): Promise<PreparedRequest> {
  input.signal?.throwIfAborted();
  await whenIdle(engine.session, input.signal);
  const deferred = engine.memory.deferred === null ? null : await runDeferred(engine, input.signal);
  const { state, compaction, background, pruned } = await keepWithinThreshold(engine, input, false, deferred);
  const fitted = fitContext(engine, state);
  const { messages, entries, changes, fits } = fitted;
  const context = { ...state.context, messages, entries };
  const use = { ...state.use, messageTokens: fitted.totalTokens, ...totalOf(state, fitted) };
  emitRequestEvents(engine, state, fitted, use);
  if (!fits && input.tooLarge !== "return") throw new RequestTooLargeError(use.totalTokens, requestLimit(state));
  engine.memory.lastRequest = context;
  engine.memory.lastRequestAtMs = engine.now();
  engine.memory.requests += 1;
  const continuePrompt = compaction?.kind === "compacted" ? compaction.continuePrompt : null;
  return { context, messages, entries, use, fits, done: { compaction, background, pruned, changes }, continuePrompt };
}

/** The most tokens of a request. With `request.fit: "off"` requests are still shortened to what the window can hold. */
function requestLimit({ settings, limits }: ContextState): number {
  return settings.request.fit === "off" ? limits.hardLimitTokens : limits.limitTokens;
}

function fitContext(engine: Engine, state: ContextState): FittedRequest {
  const { calibration } = engine.memory;
  const { counter } = state.meter;
  const { compaction } = state.context;
  return fitRequest({
    messages: state.context.messages,
    entries: state.context.entries,
    tokens: state.measured.perMessage,
    count: (message) => messageTokens(counter, message, state.model),
    // Converted to our count: the provider counts `ratio` times as many tokens, and some that we do not see.
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
    family: state.meter.family,
    known: { totalTokens: state.measured.total, largestTokens: state.measured.largest },
    summarizedThinking: compaction === null ? null : storedThinking(compaction.payload),
  });
}

/** The provider's count is about all messages; after a change only our count is right. */
function totalOf({ use }: ContextState, { totalTokens, changes }: FittedRequest): Pick<TokenUse, "totalTokens" | "source"> {
  if (changes.length === 0) return use;
  return { totalTokens: use.systemTokens + use.toolTokens + totalTokens, source: "counted" };
}

const FIXED_WARNING_SHARE = 0.8;

function emitRequestEvents(engine: Engine, state: ContextState, fitted: FittedRequest, use: TokenUse): void {
  const fixedTokens = use.systemTokens + use.toolTokens;
  if (fixedTokens >= FIXED_WARNING_SHARE * use.limitTokens)
    engine.emit({ type: "usageWarning", fixedTokens, limitTokens: use.limitTokens });
  if (fitted.changes.length > 0) {
    engine.emit({
      type: "truncation",
      tokensBefore: state.measured.total,
      tokensAfter: fitted.totalTokens,
      messagesBefore: state.context.messages.length,
      messagesAfter: fitted.messages.length,
      changes: fitted.changes,
    });
  }
  engine.emit({ type: "usageInfo", use, messages: fitted.messages.length, isInitial: engine.memory.requests === 0 });
}

/** The state as it is now, and what was done so far. */
interface Progress {
  state: ContextState;
  compaction: CompactionResult | null;
  background: AutomaticWork["background"];
  pruned: number;
  hasPruned: boolean;
}

// The longest sequence is: discard, prune, wait, apply, compact, nothing.
const MAX_STEPS = 6;

/**
 * Brings the context below its threshold as the settings say: prunes, starts, awaits or applies a background summary, or
 * compacts. At most one compaction, because a second one at once would summarize a summary; `before` is one that ran
 * just now and counts.
 *
 * @throws the reason of `signal` when it is aborted.
 */
export async function keepWithinThreshold(
  engine: Engine,
  input: RequestInput,
  between: boolean,
  before: CompactionResult | null = null,
): Promise<AutomaticWork & { readonly state: ContextState }> {
  const state = await readContextState(engine, input);
  const progress: Progress = { state, compaction: before, background: "none", pruned: 0, hasPruned: false };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    input.signal?.throwIfAborted();
    if (!(await carryOut(engine, progress, input, nextDecision(engine, progress, between)))) break;
    progress.state = await readContextState(engine, input);
  }
  input.signal?.throwIfAborted();
  if (progress.background === "none" && engine.memory.background.at === "running") progress.background = "running";
  return progress;
}

function nextDecision({ memory, options }: Engine, { state, compaction }: Progress, between: boolean): Decision {
  if (compaction !== null) return "nothing";
  const { limits, turn, context, use, settings } = state;
  const now = snapshotOf(state);
  const situation = {
    usedTokens: use.totalTokens,
    messages: context.messages.length,
    limits,
    background: memory.background.at,
    stalled: memory.stall !== null && isStalled(memory.stall, now),
    startedAlready: memory.backgroundStart !== null && !startsAgain(memory.backgroundStart, now),
    warm: turn.rounds > 0,
    turnOpen: turn.open,
    between,
  };
  return decide(situation, settings, options.random ?? Math.random);
}

/** Carries a decision out. @returns whether the state changed, so that it has to be read and decided on again. */
async function carryOut(engine: Engine, progress: Progress, input: RequestInput, decision: Decision): Promise<boolean> {
  switch (decision) {
    case "nothing":
      return false;
    case "discard":
      cancelBackground(engine, "discarded");
      // It was started too early: another one starts only after the context has grown.
      engine.memory.backgroundStart = snapshotOf(progress.state);
      progress.background = "discarded";
      return true;
    case "start-background":
      if (await pruneOnce(engine, progress)) return true;
      startBackground(engine, progress.state);
      progress.background = "started";
      return false;
    case "wait":
      await whenBackgroundSettled(engine, input.signal);
      return applyIfReady(engine, progress);
    case "apply":
      return applyIfReady(engine, progress);
    case "compact":
      if (await pruneOnce(engine, progress)) return true;
      // The user has just started an operation. This request is made to fit without a compaction.
      if (currentOperation(engine.session) !== undefined) return false;
      progress.compaction = await compactNow(engine, { trigger: "threshold", signal: input.signal });
      if (progress.compaction.kind === "failed" || progress.compaction.kind === "nothing-to-compact")
        recordStall(engine, progress.state, progress.compaction.kind);
      return true;
  }
}

/** A summary that is superseded changes nothing, and the next decision may start another. */
async function applyIfReady(engine: Engine, progress: Progress): Promise<boolean> {
  if (engine.memory.background.at !== "ready") return true;
  if (currentOperation(engine.session) !== undefined) return false;
  const result = await applyBackground(engine);
  if (result.kind !== "compacted") return true;
  progress.compaction = result;
  progress.background = "applied";
  return true;
}

/** Prunes before anything is summarized, once. @returns whether an output was shortened. */
async function pruneOnce(engine: Engine, progress: Progress): Promise<boolean> {
  if (progress.hasPruned) return false;
  progress.hasPruned = true;
  const edits = await pruneOldOutput(engine, progress.state);
  progress.pruned += edits;
  return edits > 0;
}

/** Pauses automatic compaction until `isStalled` ends the pause; requests are still made to fit. */
function recordStall(engine: Engine, state: ContextState, because: "failed" | "nothing-to-compact"): void {
  engine.memory.stall = { because, ...snapshotOf(state), turnOver: because === "failed" && !state.turn.open };
  engine.emit({ type: "stalled", because });
}
