import * as z from "zod";

/** A number of tokens. */
const tokens = z.int().min(0);
/** A part of a whole: 0 to 1. */
const share = z.number().min(0).max(1);
/** A number of things or characters. */
const count = z.int().min(0);
/** A time in milliseconds. */
const ms = z.int().min(0);

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
const windowSettings = z.strictObject({
  limit: shareOrTokens
    .nullable()
    .default(null)
    .describe("Use only this much of the context window (the limit): a share of it, or tokens. null: all of it."),
  toolMarginShare: share
    .default(0)
    .describe("When there are tools, keep this share of what they leave of the limit free, because tool definitions are often miscounted."),
});

/** Settings of the time at which a context is compacted. */
const triggerSettings = z.strictObject({
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
const backgroundSettings = z.strictObject({
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
  leadShare: share
    .default(0)
    .describe(
      "Start this share of the threshold below the threshold, 8,192 to 32,000 tokens and at most a quarter of it. 0: only `start` counts.",
    ),
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
const breakerSettings = z.strictObject({
  maxIneffective: count
    .default(2)
    .describe(
      "After this many compactions in a row that remove less than a tenth of the context, use the extract instead of a model. 0: never.",
    ),
  failures: count
    .default(3)
    .describe(
      "After this many failures in a row, use the extract instead of a model. After ten compactions without a model, one is asked again. 0: never.",
    ),
});

/** The kept tail: the newest messages that stay word for word. */
const keepSettings = z.strictObject({
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
const pruneSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Shorten old tool output before an automatic compaction. If that saves enough, nothing is summarized."),
  when: z
    .enum(["threshold", "early"])
    .default("threshold")
    .describe(
      "threshold: prune when the context is above the threshold, once for many turns. early: already when a background summary would start.",
    ),
  lowWaterShare: share
    .default(0.4)
    .describe("Prune old results, oldest first, until the context is at this share of the threshold. 0: prune all that are not protected."),
  lowWaterTokens: tokens.default(45_000).describe("The same in tokens; the smaller one counts."),
  protectTokens: tokens
    .default(20_000)
    .describe("The newest tool output up to this many tokens is not pruned. Results that the model has not read yet are never pruned."),
  protectShare: share.default(0.2).describe("`protectTokens` is at most this share of the room."),
  minSavingsShare: share
    .default(0.5)
    .describe(
      "Prune only if it saves at least this share of the room. Less would soon be needed again, and each pruning makes the provider's cache useless as a compaction does: then a compaction costs less.",
    ),
  minSavingsTokens: tokens.default(20_000).describe("Prune only if it saves at least this much; in a small window, 20 % of the room."),
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
const requestSettings = z.strictObject({
  fit: z
    .enum(["dropOldest", "byPriority", "off"])
    .default("dropOldest")
    .describe(
      "How a request above the limit is shortened. dropOldest: in three passes, oldest messages first. byPriority: by the priority of each kind of message. off: only what the context window cannot hold is dropped, oldest first.",
    ),
  targetShare: share.default(0.95).describe("A shortened request has less than this share of the limit; 1: at most the limit."),
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
    .describe(
      "Put the last thinking block that was dropped before the first reply that remains. auto: for Anthropic models. Models that bind thinking to its prefix never get one.",
    ),
  boundThinking: z
    .enum(["auto", "always", "never"])
    .default("auto")
    .describe(
      "The model rejects signed thinking once something before it has changed; such blocks are left out, and no message changes from one request to the next. auto: by the name of the model (Claude Fable and Mythos 5.1, Opus, Sonnet and Haiku 5.5, and later).",
    ),
  backOffShare: share
    .default(0.5)
    .describe(
      "After a context overflow whose error names no limit, or names the one in use where nothing could be compacted, lower the limit by a third of this share; by this share at most.",
    ),
});

/** Settings of writing a summary, and of accepting one. */
const summarySettings = z.strictObject({
  mode: z
    .enum(["simple", "full", "auto"])
    .default("simple")
    .describe(
      "simple: send the conversation as one text. full: send the last request plus one instruction, which reads the provider's cache. auto: full, then simple if that fails; simple at once after an overflow.",
    ),
  prompt: z
    .enum(["structured", "handoff", "checkpoint", "working-set"])
    .default("structured")
    .describe("The sections of the summary: structured (as pi), handoff (VS Code), checkpoint (Copilot CLI) or working-set (co-cli)."),
  customPrompt: z.string().min(1).nullable().default(null).describe("Your own prompt instead of `prompt`."),
  maxOutputTokens: tokens
    .nullable()
    .default(null)
    .describe("Output limit of a summary call. null: the model's own; a fixed limit may leave a thinking model none for the summary."),
  maxOutputShare: share.nullable().default(null).describe("The same as a share of the reserve, at most 16,384 tokens."),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .default(null)
    .describe(
      "Temperature of a summary call, unless the summarizer sets one. null: the model's default, the only one that many thinking models accept. A model that rejects the temperature is asked again without one.",
    ),
  toolResultChars: count.default(2_000).describe("Cut each tool result to this many characters for the summarizer. 0: do not cut."),
  toolResultShare: share
    .default(0)
    .describe("Cut each tool result to this share of the summarizer's window instead. 0: `toolResultChars` counts."),
  toolArgumentChars: count
    .default(1_000)
    .describe("Cut each argument of a tool call to this many characters for the summarizer. 0: do not cut."),
  includeThinking: z.boolean().default(false).describe("The summarizer reads thinking blocks."),
  inputShare: share
    .default(0.8)
    .describe("The input of a summary call is at most this share of the summarizer's window; a longer one is summarized piece by piece."),
  windowTokens: tokens.nullable().default(null).describe("Context window of the summarizer's model. null: the same as the session's."),
  splitTurns: z
    .enum(["sequential", "concurrent"])
    .default("sequential")
    .describe("How the two summaries of a split turn are requested. Concurrent calls hit rate limits sooner."),
  update: z
    .boolean()
    .default(true)
    .describe("Ask the model to update the previous summary. false: the previous summary is summarized like a message."),
  shortSummary: z
    .boolean()
    .default(false)
    .describe("Ask for a second, short summary for screens. false: use the first sentence of the summary."),
  retries: count
    .default(2)
    .describe(
      "Retries of a call after a temporary failure (rate limit, network, overload), for each summarizer: after the delay that the provider asks for, at most 30 s, else after 1 s, 2 s and so on.",
    ),
  timeoutMs: ms.default(300_000).describe("Timeout of a call."),
  fidelity: share
    .default(0)
    .describe(
      "If a summary has fewer than this share of the facts found in the source, ask once more and name the missing facts. 0: never.",
    ),
  fidelityFloor: share
    .default(0.02)
    .describe(
      "Reject a reply that has a smaller share of the facts and fewer than three of them (a refusal in plain words), or hardly any text (an OK): ask once more with a stricter prompt, then use the extract. A source with fewer than three facts is checked by length alone. 0: reject none.",
    ),
  fileLists: z.boolean().default(true).describe("List the files that were read and modified after the summary."),
  breadcrumb: z.boolean().default(true).describe("Say after the summary which entries it covers and how to read them."),
  recordPath: z
    .string()
    .nullable()
    .default(null)
    .describe("A file with the whole conversation, named in the breadcrumb for agents that can read files."),
  stripTools: z
    .array(z.string())
    .default(["tool_search"])
    .describe("Do not show calls of these tools and their results to the summarizer; Anthropic refuses some."),
  keepGoing: z
    .enum(["auto", "always", "never"])
    .default("auto")
    .describe("Append a reminder to continue the work to the summary. auto: for GPT-4.1."),
  redact: z
    .boolean()
    .default(true)
    .describe(
      "Mask keys, tokens and passwords in the input of a summarizer and in what a summarizer or hook returns. In full mode the input is not masked: its provider received it before.",
    ),
  onFailure: z
    .enum(["extract", "marker", "fail"])
    .default("extract")
    .describe("If no model returns a summary: use the deterministic extract, use a fixed line that names what is missing, or fail."),
});

/** The user's messages, quoted word for word with the summary. */
const userMessageSettings = z.strictObject({
  enabled: z.boolean().default(false).describe("Quote the user's messages word for word with the summary."),
  maxChars: count
    .default(30_000)
    .describe("At most this many characters of them: four fifths for the newest messages, the rest for the oldest."),
  maxMessages: count.default(20).describe("At most this many of them."),
});

/** Summaries of branches that are left. */
const branchSettings = z.strictObject({
  reserveTokens: tokens.default(16_384).describe("The summarizer reads the newest part of the branch, up to its window less this."),
  summarize: z.boolean().default(false).describe("Whether `navigate` writes a summary of the abandoned branch if the call does not say."),
});

/** Summaries as numbered Markdown files. */
const checkpointSettings = z.strictObject({
  directory: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("Also write each summary to this directory as NNN-title.md, with an index.md. null: do not."),
});

/** Overrides for one model. A field that is missing is taken from the settings. */
const modelOverride = z.strictObject({
  contextWindow: tokens.min(1).optional(),
  reserveTokens: triggerSettings.shape.reserveTokens.unwrap().optional(),
  threshold: triggerSettings.shape.threshold.unwrap().optional(),
  keepRecentTokens: keepSettings.shape.recentTokens.unwrap().optional(),
});

/** Every setting with its default, which is the preset `balanced`. */
export const settingsSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Compact automatically. What the host asks for always works: by hand, after an overflow, before a smaller model."),
  checkAt: z
    .enum(["request", "turn-end"])
    .default("request")
    .describe(
      "When automatic compaction checks. request: before each request. turn-end: between turns and before the first request of a turn; inside a turn only if the request would not fit.",
    ),
  manual: z
    .enum(["now", "when-idle"])
    .default("now")
    .describe("Compaction by hand inside a turn: at once, or refused with TurnRunningError."),
  autoContinue: z
    .boolean()
    .default(true)
    .describe("After an automatic compaction between turns with work left, return a prompt to continue with."),
  continuePrompt: z.string().min(1).default("Continue if you have next steps.").describe("That prompt."),
  tokenizer: z
    .enum(["auto", "o200k_base", "cl100k_base", "rough"])
    .default("auto")
    .describe("The vocabulary that tokens are counted with. auto: by the model's name. rough: estimated without a vocabulary."),
  window: windowSettings.prefault({}),
  trigger: triggerSettings.prefault({}),
  background: backgroundSettings.prefault({}),
  breaker: breakerSettings.prefault({}),
  keep: keepSettings.prefault({}),
  prune: pruneSettings.prefault({}),
  request: requestSettings.prefault({}),
  summary: summarySettings.prefault({}),
  userMessages: userMessageSettings.prefault({}),
  branch: branchSettings.prefault({}),
  checkpoints: checkpointSettings.prefault({}),
  perModel: z
    .record(z.string(), modelOverride)
    .default({})
    .describe(
      'Overrides of `contextWindow`, `reserveTokens`, `threshold` and `keepRecentTokens` for single models, by "provider/model" or "model".',
    ),
});

/** Validated settings: every field has a value. */
export type CompactionSettings = z.output<typeof settingsSchema>;
/** Settings as a host gives them: the fields that differ from the preset. */
export type SettingsInput = z.input<typeof settingsSchema>;

/** The JSON schema of the settings, for editors of a configuration file and for documentation. */
export function settingsJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
