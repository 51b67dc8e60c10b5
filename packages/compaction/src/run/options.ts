import type { ModelSetting, Session, Usage } from "@bough/session-core";
import type { SettingsSource } from "../settings/read-settings.js";
import type { Summarizer } from "../summarizers/summarizer.js";
import type { HostState } from "../summary/host-state.js";
import type { EventListener } from "./events.js";
import type { CompactorHooks } from "./hooks.js";

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
