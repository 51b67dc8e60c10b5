import { z } from "zod";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { SummaryReply } from "./summarizer.js";

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

/** Calls that a server did not recognize and left in the text, as Qwen, Hermes, Mistral and Anthropic's models write them. */
const CALL_IN_TEXT = /^\s*(?:<tool_call>|<\|tool_call|<function_calls>|<function=|\[TOOL_CALLS\])/;

/**
 * The summary in a reply, without thoughts at its start and without half a surrogate pair. Pure.
 *
 * Whether it is smaller than its source is judged by the caller, who knows the source.
 *
 * @throws {SummaryRejectedError} the reply is a refusal, a tool call, cut off by the output limit, or empty.
 */
export function validateReply({ text, end, callsTool, refuses }: ModelReply): string {
  const said = stripThinking(text).toWellFormed().trim();
  if (refuses === true || end === "content-filter") throw new SummaryRejectedError("refused", said);
  if (callsTool || end === "tool-calls" || CALL_IN_TEXT.test(said)) throw new SummaryRejectedError("tool-call", said);
  if (end === "length") throw new SummaryRejectedError("cut-by-length", said);
  if (said === "") throw new SummaryRejectedError("empty");
  return said;
}

const count = z.number().nonnegative().optional().catch(undefined);
const usage = z.looseObject({ input: count, output: count, cacheRead: count, cacheWrite: count, totalTokens: count });

/** What a summarizer may give. Only the text must be right; the rest is dropped where it is not. */
const reply = z.object({
  text: z.string(),
  usage: usage.optional().catch(undefined),
  extracted: z.boolean().optional().catch(undefined),
  requestId: z.string().optional().catch(undefined),
  model: z.string().optional().catch(undefined),
});

/**
 * The one gate for what a summarizer gave, ours or a host's.
 *
 * @throws {SummaryRejectedError} it is no text, or its text is none that can stand as a summary.
 */
export function parseSummarizerReply(given: unknown): SummaryReply {
  const judged = reply.safeParse(typeof given === "string" ? { text: given } : given);
  if (!judged.success) throw new SummaryRejectedError("not-a-text");
  return { ...judged.data, text: validateReply({ text: judged.data.text, end: "unknown", callsTool: false }) };
}

const OPEN = /\s*<(think|thinking|thought|reasoning)>/iy;
/** Chat templates of DeepSeek and Qwen put the opening tag into the prompt, so only the closing one is in the reply. */
const CLOSE_ALONE = /^[ \t]*<\/(?:think|thinking)>[ \t]*$/im;

/**
 * A reply without the thoughts at its start: leading `<think>` blocks, and what stands before a `</think>` on a line of its
 * own. A block that never ends is all thought. The tags inside the text that follows are text. Linear.
 */
export function stripThinking(text: string): string {
  let start = 0;
  for (let open = findOpeningTag(text, 0); open !== null; open = findOpeningTag(text, start)) {
    const end = findThoughtEnd(text, open);
    if (end === -1) return "";
    start = end;
  }
  if (start > 0) return text.slice(start).trimStart();
  const close = CLOSE_ALONE.exec(text);
  // With an opening tag before it, it is a quotation.
  return close === null || /<think/i.test(text.slice(0, close.index)) ? text : text.slice(close.index + close[0].length).trimStart();
}

/** An opening tag at the start of what follows `from`. */
function findOpeningTag(text: string, from: number): { readonly after: number; readonly close: RegExp } | null {
  OPEN.lastIndex = from;
  const open = OPEN.exec(text);
  return open === null ? null : { after: OPEN.lastIndex, close: new RegExp(`</${open[1]}>`, "gi") };
}

function findThoughtEnd(text: string, { after, close }: { readonly after: number; readonly close: RegExp }): number {
  close.lastIndex = after;
  return close.exec(text) === null ? -1 : close.lastIndex;
}

/** Longer than any closing tag: so much of a thought is kept that a tag which the next piece completes is found. */
const LONGEST_TAG = 32;

/**
 * Passes the pieces of a reply on as they come, without the thought at its start. For progress only: the summary itself is
 * judged as a whole. Cost of a piece grows with the piece, not with what came before it.
 */
export function skipThinking(onText: (piece: string) => void): (piece: string) => void {
  let held = "";
  let close: RegExp | null = null;
  let speaks = false;
  const speak = (text: string): void => {
    speaks = true;
    if (text !== "") onText(text);
  };
  return (piece) => {
    if (speaks) return onText(piece);
    held += piece;
    const open = close === null ? findOpeningTag(held, 0) : { after: 0, close };
    if (open === null) return isPossibleThought(held) ? undefined : speak(held);
    close = open.close;
    const end = findThoughtEnd(held, open);
    if (end !== -1) return speak(held.slice(end).trimStart());
    held = held.slice(open.after).slice(-LONGEST_TAG);
  };
}

function isPossibleThought(held: string): boolean {
  const start = held.trimStart();
  return start === "" || (start.startsWith("<") && start.length < LONGEST_TAG && !start.includes(">"));
}
