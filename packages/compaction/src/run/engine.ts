import { AsyncLocalStorage } from "node:async_hooks";
import { type EntryId, type ModelSetting, newEntryId, type Session, type SessionContext } from "@bough/session-core";
import { CompactorBusyError } from "../errors/compaction-errors.js";
import { type BackOff, NO_BACK_OFF } from "../fit/back-off.js";
import type { BackgroundStart, BackgroundState } from "../plan/background-state.js";
import { type Breaker, INITIAL_BREAKER } from "../plan/breaker.js";
import type { Stall } from "../plan/decide.js";
import type { Trigger } from "../plan/plan-compaction.js";
import { readSettings } from "../settings/read-settings.js";
import type { CompactionSettings } from "../settings/settings.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import { type Calibration, UNCALIBRATED } from "../tokens/calibration.js";
import { ContextMeter } from "../tokens/context-meter.js";
import { imageRuleOf } from "../tokens/image-tokens.js";
import { loadCounter } from "../tokens/load-counter.js";
import { tokenizerOf } from "../tokens/tokenizer-of.js";
import type { Draft } from "./draft.js";
import type { CompactionEvent } from "./events.js";
import type { CompactorOptions, Summarizers, SummarizersByUse } from "./options.js";
import { orAborted } from "./or-aborted.js";

/** A background run that was started: how to end it, and when it is over. */
export interface BackgroundRun {
  readonly abort: AbortController;
  readonly settled: Promise<void>;
}

/** What a compactor remembers between calls. Nothing of it is needed to understand the session. */
export interface Memory {
  background: BackgroundState<Draft>;
  backgroundRun: BackgroundRun | null;
  /** Ends the compaction that somebody waits for; null: there is none. */
  foreground: AbortController | null;
  /** The background run that was started last since the latest compaction; null: none. */
  backgroundStart: BackgroundStart | null;
  stall: Stall | null;
  breaker: Breaker;
  backOff: BackOff;
  /** The overflow that was recovered last: its turn, and the newest reply that had gone well by then. */
  recovery: { readonly turnId: EntryId | null; readonly lastGood: EntryId | null } | null;
  /** A compaction that waits for the end of the turn. */
  deferred: {
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
  /** The last request as it was sent, for full mode. */
  lastRequest: SessionContext | null;
  requests: number;
}

/** What the parts of a compactor share: its options, its memory, and what both give. */
export class Engine {
  readonly session: Session;
  readonly memory: Memory;
  #lastSettings: CompactionSettings | undefined;
  readonly #meters = new Map<string, Promise<ContextMeter>>();

  constructor(readonly options: CompactorOptions) {
    this.session = options.session;
    this.memory = newMemory(options);
  }

  /** The settings as they are now. @throws {InvalidSettingError} */
  settings(): CompactionSettings {
    const { settings = "balanced" } = this.options;
    this.#lastSettings = readSettings(typeof settings === "function" ? settings() : settings);
    return this.#lastSettings;
  }

  /** The settings as they were when they could last be read: for what must not fail any more. */
  get lastSettings(): CompactionSettings {
    this.#lastSettings ??= readSettings("balanced");
    return this.#lastSettings;
  }

  /** Who writes a summary that is asked for in this way, in the order in which they are tried. */
  candidates(trigger: Trigger | "branch"): readonly Summarizer[] {
    const { summarizer = [] } = this.options;
    const chosen = "manual" in summarizer ? summarizerFor(summarizer, trigger) : summarizer;
    return typeof chosen === "function" ? [chosen] : chosen;
  }

  /** The model that answers: the host's word, else the path's. */
  modelOf(context: SessionContext): ModelSetting | null {
    return this.memory.model ?? context.model;
  }

  /** The meter of a model: one for each way to count. */
  async meter(settings: CompactionSettings, model: ModelSetting | null): Promise<ContextMeter> {
    const tokenizer = settings.tokenizer === "auto" ? tokenizerOf(model?.modelId) : settings.tokenizer;
    const key = `${tokenizer} ${imageRuleOf(model)}`;
    const known = this.#meters.get(key);
    if (known !== undefined) return known;
    const loading = loadCounter(tokenizer).then((counter) => new ContextMeter(this.session, counter, model));
    this.#meters.set(key, loading);
    // A load that failed is tried again by the next request.
    loading.catch(() => this.#meters.delete(key));
    return loading;
  }

  /** Writes counts that are not in the store yet. */
  async flush(): Promise<void> {
    for (const meter of this.#meters.values()) await (await meter).flush();
  }

  emit(event: CompactionEvent): void {
    try {
      this.options.onEvent?.(event);
    } catch {
      // A listener draws or logs. That it fails is its own affair and must not stop a compaction half way.
    }
  }

  now(): number {
    return (this.options.now ?? Date.now)();
  }

  newAttempt(): string {
    return newEntryId();
  }
}

function summarizerFor({ manual, automatic, branch = manual }: SummarizersByUse, trigger: Trigger | "branch"): Summarizers {
  if (trigger === "branch") return branch;
  return trigger === "manual" ? manual : automatic;
}

function newMemory({ contextWindow, model }: CompactorOptions): Memory {
  return {
    background: { at: "idle" },
    backgroundRun: null,
    foreground: null,
    backgroundStart: null,
    stall: null,
    breaker: INITIAL_BREAKER,
    backOff: NO_BACK_OFF,
    recovery: null,
    deferred: null,
    contextWindow,
    model: model ?? null,
    calibration: UNCALIBRATED,
    toolTokens: 0,
    systemTokens: undefined,
    lastRequestAtMs: null,
    lastRequest: null,
    requests: 0,
  };
}

/** What takes a session for itself. */
export type Operation = "compact" | "navigate" | "undo";

// By handle and not by compactor, so that two compactors of one handle exclude each other too. Handles of other
// processes are kept apart by the store: the one that comes second finds its leaf moved.
const running = new WeakMap<Session, { readonly work: Operation; readonly over: Promise<void> }>();

/** What runs on this session; undefined: nothing. */
export function currentOperation(session: Session): Operation | undefined {
  return running.get(session)?.work;
}

// What a hook calls must not wait for the operation that waits for the hook.
const hooked = new AsyncLocalStorage<Session>();

/** Runs a hook of an operation on a session: what it calls there does not wait for that operation. */
export function runAsHook<T>(session: Session, hook: () => T): T {
  return hooked.run(session, hook);
}

/** Whether a hook of an operation on this session is what calls. */
export function isInsideHook(session: Session): boolean {
  return hooked.getStore() === session;
}

/**
 * Waits until nothing runs on the session. What ran may have failed: that is told to who started it.
 *
 * @throws the reason of `signal` when it is aborted meanwhile.
 */
export async function whenIdle(session: Session, signal?: AbortSignal): Promise<void> {
  if (isInsideHook(session)) return;
  for (let one = running.get(session); one !== undefined; one = running.get(session)) await orAborted(one.over, signal);
}

/**
 * Runs `body` while nothing else of its kind runs on the session (regressions R36 to R38, R49).
 *
 * @throws {CompactorBusyError} something runs already.
 */
export async function withSessionLock<T>(session: Session, work: Operation, body: () => Promise<T>): Promise<T> {
  const other = running.get(session);
  if (other !== undefined) throw new CompactorBusyError(work, other.work);
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Before the body begins: what it tells at once may ask for work on the session too.
  running.set(session, { work, over });
  try {
    return await body();
  } finally {
    running.delete(session);
    end();
  }
}

/**
 * Does what takes the session for itself once nothing else does, however often something else is faster. A hook of an
 * operation does not wait for that operation, and is told that it is busy.
 *
 * @throws the reason of `signal` when it is aborted while waiting.
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
