import type { ContextMessage, EntryId, ModelSetting, Session, Usage } from "@bough/session-core";
import type { Compactable, Trigger } from "../plan/plan-compaction.js";
import type { SettingsSource } from "../settings/read-settings.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import type { HostState } from "../summary/compose.js";
import type { EventListener } from "./events.js";
import type { CompactionDone, CompactionFailure, NavigationResult } from "./results.js";

/** One summariser, or several that are tried in order. */
export type Summarizers = Summarizer | readonly Summarizer[];

/** Summarisers by what asks: a person waits for the one by hand and cares for its quality, the others may be cheaper. */
export interface SummarizersByUse {
  /** `compact`. */
  readonly manual: Summarizers;
  /** Everything that runs by itself. */
  readonly automatic: Summarizers;
  /** Branches that are left. Default: `manual`. */
  readonly branch?: Summarizers | undefined;
}

/** What a compactor works with. Only `session` and `contextWindow` are needed. */
export interface CompactorOptions {
  readonly session: Session;
  /**
   * Who writes the summaries: one, several that are tried in order, or others by hand than by itself. Default: the
   * built-in extract, which needs no model and says so in what it writes.
   */
  readonly summarizer?: Summarizers | SummarizersByUse | undefined;
  /** The model's window, in tokens. */
  readonly contextWindow: number;
  /** Which model answers. Default: the one that the session's path names. */
  readonly model?: ModelSetting | undefined;
  /** A preset's name or settings; a function is asked at each check, so that a change counts at once. */
  readonly settings?: SettingsSource | (() => SettingsSource) | undefined;
  readonly hooks?: CompactorHooks | undefined;
  readonly onEvent?: EventListener | undefined;
  /** What the host wants carried with each summary: plan, todos, skills. */
  readonly hostState?: (() => HostState | Promise<HostState>) | undefined;
  /** Whether the agent offers the tools of `recallTools`, so that summaries name them. Default: whether they were made for this handle. */
  readonly recall?: boolean | undefined;
  /** A number from 0 up to 1; default `Math.random`. Only the jitter of the background start asks for it. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Waits before a new try; a test gives one that does not. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** What is known before a model call; all of it may be left out. */
export interface RequestInput {
  /** Tokens of the system prompt. Default: counted from the session's system message. */
  readonly systemTokens?: number | undefined;
  /** Tokens of the tool definitions, as `toolTokens` counts them. Default 0. */
  readonly toolTokens?: number | undefined;
  /** What the provider reported for the last call. Default: what the last reply of the context carries. */
  readonly lastUsage?: Usage | undefined;
  /**
   * Where a request does not fit whatever is left out of it: throw `RequestTooLargeError`, or return the smallest one with
   * `fits: false`, to be looked at and not to be sent. Default `throw`.
   */
  readonly tooLarge?: "throw" | "return" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is about to be compacted. */
export interface BeforeCompact {
  readonly sessionId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  readonly plan: Compactable;
  readonly previousSummary: string | null;
  readonly tokensBefore: number;
  readonly signal: AbortSignal;
}

/** A summary that a hook brings along, in place of a model's. */
export interface SuppliedCompaction {
  readonly summary: string;
  /** Default: the plan's. null: nothing is kept. It must lie on the path. */
  readonly firstKeptEntryId?: EntryId | null | undefined;
  readonly details?: unknown;
  readonly title?: string | undefined;
  readonly shortSummary?: string | undefined;
}

/** A summary of a branch that a hook brings along. */
export interface SuppliedBranchSummary {
  readonly summary: string;
  readonly details?: unknown;
}

/** What is about to be asked of the model. */
export interface Compacting {
  readonly trigger: Trigger;
  readonly messages: readonly ContextMessage[];
  readonly signal: AbortSignal;
}

/** A move of the leaf that was asked for. `abandoned`: the messages of the branch that is left. */
export interface BeforeNavigate {
  readonly sessionId: string;
  readonly from: EntryId | null;
  readonly to: EntryId | null;
  readonly summarize: boolean;
  readonly abandoned: readonly ContextMessage[];
  readonly signal: AbortSignal;
}

type MaybePromise<T> = T | Promise<T>;

/**
 * What a host may hook into: one handler for each, or several in their order. All are asked, until one cancels; of what they
 * supply the first counts. Hooks are awaited; one that throws is reported by the event `hookFailed` and counts as not
 * there. Their names are the ones of pi and oh-my-pi.
 */
export type CompactorHooks = {
  readonly [N in keyof CompactorHandlers]: CompactorHandlers[N] | readonly NonNullable<CompactorHandlers[N]>[];
};

/** One handler of each hook. */
export interface CompactorHandlers {
  /** `{ cancel: true }` stops it; `{ compaction }` is taken in place of a model's summary. */
  readonly beforeCompact?:
    | ((
        about: BeforeCompact,
      ) => MaybePromise<{ readonly cancel?: boolean | undefined; readonly compaction?: SuppliedCompaction | undefined } | undefined>)
    | undefined;
  /** `prompt` replaces the base prompt, `context` are lines the model reads besides, `preserveData` is stored with the compaction. */
  readonly compacting?:
    | ((
        about: Compacting,
      ) => MaybePromise<
        | { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined; readonly preserveData?: unknown }
        | undefined
      >)
    | undefined;
  readonly compacted?: ((done: CompactionDone) => MaybePromise<void>) | undefined;
  readonly compactFailed?:
    | ((failure: CompactionFailure & { readonly trigger: Trigger; readonly willRetry: boolean }) => MaybePromise<void>)
    | undefined;
  /** `{ cancel: true }` stops the move; `{ summary }` is taken where one was asked for. */
  readonly beforeNavigate?:
    | ((
        about: BeforeNavigate,
      ) => MaybePromise<{ readonly cancel?: boolean | undefined; readonly summary?: SuppliedBranchSummary | undefined } | undefined>)
    | undefined;
  readonly navigated?: ((result: NavigationResult) => MaybePromise<void>) | undefined;
}
