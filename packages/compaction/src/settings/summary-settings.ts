import { z } from "zod";
import { count, ms, share, tokens } from "./trigger-settings.js";

/** Settings of writing a summary, and of accepting one. */
export const summarySettings = z.strictObject({
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
      "Temperature of a summary call, unless the summarizer sets one. null: the model's default, the only one that many thinking models accept.",
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
  retries: count.default(2).describe("Retries of a call after a temporary failure (rate limit, network, overload), for each summarizer."),
  retryDelayMs: ms
    .default(1_000)
    .describe("Delay before the first retry, doubled each time. A delay that the provider asks for takes precedence."),
  maxRetryDelayMs: ms.default(30_000).describe("The longest delay. If the provider asks for more, the next summarizer is tried."),
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
export const userMessageSettings = z.strictObject({
  enabled: z.boolean().default(false).describe("Quote the user's messages word for word with the summary."),
  maxChars: count.default(30_000).describe("At most this many characters of them."),
  maxMessages: count.default(20).describe("At most this many of them."),
  newestShare: share.default(0.8).describe("Of both limits, this share is for the newest messages and the rest for the oldest."),
});

/** Summaries of branches that are left. */
export const branchSettings = z.strictObject({
  reserveTokens: tokens.default(16_384).describe("The summarizer reads the newest part of the branch, up to its window less this."),
  summarize: z.boolean().default(false).describe("Whether `navigate` writes a summary of the abandoned branch if the call does not say."),
});

/** Summaries as numbered Markdown files. */
export const checkpointSettings = z.strictObject({
  directory: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("Also write each summary to this directory as NNN-title.md, with an index.md. null: do not."),
});
