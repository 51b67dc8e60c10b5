import type { CompactionSettings } from "../settings/settings.js";

/** Outcomes of the last compactions, by which `asksModel` decides whether a model is called for the next summary. */
export interface Breaker {
  /** Consecutive compactions for which the models failed. */
  readonly failures: number;
  /** Consecutive compactions that saved less than `breaker.minSavingsShare`. */
  readonly ineffective: number;
  /** Compactions since the last one for which a model was called. */
  readonly skipped: number;
}

export const INITIAL_BREAKER: Breaker = { failures: 0, ineffective: 0, skipped: 0 };

/** Whether a model is called: always, or after too many failures or ineffective summaries only every `probeEvery` times. */
export function asksModel(breaker: Breaker, settings: CompactionSettings["breaker"]): boolean {
  const isFailing = settings.failures > 0 && breaker.failures >= settings.failures;
  const isIneffective = settings.maxIneffective > 0 && breaker.ineffective >= settings.maxIneffective;
  return !(isFailing || isIneffective) || (settings.probeEvery > 0 && breaker.skipped >= settings.probeEvery);
}

/** The outcome of a compaction. `saved`: the share of the context that it removed; null: it failed, or the models did. */
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
