import type { ModelSetting } from "@bough/session-core";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import type { CompactionSettings } from "../settings/settings.js";
import { tokensOf } from "../settings/units.js";
import { messageBudget } from "./message-budget.js";

/** How much room there is, all in tokens. */
export interface Limits {
  /** The model's window. */
  readonly windowTokens: number;
  /** How much of it is used: the setting `window.limit`. */
  readonly limitTokens: number;
  /** Kept free for the next turn; where the setting does not fit the limit, 15 % of the limit. */
  readonly reserveTokens: number;
  /** Above this the context is compacted. */
  readonly thresholdTokens: number;
  /** How much of the newest is kept, for `keep.by: "tokens"`. */
  readonly keepRecentTokens: number;
}

// oh-my-pi's: a small window cannot give up a reserve meant for a large one.
const SMALL_WINDOW_SHARE = 0.15;

/**
 * The room that a model gives under these settings. Pure. `learned`: what refusals of its provider have made of a limit.
 *
 * @throws {InvalidSettingError} the window is no positive number.
 */
export function limitsOf(
  settings: CompactionSettings,
  contextWindow: number,
  model: ModelSetting | null,
  toolTokens = 0,
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
  return {
    windowTokens,
    limitTokens,
    reserveTokens,
    thresholdTokens: Math.min(
      threshold === null ? limitTokens - reserveTokens : Math.max(1, Math.min(limitTokens - 1, tokensOf(threshold, limitTokens))),
      // VS Code's margin for tools: the messages' budget and the tools together.
      toolTokens + messageBudget({ windowTokens, limitTokens, toolTokens, toolMarginShare: settings.window.toolMarginShare }),
    ),
    keepRecentTokens: own.keepRecentTokens ?? settings.keep.recentTokens,
  };
}

/** pi's `modelOverrides`: "provider/model" first, then the model alone; each member by itself. */
function overrideFor({ perModel }: CompactionSettings, model: ModelSetting | null): CompactionSettings["perModel"][string] {
  if (model === null) return {};
  return { ...perModel[model.modelId], ...perModel[`${model.provider ?? ""}/${model.modelId}`] };
}

function reserveOf({ trigger }: CompactionSettings, asked: number, limitTokens: number): number {
  const reserve = Math.max(asked, Math.floor(trigger.reserveShare * limitTokens));
  return reserve < limitTokens ? reserve : Math.max(1, Math.floor(SMALL_WINDOW_SHARE * limitTokens));
}
