import type { EntryId, ModelSetting } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { COMPACT, COMPACTOR, MODEL_CHANGE, NAVIGATE, REQUEST_INPUT, SIGNAL_OPTIONS } from "../arguments/shapes.js";
import { CompactorBusyError, TurnRunningError } from "../errors/compaction-errors.js";
import { NO_BACK_OFF } from "../fit/back-off.js";
import { limitsOf, type TokenUse } from "../plan/limits.js";
import { UNCALIBRATED } from "../tokens/calibration.js";
import { cancelBackground } from "./background.js";
import { compactNow, isTurnRunning, runDeferred, type UndoResult, undoCompaction } from "./compact.js";
import { readContextState } from "./context-state.js";
import { currentOperation, Engine, retryWhileBusy, whenIdle } from "./engine.js";
import { navigate } from "./navigate.js";
import type { CompactorOptions, RequestInput } from "./options.js";
import { type OverflowResult, reportOverflow } from "./overflow.js";
import { keepWithinThreshold, type PreparedRequest, prepareRequest } from "./prepare-request.js";
import type { CompactionResult, NavigateOptions, NavigationResult } from "./results.js";

/** How a compaction by hand is asked for. */
export interface CompactOptions {
  /** What the summary should look at. */
  readonly instructions?: string | undefined;
  /**
   * Summarise what stands before this entry, and keep it and all behind it, whatever the settings keep. It must be on the
   * leaf's path; where a path may not be cut before it (a tool result), its call is kept too.
   */
  readonly keepFrom?: EntryId | undefined;
  /** `turn-end`: where a turn is running, run when it is over; the result is `deferred`. Default `now`. */
  readonly when?: "now" | "turn-end" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The model that will answer from now on. */
export interface ModelChange {
  readonly model?: ModelSetting | undefined;
  /** Its window, in tokens. */
  readonly contextWindow: number;
  readonly toolTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keeps one session inside a model's window, and carries work across when a branch is left. Made by `createCompactor`.
 *
 * It works through the session's handle only: what it appends are entries like any other, and nothing is deleted or
 * rewritten. Several may work on one session in several processes; whoever comes second finds its result superseded.
 */
export class Compactor {
  readonly #engine: Engine;

  constructor(options: CompactorOptions) {
    rules.checkArgument("options", options, COMPACTOR);
    this.#engine = new Engine(options);
    // Wrong settings are told at once, and not at the first long context.
    limitsOf(this.#engine.settings(), options.contextWindow, options.model ?? null);
  }

  /**
   * To be called before each model call: builds the context, prunes, starts or applies a background summary or compacts
   * as the settings say, and leaves out of this request what does not fit. A failed compaction does not fail the request.
   *
   * Cost after an append, when nothing has to be done: what is new.
   *
   * @throws the reason of `signal` when it is aborted. @throws {InvalidSettingError} settings read live are wrong.
   * @throws {RequestTooLargeError} system prompt, tools and the newest prompt alone are more than the window holds.
   * @example
   * const { context } = await compactor.prepareRequest({ toolTokens });
   * const { system, messages } = toAnthropic(context);
   */
  async prepareRequest(input: RequestInput = {}): Promise<PreparedRequest> {
    rules.checkArgument("input", input, REQUEST_INPUT);
    return prepareRequest(this.#engine, input);
  }

  /**
   * To be called when a turn is over: runs a compaction that was deferred, else the automatic check. It moves the work to
   * where nobody waits. An agent that never calls it has the same done by the first `prepareRequest` of the next turn,
   * whatever the preset. null: nothing was to be done.
   */
  async turnEnded(input: RequestInput = {}): Promise<CompactionResult | null> {
    rules.checkArgument("input", input, REQUEST_INPUT);
    await whenIdle(this.#engine.session, input.signal);
    const deferred = await runDeferred(this.#engine, input.signal);
    return deferred ?? (await keepWithinThreshold(this.#engine, input, true)).compaction;
  }

  /**
   * Compacts now, by hand.
   *
   * @throws {CompactorBusyError} another compaction or a navigation is running, or one waits for the end of the turn already.
   * @throws {TurnRunningError} a turn is running and setting `manual` is `when-idle`.
   * @example
   * const result = await compactor.compact({ instructions: "Keep every decision about the parser" });
   * if (result.kind === "compacted") console.log(result.tokensBefore, result.tokensAfter);
   */
  async compact(options: CompactOptions = {}): Promise<CompactionResult> {
    rules.checkArgument("options", options, COMPACT);
    const { instructions, keepFrom, when = "now", signal } = options;
    const engine = this.#engine;
    const running = when === "turn-end" || engine.settings().manual === "when-idle" ? await isTurnRunning(engine) : false;
    if (running && when === "turn-end") {
      const waiting = engine.memory.deferred;
      // One that waits was promised to its caller; only one that was cancelled meanwhile gives way.
      if (waiting !== null && waiting.signal?.aborted !== true) throw new CompactorBusyError("compact", "compact");
      engine.memory.deferred = { instructions: instructions ?? null, keepFrom, signal };
      return { kind: "deferred" };
    }
    if (running) throw new TurnRunningError();
    return compactNow(engine, { trigger: "manual", instructions, keepFrom, signal });
  }

  /**
   * Tells that the provider refused a request, or that a reply ended with such an error. Where that means a context that
   * is too long, the failed attempt leaves the context, the limit is lowered, the session is compacted, and the answer
   * is `retry`: prepare the request again and send it, once.
   */
  async reportOverflow(error: unknown, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<OverflowResult> {
    rules.checkArgument("options", options, SIGNAL_OPTIONS);
    return reportOverflow(this.#engine, error, options.signal);
  }

  /**
   * To be called before another model answers. Where the context does not fit its window it is compacted first, by the
   * summariser of the old one; null: it fits. Only the level of thinking changed: no need to call.
   */
  async modelChanged(change: ModelChange): Promise<CompactionResult | null> {
    rules.checkArgument("change", change, MODEL_CHANGE);
    const { model, contextWindow, toolTokens, signal } = change;
    await whenIdle(this.#engine.session, signal);
    const { memory } = this.#engine;
    limitsOf(this.#engine.settings(), contextWindow, model ?? null);
    Object.assign(memory, {
      contextWindow,
      model: model ?? memory.model,
      stall: null,
      calibration: UNCALIBRATED,
      backOff: NO_BACK_OFF,
      recovery: null,
      lastRequest: null,
    });
    const { use, limits } = await readContextState(this.#engine, { toolTokens });
    if (use.totalTokens <= limits.thresholdTokens) return null;
    return retryWhileBusy(this.#engine.session, signal, () => compactNow(this.#engine, { trigger: "model_switch", signal }));
  }

  /** Compacts because the host is short of memory; null where a compaction is running already. */
  async memoryPressure(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<CompactionResult | null> {
    rules.checkArgument("options", options, SIGNAL_OPTIONS);
    const { background } = this.#engine.memory;
    if (currentOperation(this.#engine.session) !== undefined || background.at === "running") return null;
    return compactNow(this.#engine, { trigger: "memory_pressure", signal: options.signal });
  }

  /**
   * Moves the leaf to an entry, at once and durably; null: before the first entry. A chosen user or custom message is to
   * be said again: the leaf goes to its parent and its text comes back. With `summarize`, first a summary of the branch
   * that is left is written, and put on the branch that is entered. Cancelled or failed: the leaf has not moved.
   *
   * @throws {EntryNotFoundError | LeafMovedError} nothing was written.
   * @throws {CompactorBusyError} a compaction is running: wait for it or cancel it.
   * @example
   * const result = await compactor.navigate(question.id, { summarize: true });
   * if (result.kind === "moved" && result.text !== null) editor.insert(result.text);
   */
  async navigate(target: EntryId | null, options: NavigateOptions = {}): Promise<NavigationResult> {
    rules.checkArgument("target", target, rules.nullable(rules.TEXT));
    rules.checkArgument("options", options, NAVIGATE);
    return navigate(this.#engine, target, options);
  }

  /**
   * Takes the compaction in force back, on this path only: from here on the context is what it was, later entries
   * included, and the compaction before it counts again. The compaction stays in the history.
   */
  async undoCompaction(): Promise<UndoResult> {
    return undoCompaction(this.#engine);
  }

  /**
   * Cancels the compaction that runs, whoever asked for it, and the background run or its finished result; whoever waits gets
   * `cancelled`. false: there was none. One that is deferred to the end of the turn still comes.
   */
  abortCompaction(): boolean {
    const { foreground, background } = this.#engine.memory;
    foreground?.abort();
    cancelBackground(this.#engine);
    return foreground !== null || background.at === "running" || background.at === "ready";
  }

  /** How full the window is now, without preparing a request. */
  async usage(input: RequestInput = {}): Promise<TokenUse> {
    rules.checkArgument("input", input, REQUEST_INPUT);
    return (await readContextState(this.#engine, input)).use;
  }

  /** Cancels a background run and writes token counts that are not in the store yet. The session stays open. */
  async close(): Promise<void> {
    cancelBackground(this.#engine);
    await this.#engine.flush();
  }
}

/**
 * One compactor for one session.
 *
 * @throws {InvalidSettingError} naming the setting that is wrong.
 * @example
 * const compactor = createCompactor({ session, contextWindow: 200_000, summarizer: aiSdkSummarizer(model) });
 * const { context } = await compactor.prepareRequest();
 */
export function createCompactor(options: CompactorOptions): Compactor {
  return new Compactor(options);
}
