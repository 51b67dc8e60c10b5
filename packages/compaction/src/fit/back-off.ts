import type { CompactionSettings } from "../settings/settings.js";

/** The limit of a provider, as far as its refusals showed it. */
export interface BackOff {
  /** The lowest limit that an error named, in tokens; null: no error named one. */
  readonly namedLimit: number | null;
  /** Share of the limit that is kept free after errors that named no limit: 0 to `backOffShare`. */
  readonly bufferShare: number;
}

/** The state before the first refusal. */
export const NO_BACK_OFF: BackOff = { namedLimit: null, bufferShare: 0 };

// The buffer reaches `backOffShare` after three refusals, as in Copilot CLI.
const STEPS = 3;

// No model has a smaller context window, so a smaller number in an error is not a limit.
const MIN_LIMIT = 1_000;

/**
 * The state after one more refusal. If the error names a limit below the known one, that limit is adopted. Otherwise the
 * local count is too low, and the buffer grows by a third of `backOffShare`, up to `backOffShare`.
 *
 * @example
 * applyBackOff(128_000, recordRefusal(NO_BACK_OFF, 64_000, settings.request)); // 64_000
 * applyBackOff(120_000, recordRefusal(NO_BACK_OFF, undefined, settings.request)); // 100_000: a sixth less
 */
export function recordRefusal(
  state: BackOff,
  named: number | undefined,
  settings: Pick<CompactionSettings["request"], "backOffShare">,
): BackOff {
  if (named !== undefined && named >= MIN_LIMIT && named < (state.namedLimit ?? Number.POSITIVE_INFINITY)) {
    return { ...state, namedLimit: Math.floor(named) };
  }
  const bufferShare = Math.min(settings.backOffShare, state.bufferShare + settings.backOffShare / STEPS);
  return { ...state, bufferShare: Math.max(state.bufferShare, bufferShare) };
}

/** A limit after back-off, in tokens: at most `limitTokens`, at least 1. */
export function applyBackOff(limitTokens: number, { namedLimit, bufferShare }: BackOff): number {
  const known = Math.min(limitTokens, namedLimit ?? limitTokens);
  return Math.max(1, Math.floor(known * (1 - bufferShare)));
}
