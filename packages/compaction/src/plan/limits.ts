import type { ModelSetting } from "@bough/session-core";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import type { CompactionSettings } from "../settings/settings.js";
import { tokensOf } from "../settings/trigger-settings.js";

/** How much room there is, all in tokens. Each figure is continuous in the window and never falls when the window grows. */
export interface Limits {
  /** The model's window. */
  readonly windowTokens: number;
  /** How much of it is used: the setting `window.limit`. */
  readonly limitTokens: number;
  /** What no request may exceed, whatever the settings: the window, or less where its provider refused a request. */
  readonly hardLimitTokens: number;
  /** Kept free for the next turn. */
  readonly reserveTokens: number;
  /** Above this the context is compacted. */
  readonly thresholdTokens: number;
  /** The part of the threshold that a compaction can change: what the system prompt and the tools leave of it. */
  readonly roomTokens: number;
  /** How much of the newest is kept, for `keep.by: "tokens"`. */
  readonly keepRecentTokens: number;
  /** How much of the newest is kept at most, however it is measured. */
  readonly mostKeptTokens: number;
  /** What a summary may take, with everything that stands beside its body. */
  readonly summaryTokens: number;
}

/** What is in each request beside the messages; tokens. */
export interface FixedTokens {
  readonly systemTokens: number;
  readonly toolTokens: number;
  /** What a provider counted beyond both, where the host did not tell of them. */
  readonly unseenTokens: number;
}

const NOTHING_FIXED: FixedTokens = { systemTokens: 0, toolTokens: 0, unseenTokens: 0 };

// Figures in tokens are meant for large windows. In a small one each takes at most a share, so that what is kept and its
// summary leave two fifths of the room free after a compaction.
const MOST_RESERVE_SHARE = 0.25;
const MOST_KEPT_SHARE = 0.4;
const SUMMARY_SHARE = 0.2;
/** Fewer tokens than this say nothing; where not even these have room, no compaction can help. */
const LEAST_SUMMARY = 128;

/**
 * The room that a model gives under these settings. Pure. `learned`: what refusals of its provider have made of a limit.
 *
 * @throws {InvalidSettingError} the window is no positive number.
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
  const own = overrideFor(settings, model);
  const windowTokens = own.contextWindow ?? contextWindow;
  if (!(Number.isFinite(windowTokens) && windowTokens >= 1)) {
    throw new InvalidSettingError("contextWindow", "must be the model's window in tokens, above 0");
  }
  const limitTokens = learned(settings.window.limit === null ? windowTokens : tokensOf(settings.window.limit, windowTokens));
  const reserveTokens = reserveOf(settings, own.reserveTokens ?? settings.trigger.reserveTokens, limitTokens);
  const threshold = own.threshold === undefined ? settings.trigger.threshold : own.threshold;
  const { toolTokens } = fixed;
  const thresholdTokens = Math.min(
    threshold === null
      ? Math.max(1, limitTokens - reserveTokens)
      : Math.max(1, Math.min(limitTokens - 1, tokensOf(threshold, limitTokens))),
    // VS Code's margin for tools: the messages' budget and the tools together.
    toolTokens + messageBudget({ windowTokens, limitTokens, toolTokens, toolMarginShare: settings.window.toolMarginShare }),
  );
  const roomTokens = Math.max(0, thresholdTokens - fixed.systemTokens - toolTokens - fixed.unseenTokens);
  const mostKeptTokens = Math.floor(MOST_KEPT_SHARE * roomTokens);
  return {
    windowTokens,
    limitTokens,
    hardLimitTokens: learned(windowTokens),
    reserveTokens,
    thresholdTokens,
    roomTokens,
    keepRecentTokens: Math.min(own.keepRecentTokens ?? settings.keep.recentTokens, mostKeptTokens),
    mostKeptTokens,
    summaryTokens: Math.max(LEAST_SUMMARY, Math.floor(SUMMARY_SHARE * roomTokens)),
  };
}

/** pi's `modelOverrides`: "provider/model" first, then the model alone; each member by itself. */
function overrideFor({ perModel }: CompactionSettings, model: ModelSetting | null): CompactionSettings["perModel"][string] {
  if (model === null) return {};
  return { ...perModel[model.modelId], ...perModel[`${model.provider ?? ""}/${model.modelId}`] };
}

/** A share of the limit, or a number of tokens where that is more and the limit is large enough for it. */
function reserveOf({ trigger }: CompactionSettings, asked: number, limitTokens: number): number {
  const tokens = Math.min(asked, Math.floor(MOST_RESERVE_SHARE * limitTokens));
  return Math.max(tokens, Math.floor(trigger.reserveShare * limitTokens));
}

/** What a budget for messages depends on, all in tokens but the share. */
export interface BudgetInput {
  /** The model's window. */
  readonly windowTokens: number;
  /** How much of it is used at most (setting `window.limit`, a picker of the host). */
  readonly limitTokens: number;
  /** Tokens of the tool definitions. */
  readonly toolTokens: number;
  /** Share that is kept free against miscounts, where there are tools. */
  readonly toolMarginShare: number;
}

/**
 * Tokens that messages and instructions may have. VS Code's rule: what the tools leave of the smaller of limit and
 * window, less a margin where there are tools. At least 1.
 *
 * @example
 * messageBudget({ windowTokens: 128_000, limitTokens: 100_000, toolTokens: 20_000, toolMarginShare: 0.1 }); // 72_000
 */
export function messageBudget({ windowTokens, limitTokens, toolTokens, toolMarginShare }: BudgetInput): number {
  const left = Math.min(limitTokens, windowTokens) - toolTokens;
  return Math.max(1, Math.floor(toolTokens > 0 ? left * (1 - toolMarginShare) : left));
}

/** Where the tokens of a request go. */
export interface TokenUse {
  readonly systemTokens: number;
  readonly toolTokens: number;
  readonly messageTokens: number;
  /** The sum, or what the provider reported where that is more. */
  readonly totalTokens: number;
  readonly limitTokens: number;
  readonly windowTokens: number;
  readonly thresholdTokens: number;
  /** `reported`: the provider's own count was higher than ours, and is what counts. */
  readonly source: "counted" | "reported";
}
