import { z } from "zod";

/** A count of tokens. */
export const tokens = z.int().min(0);
/** A part of a whole: 0 to 1. */
export const share = z.number().min(0).max(1);
/** A count of things or characters. */
export const count = z.int().min(0);
/** A time, in milliseconds. */
export const ms = z.int().min(0);

/**
 * A part of the window (above 0, at most 1) or a number of tokens (100 or more). What lies between could be either and is
 * refused. The rule is VS Code Copilot Chat's.
 */
export const shareOrTokens = z
  .number()
  .refine(
    (given) => (given > 0 && given <= 1) || given >= 100,
    "must be a share of the window (above 0, at most 1) or tokens (100 or more)",
  );

/** The number of tokens that a `shareOrTokens` means in a window. */
export function tokensOf(given: number, windowTokens: number): number {
  return Math.floor(given <= 1 ? given * windowTokens : Math.min(given, windowTokens));
}

/** How much of the model's window there is to fill. */
export const windowSettings = z.strictObject({
  limit: shareOrTokens.nullable().default(null).describe("Use only this much of the window: a share of it or tokens. null: all of it."),
  toolMarginShare: share.default(0).describe("Share of what the tools leave that is kept free when there are tools, against miscounts."),
});

/** When a context is too long. */
export const triggerSettings = z.strictObject({
  reserveTokens: tokens
    .default(16_384)
    .describe(
      "Tokens of the window kept free for the next turn: above window − reserve the context is compacted. At most a quarter of the window.",
    ),
  reserveShare: share.default(0.15).describe("The reserve is at least this share of the window. 0: `reserveTokens` alone counts."),
  threshold: shareOrTokens
    .nullable()
    .default(null)
    .describe("Compact above this, instead of by reserve: a share of the limit or tokens (at most the window less one)."),
  maxMessages: count.default(0).describe("Compact above this many messages, whatever their tokens. 0: messages are not counted."),
  minMessages: count.default(4).describe("Automatic compaction leaves a context with fewer messages alone."),
  manualMinMessages: count.default(2).describe("The same for one asked for by hand, or by memory pressure."),
  headroomShare: share
    .default(0.8)
    .describe(
      "Messages should take at most this share of what system prompt and tools leave of the threshold after a compaction; one that does not reach it stops the automatic path until something changed.",
    ),
});

/** When a summary is started before it is needed. */
export const backgroundSettings = z.strictObject({
  start: share
    .nullable()
    .default(0.8)
    .describe("Start a background compaction at this share of the limit, and at 95 % of the threshold at the latest. null: none by share."),
  jitterShare: share.default(0.02).describe("Start up to this share earlier or later, so that not every session starts at the same point."),
  coldStart: share
    .nullable()
    .default(null)
    .describe("Start at this share instead while the provider's cache is cold (no tool round in this turn yet). null: the same as warm."),
  leadShare: share.default(0).describe("Start this share of the threshold before it. 0: by `start` alone."),
  leadMinTokens: tokens.default(8_192).describe("The lead is at least this, but at most a quarter of the threshold."),
  leadMaxTokens: tokens.default(32_000).describe("The lead is at most this."),
  apply: z
    .enum(["ready", "threshold"])
    .default("ready")
    .describe("When a finished background summary takes its place: with the next request, or once the threshold is crossed."),
  blockAtShare: share
    .default(0.95)
    .describe(
      "From this share of the limit on, a request waits for the running background compaction; above the threshold it waits in any case.",
    ),
  minShareToApply: share
    .default(0.65)
    .describe("A finished background summary is thrown away when the context is below this share of the threshold by then."),
});

/** What an automatic path does when compaction does not help or fails. */
export const breakerSettings = z.strictObject({
  minSavingsShare: share
    .default(0.1)
    .describe("A compaction that saves less than this share of the context counts as one that did not help."),
  maxIneffective: count
    .default(2)
    .describe("After this many in a row that did not help, no model is asked: the extract is taken. 0: never."),
  failures: count.default(3).describe("After this many failures in a row no model is asked. 0: never."),
  probeEvery: count.default(10).describe("While it is not asked, every so many times it is tried again."),
});
