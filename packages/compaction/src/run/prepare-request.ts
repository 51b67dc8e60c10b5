import {
  type ContextMessage,
  type EntryId,
  LeafMovedError,
  type LeftOutThinking,
  type SessionContext,
  StoreReadOnlyError,
} from "@bough/session-core";
import { CHANGED_REQUEST, countBound } from "@bough/session-core/wire";
import { RequestTooLargeError } from "../errors/compaction-errors.js";
import { type FittedRequest, fitShaped } from "../fit/fit-request.js";
import type { Change } from "../fit/request-parts.js";
import { type Decision, decide, isStalled, startsAgain } from "../plan/decide.js";
import { messageBudget, type TokenUse } from "../plan/limits.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { applyBackground, cancelBackground, startBackground, whenBackgroundSettled } from "./background.js";
import { compactNow, runDeferredCompaction } from "./compact.js";
import { type ContextState, readContextState, snapshotOf } from "./context-state.js";
import { storedThinking } from "./draft.js";
import { currentOperation, type Engine, whenIdle } from "./engine.js";
import type { RequestInput } from "./options.js";
import { pruneOldOutput, waitsForPruning } from "./prune-old-output.js";
import type { CompactionResult } from "./results.js";

/** A request made to fit the window (see `fits`), and what was done for that. */
export interface PreparedRequest {
  /** For the converters (`toAiSdk`, `toAnthropic`, `toOpenAiChat`…). Contains `messages` below. */
  readonly context: SessionContext;
  readonly messages: readonly ContextMessage[];
  /** `entries[i]` is the id of the entry of `messages[i]`. */
  readonly entries: readonly EntryId[];
  readonly use: TokenUse;
  /** false only with `tooLarge: "return"`: the smallest possible request is larger than the window. */
  readonly fits: boolean;
  /** The work for this request: compaction, background summary, shortened tool results, and changes that make it fit. */
  readonly done: AutomaticWork & { readonly changes: readonly Change[] };
  /** Signed thinking: the blocks that the request has, and those that were left out because the model would reject them, by reason. */
  readonly thinking: { readonly sent: number; readonly leftOut: readonly LeftOutBlocks[] };
  /** The provider's prompt cache. */
  readonly cache: CacheUse;
  /** A prompt to continue with, when a compaction ran between turns and work is left (setting `autoContinue`). */
  readonly continuePrompt: string | null;
}

/** The part of the provider's prompt cache that a request keeps: the messages that it shares with the request before it. In tokens. */
export interface CacheUse {
  /** The messages at the start that are those of the last request, and can be read; null: this process sent none since the last compaction. */
  readonly keptTokens: number | null;
  /** The rest of the last request: it changed, so what follows must be written again. 0: this request begins with the last one. */
  readonly lostTokens: number | null;
  /** The usage that the provider reported for the newest reply that has it; null: none has. */
  readonly reported: { readonly readTokens: number; readonly writtenTokens: number } | null;
}

/** Signed thinking blocks that a request leaves out for one reason. */
export type LeftOutBlocks = Pick<LeftOutThinking, "because" | "blocks">;

/** The work of automatic compaction. */
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
  const deferredCompaction = engine.state.deferredCompaction === null ? null : await runDeferredCompaction(engine, input.signal);
  const { state, compaction, background, pruned } = await keepWithinThreshold(engine, input, false, deferredCompaction);
  const fitted = fitContext(engine, state);
  const { messages, entries, changes, fits } = fitted;
  const context = requestContext(state, fitted);
  const use = { ...state.use, messageTokens: fitted.totalTokens, ...totalOf(state, fitted) };
  emitRequestEvents(engine, state, fitted, use);
  if (!fits && input.tooLarge !== "return") throw new RequestTooLargeError(use.totalTokens, requestLimit(state));
  const cache = cacheUseOf(engine, context, fitted);
  if (input.preview !== true) {
    engine.state.lastRequest = context;
    engine.state.lastRequestTokens = fitted.totalTokens;
    const newest = state.context.messages.at(-1);
    if (newest !== undefined) engine.state.sentTokens.set(newest, fitted.totalTokens);
    engine.state.lastRequestAtMs = engine.now();
    engine.state.requests += 1;
  }
  const continuePrompt = compaction?.kind === "compacted" ? compaction.continuePrompt : null;
  if (input.preview !== true && state.bindsThinking && (continuePrompt !== null || isChanged(state, fitted)))
    await noteChangedRequest(engine, state.context);
  const thinking = { sent: sumOf(messages.map(countBound)), leftOut: sumByReason([...state.leftOut, ...fitted.leftOut]) };
  return { context, messages, entries, use, fits, done: { compaction, background, pruned, changes }, thinking, cache, continuePrompt };
}

function cacheUseOf({ state }: Engine, context: SessionContext, { messages, tokens }: FittedRequest): CacheUse {
  const reported = reportedCache(context);
  const last = state.lastRequest?.messages;
  if (last === undefined) return { keptTokens: null, lostTokens: null, reported };
  const changed = last.findIndex((message, at) => message !== messages[at]);
  const keptTokens = sumOf(changed === -1 ? tokens.slice(0, last.length) : tokens.slice(0, changed));
  return { keptTokens, lostTokens: changed === -1 ? 0 : Math.max(0, state.lastRequestTokens - keptTokens), reported };
}

function reportedCache({ messages }: SessionContext): CacheUse["reported"] {
  const usage = messages.findLast((message) => message.role === "assistant" && message.usage?.cacheRead !== undefined);
  if (usage?.role !== "assistant") return null;
  return { readTokens: usage.usage?.cacheRead ?? 0, writtenTokens: usage.usage?.cacheWrite ?? 0 };
}

/** The context of the request. Its model is the one in force; where thinking is never bound, the converters leave none out. */
function requestContext({ context, model, settings }: ContextState, { messages, entries }: FittedRequest): SessionContext {
  const { staleThinking = [], ...rest } = context;
  const stale = settings.request.boundThinking === "never" || staleThinking.length === 0 ? {} : { staleThinking };
  return { ...rest, ...stale, model, messages, entries };
}

/** The request is not the context of its path as every request has it. */
function isChanged({ sent }: ContextState, { messages }: FittedRequest): boolean {
  return messages.length !== sent.parts.messages.length || messages.some((message, at) => message !== sent.parts.messages[at]);
}

/**
 * Notes in the session that the next reply is bound to a request that no later request begins with, so that its thinking is left out
 * of them. Without effect on the context; once for each reply. `context`: as the session has it, because a shortened request may lack
 * the newest reply, and the note below that one counts.
 */
async function noteChangedRequest({ session }: Engine, { messages, entries, compaction }: SessionContext): Promise<void> {
  const reply = entries[messages.findLastIndex(({ role }) => role === "assistant")] ?? compaction?.entryId;
  const { items } = await session.scan({ types: ["custom"], ...(reply === undefined ? {} : { stopAt: reply }) });
  if (items.some((entry) => entry.type === "custom" && entry.customType === CHANGED_REQUEST)) return;
  try {
    await session.append({ type: "custom", customType: CHANGED_REQUEST, data: {} });
  } catch (error) {
    // Another writer moved the leaf, or the store is only read; the reply cannot be appended there either.
    if (!(error instanceof LeafMovedError || error instanceof StoreReadOnlyError)) throw error;
  }
}

function sumByReason(leftOut: readonly LeftOutThinking[]): readonly LeftOutBlocks[] {
  const reasons = [...new Set(leftOut.map(({ because }) => because))];
  return reasons.map((because) => ({
    because,
    blocks: sumOf(leftOut.flatMap((one) => (one.because === because ? [one.blocks] : []))),
  }));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** The maximum size of a request, in tokens. With `request.fit: "off"`: the largest that the context window can hold. */
function requestLimit({ settings, limits }: ContextState): number {
  return settings.request.fit === "off" ? limits.hardLimitTokens : limits.limitTokens;
}

function fitContext(engine: Engine, state: ContextState): FittedRequest {
  const { calibration } = engine.state;
  const { compaction } = state.context;
  return fitShaped(state.sent, {
    count: (message) => messageTokens(state.meter.counter, message, state.model),
    // In locally counted tokens: the provider reports `ratio` times as many, plus `unseenTokens`.
    limitTokens: messageBudget({
      windowTokens: state.limits.windowTokens,
      limitTokens: Math.max(1, Math.floor((requestLimit(state) - calibration.unseenTokens) / calibration.ratio)),
      toolTokens: state.use.toolTokens,
      toolMarginShare: state.settings.window.toolMarginShare,
    }),
    systemTokens: state.use.systemTokens,
    settings: state.settings.request,
    model: state.model,
    bindsThinking: state.bindsThinking,
    cuts: engine.cutsOf(state.meter),
    summarizedThinking: compaction === null ? null : storedThinking(compaction.payload),
  });
}

/** `use` is about the shaped messages; if more was changed to make them fit, the local count is used. */
function totalOf({ use, sent }: ContextState, { totalTokens, changes }: FittedRequest): Pick<TokenUse, "totalTokens" | "source"> {
  if (changes.length === sent.changes.length) return use;
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
  engine.emit({ type: "usageInfo", use, messages: fitted.messages.length, isInitial: engine.state.requests === 0 });
}

/** Current context state and work done so far (mutable). */
interface Progress {
  state: ContextState;
  compaction: CompactionResult | null;
  background: AutomaticWork["background"];
  pruned: number;
  hasPruned: boolean;
}

// The longest sequence is: discard, prune, wait, apply, compact, nothing. A compaction follows `apply` only if the draft was
// superseded.
const MAX_STEPS = 6;

/**
 * Brings the context below its threshold according to the settings: prunes old tool output; starts, awaits or applies a
 * background summary; or compacts. At most one compaction: a second one right away would only summarize the first summary. `earlier`:
 * a compaction that has just run; it counts as the one.
 *
 * @throws the reason of `signal` when it is aborted.
 */
export async function keepWithinThreshold(
  engine: Engine,
  input: RequestInput,
  isTurnEnd: boolean,
  earlier: CompactionResult | null = null,
): Promise<AutomaticWork & { readonly state: ContextState }> {
  const state = await readContextState(engine, input);
  const progress: Progress = { state, compaction: earlier, background: "none", pruned: 0, hasPruned: false };
  if (input.cacheIsCold === true && (await pruneOnce(engine, progress, true))) progress.state = await readContextState(engine, input);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    input.signal?.throwIfAborted();
    if (!(await carryOut(engine, progress, input, nextDecision(engine, progress, isTurnEnd)))) break;
    progress.state = await readContextState(engine, input);
  }
  input.signal?.throwIfAborted();
  if (progress.background === "none" && engine.state.background.at === "running") progress.background = "running";
  return progress;
}

function nextDecision(engine: Engine, progress: Progress, isTurnEnd: boolean): Decision {
  if (progress.compaction !== null) return "nothing";
  const { background, stall, backgroundStart } = engine.state;
  const { limits, turn, context, use, settings } = progress.state;
  const now = snapshotOf(progress.state);
  const situation = {
    usedTokens: use.totalTokens,
    messages: context.messages.length,
    limits,
    background: background.at,
    stalled: isStalled(stall, now),
    startedAlready: !startsAgain(backgroundStart, now),
    warm: turn.rounds > 0,
    turnOpen: turn.open,
    isTurnEnd,
  };
  return decide(situation, settings, engine.options.random ?? Math.random);
}

/** Carries a decision out. @returns whether the state changed, so the caller must read it again and decide anew. */
async function carryOut(engine: Engine, progress: Progress, input: RequestInput, decision: Decision): Promise<boolean> {
  switch (decision) {
    case "nothing":
      return false;
    case "discard":
      cancelBackground(engine, "discarded");
      // The run was started too early: another one starts only after the context has grown.
      engine.state.backgroundStart = snapshotOf(progress.state);
      progress.background = "discarded";
      return true;
    case "start-background":
      if (await waitsForPruning(engine, progress.state)) return false;
      if (await pruneOnce(engine, progress)) return true;
      if (startBackground(engine, progress.state)) progress.background = "started";
      return false;
    case "wait":
      await whenBackgroundSettled(engine, input.signal);
      return applyIfReady(engine, progress);
    case "apply":
      return applyIfReady(engine, progress);
    case "compact":
      if (await pruneOnce(engine, progress)) return true;
      // A compaction or navigation is already running; shorten this request instead.
      if (currentOperation(engine.session) !== undefined) return false;
      progress.compaction = await compactNow(engine, { trigger: "threshold", signal: input.signal });
      if (progress.compaction.kind === "failed" || progress.compaction.kind === "nothing-to-compact")
        recordStall(engine, progress.state, progress.compaction.kind);
      return true;
  }
}

/**
 * Applies the background summary if it is ready. A superseded summary is not applied; the next decision may start another. One that
 * could not be appended is the compaction of this request.
 *
 * @returns whether to decide again; false: a compaction or navigation is already running.
 */
async function applyIfReady(engine: Engine, progress: Progress): Promise<boolean> {
  if (engine.state.background.at !== "ready") return true;
  if (currentOperation(engine.session) !== undefined) return false;
  const result = await applyBackground(engine);
  if (result.kind === "superseded") return true;
  progress.compaction = result;
  if (result.kind === "compacted") progress.background = "applied";
  return true;
}

/** Prunes old tool output before any summary, at most once per call. @returns whether an output was shortened. */
async function pruneOnce(engine: Engine, progress: Progress, cacheIsCold?: boolean): Promise<boolean> {
  if (progress.hasPruned) return false;
  const edits = await pruneOldOutput(engine, progress.state, cacheIsCold);
  progress.hasPruned = cacheIsCold !== true || edits > 0;
  progress.pruned += edits;
  return edits > 0;
}

/** Pauses automatic compaction until `isStalled` returns false; requests are still fitted. */
function recordStall(engine: Engine, state: ContextState, because: "failed" | "nothing-to-compact"): void {
  engine.state.stall = { because, ...snapshotOf(state), turnOver: because === "failed" && !state.turn.open };
  engine.emit({ type: "stalled", because });
}
