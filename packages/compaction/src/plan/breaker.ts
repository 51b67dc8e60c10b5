import type { CompactionSettings } from "../settings/settings.js";

/** How the last compactions went. */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number;
  /** In a row, those that saved next to nothing. */
  readonly ineffective: number;
  /** Compactions for which no model was asked, since one last was. */
  readonly skipped: number;
}

/** All is well. */
export const INITIAL_BREAKER: Breaker = { failures: 0, ineffective: 0, skipped: 0 };

/** Whether a model is asked this time. co-cli's rule: after failures or savings of nothing only every so many times. */
export function asksModel(breaker: Breaker, settings: CompactionSettings["breaker"]): boolean {
  const failing = settings.failures > 0 && breaker.failures >= settings.failures;
  const thrashing = settings.maxIneffective > 0 && breaker.ineffective >= settings.maxIneffective;
  return !(failing || thrashing) || (settings.probeEvery > 0 && breaker.skipped >= settings.probeEvery);
}

/** How one went: `saved` is the share of the context that it saved; null: it failed, or its models did. */
export interface Outcome {
  readonly saved: number | null;
  readonly askedModel: boolean;
}

/** The breaker after a compaction. */
export function nextBreaker(breaker: Breaker, { saved, askedModel }: Outcome, settings: CompactionSettings["breaker"]): Breaker {
  if (!askedModel) return { ...breaker, skipped: breaker.skipped + 1 };
  if (saved === null) return { ...breaker, failures: breaker.failures + 1, skipped: 0 };
  return { failures: 0, skipped: 0, ineffective: saved < settings.minSavingsShare ? breaker.ineffective + 1 : 0 };
}
