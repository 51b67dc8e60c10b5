import { z } from "zod";
import { count, ms, share, tokens } from "./trigger-settings.js";

/** How a summary is asked for, and what it must be. */
export const summarySettings = z.strictObject({
  mode: z
    .enum(["simple", "full", "auto"])
    .default("simple")
    .describe(
      "simple: the conversation as one text. full: the live request plus one instruction, which reads the provider's cache. auto: full, then simple where it fails; simple at once after an overflow.",
    ),
  prompt: z
    .enum(["structured", "handoff", "checkpoint", "working-set"])
    .default("structured")
    .describe(
      "Which sections the summary has: pi's (structured), VS Code's eight (handoff), Copilot CLI's six (checkpoint), co-cli's (working-set).",
    ),
  customPrompt: z.string().min(1).nullable().default(null).describe("A prompt of your own in place of the preset."),
  maxOutputTokens: tokens
    .nullable()
    .default(null)
    .describe("Upper bound of a summary. null: the model's own; a fixed cap starves models that think first."),
  maxOutputShare: share.nullable().default(null).describe("The same as a share of the reserve, at most 16,384 tokens."),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .default(null)
    .describe(
      "Temperature of a summary, where the summariser has none of its own. null: the model's default; many models that think take no other.",
    ),
  toolResultChars: count.default(2_000).describe("Of each tool result the summariser reads at most this many characters. 0: all."),
  toolResultShare: share
    .default(0)
    .describe(
      "The same as a share of the summariser's window, in tokens; it takes the place of `toolResultChars`. 0: `toolResultChars` counts.",
    ),
  toolArgumentChars: count
    .default(1_000)
    .describe("Of each argument of a tool call the summariser reads at most this many characters. 0: all."),
  includeThinking: z.boolean().default(false).describe("The summariser reads the model's thoughts."),
  inputShare: share.default(0.8).describe("A summariser's input is at most this share of its window; more is folded piece by piece."),
  windowTokens: tokens.nullable().default(null).describe("Window of the summary model. null: the same as the session's."),
  splitTurns: z
    .enum(["sequential", "concurrent"])
    .default("sequential")
    .describe("How the two summaries of a split turn are asked for; concurrent calls meet rate limits sooner."),
  update: z
    .boolean()
    .default(true)
    .describe("The previous summary is given to the model in its own slot, to be updated. false: summarised like a message."),
  shortSummary: z
    .boolean()
    .default(false)
    .describe("Ask for a second, short summary for screens. false: the first sentence of the summary is taken."),
  retries: count
    .default(2)
    .describe("Failures that may pass (rate limits, network, overload) are tried again this often, for each candidate."),
  retryDelayMs: ms
    .default(1_000)
    .describe("Wait before the first new try; doubled each time. A wait that the provider asks for counts instead."),
  maxRetryDelayMs: ms.default(30_000).describe("The longest wait; where the provider asks for more, the next candidate is tried."),
  timeoutMs: ms.default(300_000).describe("A call that takes longer has failed."),
  fidelity: share
    .default(0)
    .describe(
      "Ask once more, with the missing facts named, when fewer than this share of the facts found in the source are in the summary. 0: never.",
    ),
  fidelityFloor: share
    .default(0.02)
    .describe(
      "A model's answer with a smaller share of the facts, and fewer than three of them, is none (a refusal in plain words), nor is one with hardly any text (an OK): it is asked for once more, strictly, then the extract takes its place. Sources with fewer than three facts are judged by the text alone. 0: none is refused.",
    ),
  fileLists: z.boolean().default(true).describe("The files read and modified are listed behind the summary."),
  breadcrumb: z.boolean().default(true).describe("The summary says which entries it covers and how to look them up."),
  recordPath: z
    .string()
    .nullable()
    .default(null)
    .describe("A file with the whole record, named in the breadcrumb for agents that read files."),
  stripTools: z
    .array(z.string())
    .default(["tool_search"])
    .describe("Calls of these tools and their results are kept from the summariser (Anthropic refuses some)."),
  keepGoing: z
    .enum(["auto", "always", "never"])
    .default("auto")
    .describe("A reminder to go on stands behind the summary. auto: for GPT-4.1."),
  redact: z
    .boolean()
    .default(true)
    .describe(
      "Keys, tokens and passwords are masked in what a summariser or a hook writes, and before a summariser reads them; in full mode it reads what its provider was sent before.",
    ),
  onFailure: z
    .enum(["extract", "marker", "fail"])
    .default("extract")
    .describe("When no model gives a summary: take the deterministic extract, a fixed line that says what is missing, or fail."),
});

/** The person's own words, carried with the summary. */
export const userMessageSettings = z.strictObject({
  enabled: z.boolean().default(false).describe("Original user messages are carried with the summary."),
  maxChars: count.default(30_000).describe("At most this many characters of them."),
  maxMessages: count.default(20).describe("At most this many."),
  newestShare: share.default(0.8).describe("Of both, this share goes to the newest; the rest to the oldest."),
});

/** Summaries of branches that are left. */
export const branchSettings = z.strictObject({
  reserveTokens: tokens.default(16_384).describe("The summariser reads the newest of the branch up to its window less this."),
  summarize: z.boolean().default(false).describe("What `navigate` does when it is not told: leave a summary."),
});

/** Summaries as numbered Markdown files. */
export const checkpointSettings = z.strictObject({
  directory: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("Each summary is also written there as NNN-title.md, with an index.md. null: not."),
});
