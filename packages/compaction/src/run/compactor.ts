import type { EntryId } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { CompactorBusyError, TurnRunningError } from "../errors/compaction-errors.js";
import { NO_BACK_OFF } from "../fit/back-off.js";
import { limitsOf, type TokenUse } from "../plan/limits.js";
import { UNCALIBRATED } from "../tokens/calibration.js";
import { cancelBackground } from "./background.js";
import { compactNow, isTurnRunning, runDeferredCompaction, undoCompaction } from "./compact.js";
import { readContextState } from "./context-state.js";
import { currentOperation, Engine, retryWhileBusy, whenIdle } from "./engine.js";
import { navigate } from "./navigate.js";
import {
  COMPACT,
  COMPACTOR,
  type CompactOptions,
  type CompactorOptions,
  MODEL_CHANGE,
  type ModelChange,
  NAVIGATE,
  type NavigateOptions,
  REQUEST_INPUT,
  type RequestInput,
  SIGNAL_OPTIONS,
} from "./options.js";
import { reportOverflow } from "./overflow.js";
import { keepWithinThreshold, type PreparedRequest, prepareRequest } from "./prepare-request.js";
import type { CompactionResult, NavigationResult, OverflowResult, UndoResult } from "./results.js";

/**
 * Keeps one session within a model's context window, and summarizes branches that are left. Made by `createCompactor`.
 *
 * It writes only through the session handle: its summaries and edits are ordinary entries, and nothing is deleted or
 * rewritten. Several processes may compact one session; a compaction that another one overtook ends as `superseded`.
 */
export class Compactor {
  readonly #engine: Engine;

  constructor(options: CompactorOptions) {
    rules.checkArgument("options", options, COMPACTOR);
    this.#engine = new Engine(options);
    // Validates the settings now rather than at the first long context.
    limitsOf(this.#engine.settings(), options.contextWindow, options.model ?? null);
  }

  /**
   * Call before each model call. Builds the context; according to the settings prunes old tool output, starts or applies a
   * background summary, or compacts; and drops from this request what still does not fit. A failed compaction does not fail the request.
   *
   * Cost when there is nothing to do: counting the entries appended since the last call.
   *
   * @throws the reason of `signal` when it is aborted.
   * @throws {InvalidSettingError} `options.settings` is a function and returned invalid settings.
   * @throws {RequestTooLargeError} the system prompt, tools and newest prompt alone are larger than the context window.
   * @example
   * const { context } = await compactor.prepareRequest({ toolTokens });
   * const { system, messages } = toAnthropic(context);
   */
  async prepareRequest(input: RequestInput = {}): Promise<PreparedRequest> {
    rules.checkArgument("input", input, REQUEST_INPUT);
    return prepareRequest(this.#engine, input);
  }

  /**
   * Call after a turn, so that compaction runs before the user waits for a reply: runs a deferred compaction, else the automatic check.
   * Optional: the first `prepareRequest` of the next turn does the same. null: there was nothing to do.
   */
  async turnEnded(input: RequestInput = {}): Promise<CompactionResult | null> {
    rules.checkArgument("input", input, REQUEST_INPUT);
    await whenIdle(this.#engine.session, input.signal);
    const deferred = await runDeferredCompaction(this.#engine, input.signal);
    return deferred ?? (await keepWithinThreshold(this.#engine, input, true)).compaction;
  }

  /**
   * Compacts now, at the user's request.
   *
   * @throws {CompactorBusyError} another operation is running, or a deferred compaction is pending already.
   * @throws {TurnRunningError} a turn is running and setting `manual` is `when-idle`.
   * @example
   * const result = await compactor.compact({ instructions: "Keep every decision about the parser" });
   * if (result.kind === "compacted") console.log(result.tokensBefore, result.tokensAfter);
   */
  async compact(options: CompactOptions = {}): Promise<CompactionResult> {
    rules.checkArgument("options", options, COMPACT);
    const { instructions, keepFrom, when = "now", signal } = options;
    const engine = this.#engine;
    const waits = when === "turn-end" || engine.settings().manual === "when-idle";
    if (!(waits && (await isTurnRunning(engine)))) {
      return compactNow(engine, { trigger: "manual", instructions, keepFrom, signal });
    }
    if (when !== "turn-end") throw new TurnRunningError();
    // A pending compaction was promised to its caller; only an aborted one may be replaced.
    const deferred = engine.state.deferredCompaction;
    if (deferred !== null && deferred.signal?.aborted !== true) throw new CompactorBusyError("compact", "compact");
    engine.state.deferredCompaction = { instructions: instructions ?? null, keepFrom, signal };
    return { kind: "deferred" };
  }

  /**
   * Call with the error of a rejected request, or of a reply that ended with one. If it is a context overflow, the failed
   * reply is omitted from the context, the limit is lowered, the session is compacted, and the result is `retry`: prepare
   * the request again and send it once.
   */
  async reportOverflow(error: unknown, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<OverflowResult> {
    rules.checkArgument("options", options, SIGNAL_OPTIONS);
    return reportOverflow(this.#engine, error, options.signal);
  }

  /**
   * Call before another model answers. If the context is above the threshold of its window, compacts first; null: it is
   * not. No need to call it when only the thinking level changed.
   */
  async modelChanged(change: ModelChange): Promise<CompactionResult | null> {
    rules.checkArgument("change", change, MODEL_CHANGE);
    const { model, contextWindow, toolTokens, signal } = change;
    const engine = this.#engine;
    await whenIdle(engine.session, signal);
    limitsOf(engine.settings(), contextWindow, model ?? null);
    Object.assign(engine.state, {
      contextWindow,
      model: model ?? engine.state.model,
      stall: null,
      calibration: UNCALIBRATED,
      backOff: NO_BACK_OFF,
      recovery: null,
      lastRequest: null,
    });
    const { use, limits } = await readContextState(engine, { toolTokens });
    if (use.totalTokens <= limits.thresholdTokens) return null;
    return retryWhileBusy(engine.session, signal, () => compactNow(engine, { trigger: "model_switch", signal }));
  }

  /** Call when the host is short of memory: compacts; null: a compaction is already running. */
  async memoryPressure(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<CompactionResult | null> {
    rules.checkArgument("options", options, SIGNAL_OPTIONS);
    const { background } = this.#engine.state;
    if (currentOperation(this.#engine.session) !== undefined || background.at === "running") return null;
    return compactNow(this.#engine, { trigger: "memory_pressure", signal: options.signal });
  }

  /**
   * Moves the leaf to an entry in one durable transaction; null: before the first entry. For a user or custom message the
   * leaf moves to its parent, and its text is returned to be edited and sent again. With `summarize`, a summary of the
   * abandoned branch is written first and appended at the new position. The leaf moves only for `moved`.
   *
   * @throws {EntryNotFoundError} `target` is not an entry of this session.
   * @throws {LeafMovedError} another writer moved the leaf meanwhile. Nothing was written.
   * @throws {CompactorBusyError} another operation is running: await or cancel it.
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
   * Undoes the compaction in force on this path: appends an edit that omits it, so that the context is what it was, plus
   * later entries, and an earlier compaction is in force again. The compaction stays in the history.
   */
  async undoCompaction(): Promise<UndoResult> {
    return undoCompaction(this.#engine);
  }

  /**
   * Cancels the running compaction and the background run or its finished summary; the awaited result is `cancelled`. A
   * compaction deferred to the end of the turn still runs.
   *
   * @returns whether there was anything to cancel.
   */
  abortCompaction(): boolean {
    const { foreground, background } = this.#engine.state;
    foreground?.abort();
    cancelBackground(this.#engine);
    return foreground !== null || background.at === "running" || background.at === "ready";
  }

  /** The token use of the current context. Prepares no request. */
  async usage(input: RequestInput = {}): Promise<TokenUse> {
    rules.checkArgument("input", input, REQUEST_INPUT);
    return (await readContextState(this.#engine, input)).use;
  }

  /** Cancels what runs, as `abortCompaction` does, and writes token counts that are not in the store yet. The session stays open. */
  async close(): Promise<void> {
    this.abortCompaction();
    await this.#engine.flush();
  }

  /** `close` at the end of a block: `await using compactor = createCompactor({ session })`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Creates the compactor of a session.
 *
 * @throws {InvalidSettingError} names the invalid setting.
 * @example
 * const compactor = createCompactor({ session, contextWindow: 200_000, summarizer: aiSdkSummarizer(model) });
 * const { context } = await compactor.prepareRequest();
 */
export function createCompactor(options: CompactorOptions): Compactor {
  return new Compactor(options);
}
