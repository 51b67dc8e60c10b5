import type { ModelSetting } from "@bough/session-core";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import { type CompactionSettings, tokensOf } from "../settings/settings.js";

/** The token budget of a session. Each figure is a continuous function of the context window and never falls as it grows. */
export interface Limits {
  /** The model's context window. */
  readonly windowTokens: number;
  /** The part of it that is used: setting `window.limit`. */
  readonly limitTokens: number;
  /** The maximum size of any request: the context window, or less after the provider rejected a request. */
  readonly hardLimitTokens: number;
  /** Kept free for the next turn. */
  readonly reserveTokens: number;
  /** The context is compacted above this. */
  readonly thresholdTokens: number;
  /** The part of the threshold that messages may have: without the system prompt and the tools. */
  readonly roomTokens: number;
  /** Size of the kept tail, for `keep.by: "tokens"`. */
  readonly keepRecentTokens: number;
  /** The largest kept tail, however it is measured. */
  readonly mostKeptTokens: number;
  /** The largest summary, including file lists and notes. */
  readonly summaryTokens: number;
}

/** Tokens that every request has besides its messages. */
export interface FixedTokens {
  readonly systemTokens: number;
  readonly toolTokens: number;
  /** Tokens that the provider reported beyond our count, if the host did not report those of system prompt and tools. */
  readonly unseenTokens: number;
}

/** Token use of a context or request. */
export interface TokenUse {
  readonly systemTokens: number;
  readonly toolTokens: number;
  readonly messageTokens: number;
  /** The sum of the three, or the provider's count if that is higher. */
  readonly totalTokens: number;
  readonly limitTokens: number;
  readonly windowTokens: number;
  readonly thresholdTokens: number;
  /** `reported`: `totalTokens` is the provider's count. */
  readonly source: "counted" | "reported";
}

const NOTHING_FIXED: FixedTokens = { systemTokens: 0, toolTokens: 0, unseenTokens: 0 };

// Token counts in the settings are meant for large windows. In a small window each is bounded by a share, so that after a
// compaction kept tail and summary leave two fifths of the room free.
const MAX_RESERVE_SHARE = 0.25;
const MAX_KEPT_SHARE = 0.4;
const SUMMARY_SHARE = 0.2;
/** The smallest summary of any use, in tokens. */
const MIN_SUMMARY = 128;

/**
 * The limits of a model under these settings. Pure. `learned` lowers a limit after the provider rejected requests.
 *
 * @throws {InvalidSettingError} `contextWindow` is not a positive number.
 * @example
 * limitsOf(readSettings("pi"), 200_000, null).thresholdTokens; // 183616: the window less 16,384
 * limitsOf(readSettings("pi"), 16_384, null).thresholdTokens; // 12288: the window less a quarter
 */
export function limitsOf(
  settings: CompactionSettings,
  contextWindow: number,
  model: ModelSetting | null,
  fixed: FixedTokens = NOTHING_FIXED,
  learned: (limitTokens: number) => number = (limitTokens) => limitTokens,
): Limits {
  const override = overrideFor(settings, model);
  const windowTokens = override.contextWindow ?? contextWindow;
  if (!(Number.isFinite(windowTokens) && windowTokens >= 1)) {
    throw new InvalidSettingError("contextWindow", "must be the model's context window in tokens, above 0");
  }
  const limitTokens = learned(settings.window.limit === null ? windowTokens : tokensOf(settings.window.limit, windowTokens));
  const reserveTokens = reserveOf(settings, override.reserveTokens ?? settings.trigger.reserveTokens, limitTokens);
  const threshold = override.threshold === undefined ? settings.trigger.threshold : override.threshold;
  const { toolTokens } = fixed;
  const thresholdTokens = Math.min(
    threshold === null
      ? Math.max(1, limitTokens - reserveTokens)
      : Math.max(1, Math.min(limitTokens - 1, tokensOf(threshold, limitTokens))),
    // The margin for tools lowers the threshold too: the budget of the messages plus the tools.
    toolTokens + messageBudget({ windowTokens, limitTokens, toolTokens, toolMarginShare: settings.window.toolMarginShare }),
  );
  const roomTokens = Math.max(0, thresholdTokens - fixed.systemTokens - toolTokens - fixed.unseenTokens);
  const mostKeptTokens = Math.floor(MAX_KEPT_SHARE * roomTokens);
  return {
    windowTokens,
    limitTokens,
    hardLimitTokens: learned(windowTokens),
    reserveTokens,
    thresholdTokens,
    roomTokens,
    keepRecentTokens: Math.min(override.keepRecentTokens ?? settings.keep.recentTokens, mostKeptTokens),
    mostKeptTokens,
    summaryTokens: Math.max(MIN_SUMMARY, Math.floor(SUMMARY_SHARE * roomTokens)),
  };
}

/** Fields of "provider/model" take precedence over fields of the model alone. */
function overrideFor({ perModel }: CompactionSettings, model: ModelSetting | null): CompactionSettings["perModel"][string] {
  if (model === null) return {};
  return { ...perModel[model.modelId], ...perModel[`${model.provider ?? ""}/${model.modelId}`] };
}

/** `reserveTokens`, at most a quarter of the limit, and at least `reserveShare` of it. */
function reserveOf({ trigger }: CompactionSettings, asked: number, limitTokens: number): number {
  const tokens = Math.min(asked, Math.floor(MAX_RESERVE_SHARE * limitTokens));
  return Math.max(tokens, Math.floor(trigger.reserveShare * limitTokens));
}

/** Input of `messageBudget`, in tokens except for the share. */
interface BudgetInput {
  /** The model's context window. */
  readonly windowTokens: number;
  /** The most of it that is used (setting `window.limit`). */
  readonly limitTokens: number;
  /** Tokens of the tool definitions. */
  readonly toolTokens: number;
  /** The share that is kept free against miscounts when there are tools (setting `window.toolMarginShare`). */
  readonly toolMarginShare: number;
}

/**
 * Tokens that messages and system prompt may have: the limit less the tools, and less the margin when there are tools. At
 * least 1.
 *
 * @example
 * messageBudget({ windowTokens: 128_000, limitTokens: 100_000, toolTokens: 20_000, toolMarginShare: 0.1 }); // 72_000
 */
export function messageBudget({ windowTokens, limitTokens, toolTokens, toolMarginShare }: BudgetInput): number {
  const left = Math.min(limitTokens, windowTokens) - toolTokens;
  return Math.max(1, Math.floor(toolTokens > 0 ? left * (1 - toolMarginShare) : left));
}
