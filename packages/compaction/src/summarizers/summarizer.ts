import type { ContextMessage, SessionContext, Usage } from "@bough/session-core";
import type { Trigger } from "../plan/plan-compaction.js";

/** What is to be summarized, for summarizers that need no model. A model reads it in `prompt` or `context`. */
export interface SummarySource {
  /** The messages that the summary replaces, oldest first, as the model saw them. */
  readonly messages: readonly ContextMessage[];
  /** `history`: all of it; `turn-prefix`: the start of a turn whose end is kept; `branch`: a branch that is left. */
  readonly kind: "history" | "turn-prefix" | "branch";
  /** The summary that this one continues. */
  readonly previousSummary: string | null;
  /** What the person asked to look at. */
  readonly instructions: string | null;
  /** What the summary should have at most, in tokens; undefined: no matter. */
  readonly wantedTokens?: number | undefined;
  /** The session's directory: an extract writes paths relative to it. Default: none, and paths stay as they are. */
  readonly cwd?: string | null | undefined;
  /** Whether an extract masks secrets. Default true. */
  readonly redact?: boolean | undefined;
}

/** One call of a summarizer. */
export interface SummaryRequest {
  /** What asked for the summary, so that one by hand can get another model than an automatic one; `branch`: a navigation. */
  readonly trigger?: Trigger | "branch" | undefined;
  readonly system: string;
  /** The whole task as one text, with the conversation in it; with `context`: only the instruction that follows it. */
  readonly prompt: string;
  /** Full mode: the live request, to be sent byte for byte as the agent sends it, with `prompt` as one more user message. */
  readonly context?: SessionContext | undefined;
  /** The same conversation as `context`, as messages. */
  readonly messages?: readonly ContextMessage[] | undefined;
  /** Upper bound of the answer, in tokens; undefined: the model's own. */
  readonly maxOutputTokens?: number | undefined;
  /** From 0 up; undefined: the model's own. A temperature that the summarizer was made with comes first. */
  readonly temperature?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly source?: SummarySource | undefined;
  /** Called with each piece of the answer as it comes, for progress; not every summarizer streams. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** A summary, and what it used. `extracted`: no model wrote it. */
export interface SummaryReply {
  readonly text: string;
  readonly usage?: Usage | undefined;
  readonly extracted?: boolean | undefined;
  /** The provider's id of the answer, for its support and its logs. */
  readonly requestId?: string | undefined;
  /** Provider and model that wrote it, where known. */
  readonly model?: string | undefined;
}

/**
 * The model behind a summary. Throws `SummaryRejectedError` when it answered with something that is no summary and
 * `SummarizerCallError` when it could not be called; any other error counts as a failure that will not pass.
 *
 * @example
 * const summarizer: Summarizer = async ({ system, prompt, signal }) => askMyModel(system, prompt, signal);
 */
export type Summarizer = (request: SummaryRequest) => Promise<string | SummaryReply>;
