import type { ContextMessage, EntryId, ModelSetting, Session, Usage } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { SESSION } from "../arguments/shapes.js";
import type { Compactable, Trigger } from "../plan/plan-compaction.js";
import type { SettingsSource } from "../settings/read-settings.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import type { HostState } from "../summary/compose.js";
import type { EventListener } from "./events.js";
import type { CompactionDone, CompactionFailure, NavigationResult } from "./results.js";

/** One summarizer, or several that are tried in order. */
export type Summarizers = Summarizer | readonly Summarizer[];

/** Summarizers by kind of compaction. A user waits for `manual` and reads its summary; the others may use a cheaper model. */
export interface SummarizersByUse {
  /** For `compact`. */
  readonly manual: Summarizers;
  /** For every automatic compaction. */
  readonly automatic: Summarizers;
  /** For `navigate`. Default: `manual`. */
  readonly branch?: Summarizers | undefined;
}

/** Options of `createCompactor`. Only `session` and `contextWindow` are required. */
export interface CompactorOptions {
  readonly session: Session;
  /**
   * Writes the summaries: one summarizer, several that are tried in order, or one for each use. Default: the built-in
   * extract, which needs no model and labels its summaries as extracts.
   */
  readonly summarizer?: Summarizers | SummarizersByUse | undefined;
  /** The model's context window, in tokens. */
  readonly contextWindow: number;
  /** The model that answers. Default: the model that the session's path names. */
  readonly model?: ModelSetting | undefined;
  /** A preset's name, or settings. A function is called at each check, so that a changed setting applies at once. */
  readonly settings?: SettingsSource | (() => SettingsSource) | undefined;
  readonly hooks?: CompactorHooks | undefined;
  readonly onEvent?: EventListener | undefined;
  /** State of the host to carry with each summary: plan, todos, skills. Called once for each summary. */
  readonly hostState?: (() => HostState | Promise<HostState>) | undefined;
  /** True if summaries name the tools of `recallTools`. Default: true if these tools were made for this session handle. */
  readonly recall?: boolean | undefined;
  /** A number from 0 up to 1; default `Math.random`. Used only for `background.jitterShare`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Waits before a retry of a summarizer. Tests pass one that resolves at once. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Input of `prepareRequest`, `turnEnded` and `usage`. Every field may be omitted. */
export interface RequestInput {
  /** Tokens of the system prompt. Default: counted from the session's system message. */
  readonly systemTokens?: number | undefined;
  /** Tokens of the tool definitions, as `toolTokens` counts them. Default 0. */
  readonly toolTokens?: number | undefined;
  /** The usage that the provider reported for the last call. Default: the usage of the newest reply in the context. */
  readonly lastUsage?: Usage | undefined;
  /**
   * When the smallest possible request is still larger than the window: throw `RequestTooLargeError`, or return that
   * request with `fits: false` for inspection; the provider would reject it. Default `throw`.
   */
  readonly tooLarge?: "throw" | "return" | undefined;
  /**
   * True: the provider's prompt cache has expired, for example after a pause, so this request writes it anew whatever it begins with;
   * old tool output is then pruned below the threshold too. Default: by the setting `prune.idleMs` and the time of the last request,
   * which prunes only where it would be pruned in any case.
   */
  readonly cacheIsCold?: boolean | undefined;
  /** The request is only looked at: nothing is noted in the session for the reply to it, and it does not count as the last request. */
  readonly preview?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of `compact`. */
export interface CompactOptions {
  /** The topics on which the summary should focus. */
  readonly instructions?: string | undefined;
  /**
   * Keep this entry and everything after it, regardless of the settings, and summarize what is before it. It must be on the
   * leaf's path. A path cannot be cut before a tool result; then its call is kept too.
   */
  readonly keepFrom?: EntryId | undefined;
  /** `turn-end`: while a turn is running, defer the compaction to its end and return `deferred`. Default `now`. */
  readonly when?: "now" | "turn-end" | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Input of `modelChanged`: the model that will answer from now on. */
export interface ModelChange {
  readonly model?: ModelSetting | undefined;
  /** Its context window, in tokens. */
  readonly contextWindow: number;
  readonly toolTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of `navigate`. */
export interface NavigateOptions {
  /** Summarize the abandoned branch and append the summary to the branch that is entered. Default: setting `branch.summarize`. */
  readonly summarize?: boolean | undefined;
  /** The topics on which the summary should focus. */
  readonly instructions?: string | undefined;
  /** Use `instructions` as the whole prompt instead of adding them to the built-in one. */
  readonly replaceInstructions?: boolean | undefined;
  /** A label for the summary's entry; without a summary, for the chosen entry. */
  readonly label?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const SIGNAL = rules.optional(rules.withMethods("an AbortSignal", "addEventListener", "throwIfAborted"));
const TOKENS = rules.optional(rules.AMOUNT);
const MODEL = rules.optional(rules.nullable(rules.record({ modelId: rules.TEXT, provider: rules.optional(rules.TEXT) })));

/** Options with only a signal. */
export const SIGNAL_OPTIONS = rules.record({ signal: SIGNAL });
const USAGE = rules.record({ input: TOKENS, output: TOKENS, cacheRead: TOKENS, cacheWrite: TOKENS, totalTokens: TOKENS });
export const REQUEST_INPUT = rules.options({
  systemTokens: TOKENS,
  toolTokens: TOKENS,
  lastUsage: rules.optional(USAGE),
  tooLarge: rules.optional(rules.oneOf("throw", "return")),
  cacheIsCold: rules.optional(rules.FLAG),
  preview: rules.optional(rules.FLAG),
  signal: SIGNAL,
} satisfies rules.RulesOf<RequestInput>);
export const COMPACT = rules.options({
  instructions: rules.optional(rules.TEXT),
  keepFrom: rules.optional(rules.TEXT),
  when: rules.optional(rules.oneOf("now", "turn-end")),
  signal: SIGNAL,
} satisfies rules.RulesOf<CompactOptions>);
/** `ModelChange`. The value of its window is validated with the settings. */
export const MODEL_CHANGE = rules.options({
  model: MODEL,
  contextWindow: rules.NUMBER,
  toolTokens: TOKENS,
  signal: SIGNAL,
} satisfies rules.RulesOf<ModelChange>);
export const NAVIGATE = rules.options({
  summarize: rules.optional(rules.FLAG),
  instructions: rules.optional(rules.TEXT),
  replaceInstructions: rules.optional(rules.FLAG),
  label: rules.optional(rules.TEXT),
  signal: SIGNAL,
} satisfies rules.RulesOf<NavigateOptions>);

const LIST = rules.list(rules.CALLBACK, "a function, or an array of them");
const SUMMARIZERS: typeof LIST = (value, at) => (typeof value === "function" ? undefined : LIST(value, at));
const BY_USE = rules.record({ manual: SUMMARIZERS, automatic: SUMMARIZERS, branch: rules.optional(SUMMARIZERS) });
const isByUse = (value: unknown) => typeof value === "object" && value !== null && ("manual" in value || "automatic" in value);
export const COMPACTOR = rules.options(
  {
    session: SESSION,
    summarizer: rules.optional((value, at) => (isByUse(value) ? BY_USE(value, at) : SUMMARIZERS(value, at))),
    contextWindow: rules.NUMBER,
    model: MODEL,
    settings: rules.ANY,
    hooks: rules.optional(rules.OBJECT),
    onEvent: rules.optional(rules.CALLBACK),
    hostState: rules.optional(rules.CALLBACK),
    recall: rules.optional(rules.FLAG),
    random: rules.optional(rules.CALLBACK),
    now: rules.optional(rules.CALLBACK),
    sleep: rules.optional(rules.CALLBACK),
  } satisfies rules.RulesOf<CompactorOptions>,
  "an object such as { session, contextWindow: 200_000 }",
);

/** The result of a hook: a value or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Hooks of a compactor: for each name one handler, or several that are called in order and awaited. Handlers run until one
 * cancels; of the results they supply the first wins. A handler that throws is reported by the event `hookFailed` and
 * otherwise ignored.
 */
export type CompactorHooks = {
  readonly [N in keyof CompactorHandlers]: CompactorHandlers[N] | readonly NonNullable<CompactorHandlers[N]>[];
};

/** One handler of each hook. */
export interface CompactorHandlers {
  /** Before a summary is written. `{ cancel: true }` cancels the compaction; `{ compaction }` is used instead of a model's summary. */
  readonly beforeCompact?:
    | ((
        about: BeforeCompact,
      ) => MaybePromise<{ readonly cancel?: boolean | undefined; readonly compaction?: SuppliedCompaction | undefined } | undefined>)
    | undefined;
  /**
   * Before the model is called. `prompt` replaces the base prompt, `context` lines are added to it, `preserveData` is
   * stored with the compaction.
   */
  readonly compacting?:
    | ((
        about: Compacting,
      ) => MaybePromise<
        | { readonly prompt?: string | undefined; readonly context?: readonly string[] | undefined; readonly preserveData?: unknown }
        | undefined
      >)
    | undefined;
  /** After a compaction was appended. */
  readonly compacted?: ((done: CompactionDone) => MaybePromise<void>) | undefined;
  /** After a compaction failed. `willRetry`: it was started by an overflow, and the host sends the request again. */
  readonly compactFailed?:
    | ((failure: CompactionFailure & { readonly trigger: Trigger; readonly willRetry: boolean }) => MaybePromise<void>)
    | undefined;
  /** Before the leaf moves. `{ cancel: true }` cancels the move; `{ summary }` is used where a summary was asked for. */
  readonly beforeNavigate?:
    | ((
        about: BeforeNavigate,
      ) => MaybePromise<{ readonly cancel?: boolean | undefined; readonly summary?: SuppliedBranchSummary | undefined } | undefined>)
    | undefined;
  /** After the leaf moved. */
  readonly navigated?: ((result: NavigationResult) => MaybePromise<void>) | undefined;
}

/** Argument of the hook `beforeCompact`. */
export interface BeforeCompact {
  readonly sessionId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  readonly plan: Compactable;
  readonly previousSummary: string | null;
  readonly tokensBefore: number;
  readonly signal: AbortSignal;
}

/** A summary supplied by the hook `beforeCompact`. */
export interface SuppliedCompaction {
  readonly summary: string;
  /** The first entry of the kept tail; it must be on the path. Default: the plan's. null: nothing is kept. */
  readonly firstKeptEntryId?: EntryId | null | undefined;
  readonly details?: unknown;
  readonly title?: string | undefined;
  readonly shortSummary?: string | undefined;
}

/** Argument of the hook `compacting`. */
export interface Compacting {
  readonly trigger: Trigger;
  readonly messages: readonly ContextMessage[];
  readonly signal: AbortSignal;
}

/** Argument of the hook `beforeNavigate`. `abandoned`: the messages of the branch that is left. */
export interface BeforeNavigate {
  readonly sessionId: string;
  readonly from: EntryId | null;
  readonly to: EntryId | null;
  readonly summarize: boolean;
  readonly abandoned: readonly ContextMessage[];
  readonly signal: AbortSignal;
}

/** A branch summary supplied by the hook `beforeNavigate`. */
export interface SuppliedBranchSummary {
  readonly summary: string;
  readonly details?: unknown;
}
