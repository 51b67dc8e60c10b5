import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { stripThinking } from "./strip-thinking.js";

/** How a reply ended, in one vocabulary for all protocols. `unknown`: the model did not say. */
export type ReplyEnd = "stop" | "length" | "tool-calls" | "content-filter" | "unknown";

/** What a model answered. */
export interface ModelReply {
  readonly text: string;
  readonly end: ReplyEnd;
  /** It called a tool, whatever it said besides. */
  readonly callsTool: boolean;
  /** It refused in a field of its own (OpenAI's `refusal`). */
  readonly refuses?: boolean | undefined;
}

/** Calls that a server did not recognise and left in the text, as Qwen, Hermes, Mistral and Anthropic's models write them. */
const CALL_IN_TEXT = /^\s*(?:<tool_call>|<\|tool_call|<function_calls>|<function=|\[TOOL_CALLS\])/;

/**
 * The summary in a reply, without thoughts at its start and without half a surrogate pair. Pure.
 *
 * Whether it is smaller than its source is judged by the caller, who knows the source.
 *
 * @throws {SummaryRejectedError} the reply is a refusal, a tool call, cut off by the output limit, or empty.
 */
export function judgeReply({ text, end, callsTool, refuses }: ModelReply): string {
  const said = stripThinking(text).toWellFormed().trim();
  if (refuses === true || end === "content-filter") throw new SummaryRejectedError("refused", said);
  if (callsTool || end === "tool-calls" || CALL_IN_TEXT.test(said)) throw new SummaryRejectedError("tool-call", said);
  if (end === "length") throw new SummaryRejectedError("cut-by-length", said);
  if (said === "") throw new SummaryRejectedError("empty");
  return said;
}
