import { z } from "zod";
import { count, ms, share, tokens } from "./trigger-settings.js";

/** What stays word for word. */
export const keepSettings = z.strictObject({
  by: z
    .enum(["tokens", "share", "messages", "rounds", "nothing"])
    .default("tokens")
    .describe("How the kept tail is measured: tokens, a share of the limit, messages, whole rounds of tool calls, or nothing is kept."),
  recentTokens: tokens
    .default(20_000)
    .describe(
      "`tokens`: the newest messages up to this many tokens. No rule keeps more than 40 % of what system prompt and tools leave of the threshold, but for the newest message with its results and a prompt without an answer.",
    ),
  recentShare: share.default(0.1).describe("`share`: the newest messages up to this share of the limit, at least one turn."),
  recentMessages: count.default(20).describe("`messages`: this many newest messages, at least 4."),
  recentRounds: count.default(1).describe("`rounds`: this many newest rounds (a reply and its results)."),
  adaptive: z.boolean().default(true).describe("Where the provider counted more tokens than we did, keep less in proportion."),
  manual: z
    .enum(["same", "nothing"])
    .default("same")
    .describe("What a compaction by hand keeps. An unanswered prompt is kept in any case."),
  head: z
    .boolean()
    .default(false)
    .describe(
      "The first run (up to the first answer in words) is carried word for word at the start of the summary. It counts from the first compaction of a session on.",
    ),
  headChars: count.default(4_000).describe("`head`: at most this many characters of it."),
});

/** Old tool output that is taken out of the context by edits, before a compaction is thought of. */
export const pruneSettings = z.strictObject({
  enabled: z.boolean().default(true).describe("Prune before an automatic compaction; where that is enough, nothing is summarised."),
  protectTokens: tokens
    .default(40_000)
    .describe(
      "The newest tool output up to this many tokens stays, in a turn that runs too; at most 40 % of what system prompt and tools leave of the threshold. Results that the model has not read yet stay in any case.",
    ),
  minSavingsTokens: tokens
    .default(20_000)
    .describe(
      "Prune only when at least this much is saved (in a small window 20 % of what system prompt and tools leave of the threshold).",
    ),
  minResultTokens: tokens.default(50).describe("Smaller results stay."),
  protectedTools: z.array(z.string()).default(["skill"]).describe("Results of these tools stay."),
  superseded: z
    .boolean()
    .default(true)
    .describe("A read of a file that was read again later (as a whole, or the same part) goes first, also where it is protected by age."),
  useless: z.boolean().default(true).describe("Results that their tool marked as useless (details.useless) go first too."),
  duplicateChars: count
    .default(200)
    .describe("Of results with the same text of at least this many characters, only the newest stays. 0: all stay."),
  cacheSuffixTokens: tokens
    .default(8_000)
    .describe(
      "Superseded and duplicate results go only while at most this much follows them (the provider's cache is lost from there on), or after `idleMs`.",
    ),
  idleMs: ms.default(1_800_000).describe("After so long without a request the cache is cold, and the guard does not count."),
});

/** What is left out of one request only; the store is not changed. */
export const requestSettings = z.strictObject({
  fit: z
    .enum(["dropOldest", "byPriority", "off"])
    .default("dropOldest")
    .describe(
      "How a request that does not fit is shortened: Copilot CLI's three passes, VS Code's priorities. off: only where the window itself could not hold it, by the passes.",
    ),
  targetShare: share.default(0.95).describe("A shortened request aims at this share of the limit."),
  protectedTools: z.array(z.string()).default([]).describe("Calls of these tools are left out last."),
  failWhenTooLarge: z
    .boolean()
    .default(false)
    .describe("Throw rather than cut the newest prompt. In any case a request throws that does not fit whatever is left out or cut."),
  toolResultShare: share.default(0.5).describe("A single tool result is cut to this share of the window. 0: never."),
  toolResultHeadShare: share.default(0.4).describe("Of a result that is cut, this share of what stays is its head; the rest its tail."),
  trimChars: count.default(0).describe("Tool results but those of the newest reply are cut to this many characters. 0: not."),
  imageBytes: count
    .default(0)
    .describe("Newest images up to this many bytes of base64 stay in a request; older ones become a line of text. 0: all stay."),
  danglingCalls: z
    .enum(["auto", "close", "drop"])
    .default("auto")
    .describe("A tool call without a result gets one that says so, or is dropped. auto: dropped for Gemini, closed else."),
  reattachThinking: z
    .enum(["auto", "always", "never"])
    .default("auto")
    .describe("The last thinking block that was left out is put before the first reply that is still there. auto: for Anthropic's models."),
  backOffShare: share
    .default(0.5)
    .describe(
      "After the provider refused a request as too long without naming its limit, the limit is lowered by a step of this share / 3, up to this share.",
    ),
});
