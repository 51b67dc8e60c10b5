import { AsyncLocalStorage } from "node:async_hooks";
import { BoughError, type ContextMessage, type EntryId, type ModelSetting, type Session, type SessionContext } from "@bough/session-core";
import { raceAbort } from "@bough/session-core/engine";
import { CompactorBusyError, HookResultError } from "../errors/compaction-errors.js";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { type BackOff, NO_BACK_OFF } from "../fit/back-off.js";
import { CutMemo } from "../fit/request-parts.js";
import type { BackgroundState } from "../plan/background-transitions.js";
import { type Breaker, type ContextSnapshot, INITIAL_BREAKER, nextBreaker, type Stall } from "../plan/decide.js";
import type { Trigger } from "../plan/plan-compaction.js";
import { readSettings } from "../settings/read-settings.js";
import type { CompactionSettings } from "../settings/settings.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import type { HostState } from "../summary/compose.js";
import { type Calibration, UNCALIBRATED } from "../tokens/calibration.js";
import { ContextMeter } from "../tokens/context-meter.js";
import { findModelFamily, tokenizerOf } from "../tokens/known-models.js";
import { loadCounter } from "../tokens/load-counter.js";
import type { Draft } from "./draft.js";
import type { CompactionComplete, CompactionEvent } from "./events.js";
import type { CompactorHandlers, CompactorOptions, Summarizers, SummarizersByUse } from "./options.js";
import type { CompactionFailure } from "./results.js";

/** State that a compactor keeps between calls. It is not stored; reading the session does not need it. */
interface CompactorState {
  background: BackgroundState<Draft>;
  /** The running background summary: its abort controller, and a promise that resolves when it has ended. */
  backgroundRun: { readonly abort: AbortController; readonly settled: Promise<void> } | null;
  /** Aborts the compaction that a caller awaits; null: there is none. */
  foreground: AbortController | null;
  /** The last background run started since the latest compaction; null: none. */
  backgroundStart: ContextSnapshot | null;
  stall: Stall | null;
  breaker: Breaker;
  backOff: BackOff;
  /** The last overflow that was recovered: its turn, and the newest successful reply at that time. */
  recovery: { readonly turnId: EntryId | null; readonly lastGood: EntryId | null } | null;
  /** A compaction to run at the end of the turn; null: none. */
  deferredCompaction: {
    readonly instructions: string | null;
    readonly keepFrom: EntryId | undefined;
    readonly signal: AbortSignal | undefined;
  } | null;
  contextWindow: number;
  model: ModelSetting | null;
  calibration: Calibration;
  toolTokens: number;
  systemTokens: number | undefined;
  lastRequestAtMs: number | null;
  /** The last request as it was sent; summaries in full mode repeat it, so that they read the provider's cache. */
  lastRequest: SessionContext | null;
  /** Tokens of its messages. */
  lastRequestTokens: number;
  /** By the last message of the session at each request: tokens of the messages that were sent. */
  readonly sentTokens: WeakMap<ContextMessage, number>;
  /** Requests prepared so far. */
  requests: number;
}

/** The data that the functions of a compactor share: its session, options and state, and the settings and meters made from them. */
export class Engine {
  readonly session: Session;
  readonly options: CompactorOptions;
  readonly state: CompactorState;
  #settings: CompactionSettings | undefined;
  /** By tokenizer and image rule: models that share both share a meter and the counts it caches. */
  readonly #meters = new Map<string, Promise<ContextMeter>>();
  /** Messages as they are cut for requests, by the meter that counted them. */
  readonly #cuts = new WeakMap<ContextMeter, CutMemo>();
  #lastMeter: { readonly model: string; readonly meter: ContextMeter } | null = null;

  constructor(options: CompactorOptions) {
    this.session = options.session;
    this.options = options;
    this.state = newCompactorState(options);
  }

  /**
   * The settings in force. A function given as `options.settings` is called each time; a preset or an object is validated once.
   *
   * @throws {InvalidSettingError}
   */
  settings(): CompactionSettings {
    const { settings = "balanced" } = this.options;
    if (typeof settings === "function") this.#settings = readSettings(settings());
    else this.#settings ??= readSettings(settings);
    return this.#settings;
  }

  /** The last valid settings, for code that must not throw after the session was changed. */
  get lastSettings(): CompactionSettings {
    return this.#settings ?? this.settings();
  }

  /** The summarizers for a trigger, in the order in which they are tried. */
  candidates(trigger: Trigger | "branch"): readonly Summarizer[] {
    const { summarizer = [] } = this.options;
    const chosen = "manual" in summarizer ? summarizerFor(summarizer, trigger) : summarizer;
    return typeof chosen === "function" ? [chosen] : chosen;
  }

  /** The model that answers: the one from the host, else the one of the session's path. */
  modelOf(context: SessionContext): ModelSetting | null {
    return this.state.model ?? context.model;
  }

  /** The meter with the tokenizer and image rule of this model. */
  async meter({ tokenizer }: CompactionSettings, model: ModelSetting | null): Promise<ContextMeter> {
    const name = `${tokenizer} ${model?.provider} ${model?.modelId}`;
    if (this.#lastMeter?.model === name) return this.#lastMeter.meter;
    const meter = await this.#loadMeter(tokenizer === "auto" ? tokenizerOf(model?.modelId) : tokenizer, model);
    this.#lastMeter = { model: name, meter };
    return meter;
  }

  #loadMeter(tokenizer: Parameters<typeof loadCounter>[0], model: ModelSetting | null): Promise<ContextMeter> {
    const key = `${tokenizer} ${findModelFamily(model).imageRule}`;
    const known = this.#meters.get(key);
    if (known !== undefined) return known;
    const loading = loadCounter(tokenizer).then((counter) => new ContextMeter(this.session, counter, model));
    this.#meters.set(key, loading);
    // After a failed load the next request tries again.
    loading.catch(() => this.#meters.delete(key));
    return loading;
  }

  /** The cut messages of earlier requests that this meter counted. */
  cutsOf(meter: ContextMeter): CutMemo {
    const cuts = this.#cuts.get(meter) ?? new CutMemo();
    this.#cuts.set(meter, cuts);
    return cuts;
  }

  /** Writes token counts that are not in the store yet. */
  async flush(): Promise<void> {
    for (const meter of this.#meters.values()) await (await meter).flush();
  }

  emit(event: CompactionEvent): void {
    try {
      this.options.onEvent?.(event);
    } catch {
      // An error of a listener must not stop a compaction.
    }
  }

  now(): number {
    return (this.options.now ?? Date.now)();
  }
}

function summarizerFor({ manual, automatic, branch = manual }: SummarizersByUse, trigger: Trigger | "branch"): Summarizers {
  if (trigger === "branch") return branch;
  return trigger === "manual" ? manual : automatic;
}

function newCompactorState({ contextWindow, model }: CompactorOptions): CompactorState {
  return {
    background: { at: "idle" },
    backgroundRun: null,
    foreground: null,
    backgroundStart: null,
    stall: null,
    breaker: INITIAL_BREAKER,
    backOff: NO_BACK_OFF,
    recovery: null,
    deferredCompaction: null,
    contextWindow,
    model: model ?? null,
    calibration: UNCALIBRATED,
    toolTokens: 0,
    systemTokens: undefined,
    lastRequestAtMs: null,
    lastRequest: null,
    lastRequestTokens: 0,
    sentTokens: new WeakMap(),
    requests: 0,
  };
}

/** An operation that excludes every other one on its session. */
type Operation = "compact" | "navigate" | "undo";

// Keyed by the session handle, so that two compactors of one handle exclude each other. Between processes the store does
// that: the append of the second writer fails because the leaf has moved.
const running = new WeakMap<Session, { readonly operation: Operation; readonly ended: Promise<void> }>();

// Calls from inside a hook must not wait for the operation that awaits the hook. What a hook starts and does not await goes on after it,
// and is not inside it any more.
const runningHook = new AsyncLocalStorage<{ readonly session: Session; isRunning: boolean }>();

/** The operation running on this session; undefined: none. */
export function currentOperation(session: Session): Operation | undefined {
  return running.get(session)?.operation;
}

/** True if the caller runs inside a hook of an operation on this session. */
export function isInsideHook(session: Session): boolean {
  const hook = runningHook.getStore();
  return hook?.session === session && hook.isRunning;
}

/**
 * Resolves once no operation runs on the session, whether the running one succeeds or fails. Resolves at once inside a hook.
 *
 * @throws the reason of `signal` when it is aborted meanwhile.
 */
export async function whenIdle(session: Session, signal?: AbortSignal): Promise<void> {
  if (isInsideHook(session)) return;
  for (let one = running.get(session); one !== undefined; one = running.get(session)) await raceAbort(one.ended, signal);
}

/**
 * Runs `body` while no other operation runs on the session.
 *
 * @throws {CompactorBusyError} another operation is running.
 */
export async function withSessionLock<T>(session: Session, operation: Operation, body: () => Promise<T>): Promise<T> {
  const other = running.get(session);
  if (other !== undefined) throw new CompactorBusyError(operation, other.operation);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Set before `body` starts: its first event may make the host ask for another operation.
  running.set(session, { operation, ended });
  try {
    return await body();
  } finally {
    running.delete(session);
    end();
  }
}

/**
 * Runs `work`, which takes the session lock, once no other operation holds it; tries again if another one takes it first.
 * Inside a hook it does not wait.
 *
 * @throws the reason of `signal` when it is aborted while waiting.
 * @throws {CompactorBusyError} only inside a hook: its own operation holds the lock.
 */
export async function retryWhileBusy<T>(session: Session, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  for (;;) {
    await whenIdle(session, signal);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CompactorBusyError) || isInsideHook(session)) throw error;
    }
  }
}

type HookName = keyof CompactorHandlers;
type Handler<N extends HookName> = NonNullable<CompactorHandlers[N]>;
type HookResult<N extends HookName> = Exclude<Awaited<ReturnType<Handler<N>>>, void>;

/**
 * Calls the handlers of a hook in order until one cancels, and merges their results: the first value of a field wins. A
 * handler that throws is reported by the event `hookFailed` and otherwise ignored.
 *
 * @throws the reason of `signal` when it is aborted, also while a handler is still running.
 */
export async function callHook<N extends HookName>(
  engine: Engine,
  name: N,
  about: Parameters<Handler<N>>[0],
  signal?: AbortSignal,
): Promise<HookResult<N> | undefined> {
  type AnyHandler = (given: typeof about) => Promise<HookResult<N> | undefined>;
  // The type system does not relate a handler of a generic name to its own argument and result.
  const given = (engine.options.hooks?.[name] ?? []) as AnyHandler | readonly AnyHandler[];
  let merged: HookResult<N> | undefined;
  for (const handler of typeof given === "function" ? [given] : given) {
    const result = await callGuarded(engine, name, () => handler(about), signal);
    if (result !== undefined) merged = { ...result, ...merged };
    if (typeof result === "object" && result !== null && "cancel" in result && result.cancel === true) return result;
  }
  return merged;
}

/** The host's state to carry with a summary; null: none, or the host's function threw, which is reported as for hooks. */
export async function readHostState(engine: Engine, signal?: AbortSignal): Promise<HostState | null> {
  const { hostState } = engine.options;
  return hostState === undefined ? null : ((await callGuarded(engine, "hostState", hostState, signal)) ?? null);
}

async function callGuarded<T>(
  engine: Engine,
  name: string,
  call: () => T | Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  const hook = { session: engine.session, isRunning: true };
  try {
    const result = runningHook.run(hook, async () => call());
    return (await raceAbort(result, signal)) ?? undefined;
  } catch (error) {
    signal?.throwIfAborted();
    engine.emit({ type: "hookFailed", hook: name, error });
    return undefined;
  } finally {
    hook.isRunning = false;
  }
}

/** An attempt that threw. */
interface FailedAttempt {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly background: boolean;
  /** True if the host will send the request again. */
  readonly willRetry: boolean;
}

/** Emits `compactionComplete` for an attempt that appended nothing. Its `usage` is counted too. */
export function emitNotCompacted(
  engine: Engine,
  attempt: Pick<Draft, "attemptId" | "trigger"> & { readonly usage?: Draft["usage"] },
  background: boolean,
  outcome: Exclude<CompactionComplete["outcome"], "compacted">,
  error: CompactionComplete["error"] = null,
): void {
  engine.emit({
    type: "compactionComplete",
    attemptId: attempt.attemptId,
    trigger: attempt.trigger,
    background,
    success: false,
    error,
    outcome,
    entryId: null,
    tokensBefore: null,
    tokensAfter: null,
    messagesBefore: null,
    messagesAfter: null,
    usage: attempt.usage ?? null,
    useAfter: null,
    method: null,
    fidelity: null,
    failures: [],
    requestId: null,
    checkpointPath: null,
    checkpointNumber: null,
  });
}

/**
 * Records a failed attempt: the event, the hook `compactFailed` and the breaker. Returns the result and does not throw,
 * because the failure of a summarizer must not fail the agent's turn.
 */
export async function recordFailure(engine: Engine, thrown: unknown, attempt: FailedAttempt): Promise<CompactionFailure> {
  const error = toError(thrown);
  const failure: CompactionFailure = { kind: "failed", error, attemptId: attempt.attemptId };
  const { state } = engine;
  const askedModel = !(error instanceof HookResultError);
  state.breaker = nextBreaker(state.breaker, { saved: null, askedModel });
  const status = error instanceof SummarizerCallError ? error.status : undefined;
  const eventError = { code: codeOf(error), message: error.message, ...(status === undefined ? {} : { status }) };
  emitNotCompacted(engine, attempt, attempt.background, "failed", eventError);
  await callHook(engine, "compactFailed", { ...failure, trigger: attempt.trigger, willRetry: attempt.willRetry });
  return failure;
}

/** Wraps anything that is thrown in an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(typeof thrown === "string" ? thrown : `a value of type ${typeof thrown} was thrown`, { cause: thrown });
}

/** The code of an error in events: its own, or SUMMARIZER_FAILED for an error of a host's summarizer. */
export function codeOf(error: Error): string {
  return error instanceof BoughError ? error.code : "SUMMARIZER_FAILED";
}
