import type { ContextMessage, NativeCompaction, SessionContext, Usage } from "@bough/session-core";
import type { Trigger } from "../plan/plan-compaction.js";

/** The source of a summary, for summarizers that use no model. A model reads it in `prompt` or `context`. */
export interface SummarySource {
  /** The messages that the summary replaces, oldest first, as the model read them. */
  readonly messages: readonly ContextMessage[];
  /** `history`: everything; `turn-prefix`: the start of a turn whose end is kept; `branch`: a branch that is left. */
  readonly kind: "history" | "turn-prefix" | "branch";
  /** The summary that this one continues. */
  readonly previousSummary: string | null;
  /** The user's focus. */
  readonly instructions: string | null;
  /** The wanted size of the summary, in tokens; undefined: no wish. */
  readonly wantedTokens?: number | undefined;
  /** The session's directory; an extract writes paths relative to it. Without it paths stay as they are. */
  readonly cwd?: string | null | undefined;
  /** True if an extract masks secrets; default true. */
  readonly redact?: boolean | undefined;
}

/** One call of a summarizer. */
export interface SummaryRequest {
  /** The trigger of the summary, so that a manual compaction can use another model; `branch`: a navigation. */
  readonly trigger?: Trigger | "branch" | undefined;
  readonly system: string;
  /** The whole task as one text with the conversation; with `context` only the instruction that follows it. */
  readonly prompt: string;
  /** Full mode: the live request, to be sent byte for byte as the agent sends it, with `prompt` as one more user message. */
  readonly context?: SessionContext | undefined;
  /** The messages of `context`. */
  readonly messages?: readonly ContextMessage[] | undefined;
  /** The most tokens of the answer; undefined: the model's own limit. */
  readonly maxOutputTokens?: number | undefined;
  /** From 0 up; undefined: the model's default. A temperature in the summarizer's own options has precedence. */
  readonly temperature?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly source?: SummarySource | undefined;
  /** Called with each piece of the answer, for progress; not every summarizer streams. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** A summary and its usage. `extracted`: no model wrote it. */
export interface SummaryReply {
  readonly text: string;
  readonly usage?: Usage | undefined;
  readonly extracted?: boolean | undefined;
  /** The provider's id of the response, for its support and logs. */
  readonly requestId?: string | undefined;
  /** Provider and model that wrote it, if known. */
  readonly model?: string | undefined;
  /** The provider's own compaction; `text` says it in words. */
  readonly native?: NativeCompaction | undefined;
}

/**
 * The model behind a summary. Throws `SummaryRejectedError` if the answer is not a summary, and `SummarizerCallError` if
 * the call failed; any other error counts as a permanent failure.
 *
 * @example
 * const summarizer: Summarizer = async ({ system, prompt, signal }) => askMyModel(system, prompt, signal);
 */
export type Summarizer = (request: SummaryRequest) => Promise<string | SummaryReply>;
