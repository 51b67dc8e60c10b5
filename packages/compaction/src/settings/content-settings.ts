import { z } from "zod";
import { count, ms, share, tokens } from "./trigger-settings.js";

/** The kept tail: the newest messages that stay word for word. */
export const keepSettings = z.strictObject({
  by: z
    .enum(["tokens", "share", "messages", "rounds", "nothing"])
    .default("tokens")
    .describe(
      "How the kept tail is measured: in tokens, as a share of the limit, in messages, in rounds of tool calls, or nothing is kept.",
    ),
  recentTokens: tokens
    .default(20_000)
    .describe(
      "`tokens`: size of the kept tail. Every kind of tail is at most 40 % of the room (the threshold less system prompt and tools), except for the newest message with its results and an unanswered prompt.",
    ),
  crossing: z
    .boolean()
    .default(false)
    .describe(
      "`tokens`: keep the message with which the tail reaches `recentTokens` too, if the tail is then at most 40 % of the room. false: the tail stays below.",
    ),
  recentShare: share.default(0.1).describe("`share`: size of the kept tail as a share of the limit; at least one turn."),
  recentMessages: count.default(20).describe("`messages`: size of the kept tail in messages; at least 4."),
  recentRounds: count.default(1).describe("`rounds`: size of the kept tail in rounds (a reply and its results)."),
  adaptive: z
    .boolean()
    .default(true)
    .describe("If the provider counts more tokens than this package, make the kept tail smaller in proportion."),
  manual: z.enum(["same", "nothing"]).default("same").describe("What a compaction by hand keeps. An unanswered prompt is always kept."),
  head: z
    .boolean()
    .default(false)
    .describe(
      "Repeat the start of the session (up to the first reply with text) word for word in each summary. It must be set before the first compaction.",
    ),
  headChars: count.default(4_000).describe("`head`: at most this many characters."),
});

/** Old tool output that is shortened by edits before anything is summarized. */
export const pruneSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Shorten old tool output before an automatic compaction. If that saves enough, nothing is summarized."),
  protectTokens: tokens
    .default(40_000)
    .describe(
      "The newest tool output up to this many tokens is not pruned; at most 40 % of the room. Results that the model has not read yet are never pruned.",
    ),
  minSavingsTokens: tokens.default(20_000).describe("Prune only if it saves at least this much; in a small window, 20 % of the room."),
  minResultTokens: tokens.default(50).describe("Do not prune smaller results."),
  protectedTools: z.array(z.string()).default(["skill"]).describe("Do not prune results of these tools."),
  superseded: z
    .boolean()
    .default(true)
    .describe("Prune the result of reading a file if the same part was read again later, also among the protected newest output."),
  useless: z
    .boolean()
    .default(true)
    .describe("Prune results that their tool marked with `details.useless`, also among the protected ones."),
  duplicateChars: count
    .default(200)
    .describe("Of results with equal text of at least this many characters, prune all but the newest. 0: prune none."),
  cacheSuffixTokens: tokens
    .default(8_000)
    .describe(
      "Prune superseded and duplicate results only if at most this many tokens follow them, because an edit makes the provider's cache useless from there on; or if `idleMs` have passed.",
    ),
  idleMs: ms
    .default(1_800_000)
    .describe("After this time without a request the provider's cache has expired, and `cacheSuffixTokens` is ignored."),
});

/** Settings of making one request fit. The session is unchanged. */
export const requestSettings = z.strictObject({
  fit: z
    .enum(["dropOldest", "byPriority", "off"])
    .default("dropOldest")
    .describe(
      "How a request above the limit is shortened. dropOldest: in three passes, oldest messages first. byPriority: by the priority of each kind of message. off: only what the context window cannot hold is dropped, oldest first.",
    ),
  targetShare: share.default(0.95).describe("A shortened request has at most this share of the limit."),
  protectedTools: z.array(z.string()).default([]).describe("Drop calls of these tools last."),
  failWhenTooLarge: z.boolean().default(false).describe("Throw RequestTooLargeError rather than cut the newest prompt."),
  toolResultShare: share.default(0.5).describe("Cut a single tool result to this share of the context window. 0: never."),
  toolResultHeadShare: share.default(0.4).describe("The share of a cut result that is its head; the rest is its tail."),
  trimChars: count.default(0).describe("Cut tool results to this many characters, except for those of the newest reply. 0: do not cut."),
  imageBytes: count
    .default(0)
    .describe("Keep the newest images up to this many bytes of base64 and replace older ones by a line of text. 0: keep all."),
  danglingCalls: z
    .enum(["auto", "close", "drop"])
    .default("auto")
    .describe("A tool call without a result: close adds a result that says so, drop removes the call. auto: drop for Gemini, else close."),
  reattachThinking: z
    .enum(["auto", "always", "never"])
    .default("auto")
    .describe("Put the last thinking block that was dropped before the first reply that remains. auto: for Anthropic models."),
  backOffShare: share
    .default(0.5)
    .describe("After a context overflow whose error names no limit, lower the limit by a third of this share; by this share at most."),
});
