import type { CompactionSettings } from "../settings/settings.js";

/** What refusals of a provider have taught about its limit. */
export interface BackOff {
  /** The lowest limit that an error named, in tokens; null: none did. */
  readonly namedLimit: number | null;
  /** Share of the limit that is kept free since errors named none: 0 to `backOffShare`. */
  readonly bufferShare: number;
}

/** Before the first refusal. */
export const NO_BACK_OFF: BackOff = { namedLimit: null, bufferShare: 0 };

// Copilot CLI spreads its largest buffer over the retries of a request.
const STEPS = 3;

// No model has a smaller window: a smaller number in an error is something else that was taken for a limit.
const LEAST_LIMIT = 1_000;

/**
 * The state after one more refusal. Copilot CLI's rule: a limit that the error names is adopted; else the buffer grows
 * by a step, up to `backOffShare`. An error that names no lower limit than the one we held to already teaches that our
 * counts are too low, which is the second case.
 *
 * @example
 * effectiveLimit(128_000, backOff(NO_BACK_OFF, 64_000, settings.request)); // 64_000
 * effectiveLimit(120_000, backOff(NO_BACK_OFF, undefined, settings.request)); // 100_000: a sixth less
 */
export function recordRefusal(
  state: BackOff,
  named: number | undefined,
  settings: Pick<CompactionSettings["request"], "backOffShare">,
): BackOff {
  if (named !== undefined && named >= LEAST_LIMIT && named < (state.namedLimit ?? Number.POSITIVE_INFINITY)) {
    return { ...state, namedLimit: Math.floor(named) };
  }
  const bufferShare = Math.min(settings.backOffShare, state.bufferShare + settings.backOffShare / STEPS);
  return { ...state, bufferShare: Math.max(state.bufferShare, bufferShare) };
}

/** What is left of a limit, in tokens; never more than it, at least 1. */
export function applyBackOff(limitTokens: number, { namedLimit, bufferShare }: BackOff): number {
  const known = Math.min(limitTokens, namedLimit ?? limitTokens);
  return Math.max(1, Math.floor(known * (1 - bufferShare)));
}
