import { z } from "zod";

/** A number of tokens. */
export const tokens = z.int().min(0);
/** A part of a whole: 0 to 1. */
export const share = z.number().min(0).max(1);
/** A number of things or characters. */
export const count = z.int().min(0);
/** A time in milliseconds. */
export const ms = z.int().min(0);

/**
 * A share of the window (above 0, at most 1) or a number of tokens (100 or more). A number between could mean either and is
 * rejected.
 */
const shareOrTokens = z
  .number()
  .refine(
    (given) => (given > 0 && given <= 1) || given >= 100,
    "must be a share of the window (above 0, at most 1) or tokens (100 or more)",
  );

/** The tokens that a `shareOrTokens` means in a window. */
export function tokensOf(given: number, windowTokens: number): number {
  return Math.floor(given <= 1 ? given * windowTokens : Math.min(given, windowTokens));
}

/** Settings of the part of the context window that is used. */
export const windowSettings = z.strictObject({
  limit: shareOrTokens
    .nullable()
    .default(null)
    .describe("Use only this much of the context window (the limit): a share of it, or tokens. null: all of it."),
  toolMarginShare: share
    .default(0)
    .describe("When there are tools, keep this share of what they leave of the limit free, because tool definitions are often miscounted."),
});

/** Settings of the time at which a context is compacted. */
export const triggerSettings = z.strictObject({
  reserveTokens: tokens
    .default(16_384)
    .describe("Tokens kept free for the next turn: the threshold is the limit less this. At most a quarter of the limit."),
  reserveShare: share.default(0.15).describe("The reserve is at least this share of the limit. 0: only `reserveTokens` counts."),
  threshold: shareOrTokens
    .nullable()
    .default(null)
    .describe("The threshold itself, instead of a reserve: a share of the limit, or tokens (at most the limit less one)."),
  maxMessages: count.default(0).describe("Also compact above this many messages. 0: messages are not counted."),
  minMessages: count.default(4).describe("Automatic compaction ignores a context with fewer messages."),
  manualMinMessages: count.default(2).describe("The same for a compaction by hand or because of memory pressure."),
  headroomShare: share
    .default(0.8)
    .describe(
      "After a compaction, messages should take at most this share of their room (the threshold less system prompt and tools). If they take more, automatic compaction pauses until the context, turn or model changed.",
    ),
});

/** Settings of summaries that are written in the background, before they are needed. */
export const backgroundSettings = z.strictObject({
  start: share
    .nullable()
    .default(0.8)
    .describe("Start a background summary at this share of the limit, or at 95 % of the threshold if that is less. null: not by share."),
  jitterShare: share.default(0.02).describe("Vary `start` at random by up to this share, so that parallel sessions do not start at once."),
  coldStart: share
    .nullable()
    .default(null)
    .describe(
      "Start at this share instead while the provider's cache is cold (before the first round of tool calls of a turn). null: the same as `start`.",
    ),
  leadShare: share.default(0).describe("Start this share of the threshold below the threshold. 0: only `start` counts."),
  leadMinTokens: tokens.default(8_192).describe("The lead of `leadShare` is at least this, but at most a quarter of the threshold."),
  leadMaxTokens: tokens.default(32_000).describe("The lead of `leadShare` is at most this."),
  apply: z
    .enum(["ready", "threshold"])
    .default("ready")
    .describe("When a finished background summary is appended. ready: by the next request. threshold: once the context is above it."),
  blockAtShare: share
    .default(0.95)
    .describe("From this share of the limit on, a request waits for a running background summary. Above the threshold it always waits."),
  minShareToApply: share
    .default(0.65)
    .describe("Discard a finished background summary if the context is below this share of the threshold by then."),
});

/** Settings of the breaker, which stops calls of models when summaries fail or save too little. */
export const breakerSettings = z.strictObject({
  minSavingsShare: share.default(0.1).describe("A compaction that removes less than this share of the context is ineffective."),
  maxIneffective: count
    .default(2)
    .describe("After this many ineffective compactions in a row, use the extract instead of a model. 0: never."),
  failures: count.default(3).describe("After this many failures in a row, use the extract instead of a model. 0: never."),
  probeEvery: count.default(10).describe("While models are not asked, ask one again after this many compactions."),
});
