import { InvalidEntryError, nativeCompactionOf, normalizeUsage, type StopReason, stopReasonOf, type Usage } from "@bough/session-core";
import * as z from "zod";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import type { SummaryReply } from "./summarizer.js";

/** The reason why a reply ended, for all protocols. `unknown`: the server sent no reason. */
export type ReplyEnd = "stop" | "length" | "tool-calls" | "content-filter" | "unknown";

/** The reason why a reply has no end, for messages. */
export const CONNECTION_ENDED = "the connection ended before the response was complete";

/** A model's reply. */
export interface ModelReply {
  readonly text: string;
  readonly end: ReplyEnd;
  /** True if the reply calls a tool, with or without text. */
  readonly callsTool: boolean;
  /** True if the reply has a refusal in a separate field (OpenAI's `refusal`). */
  readonly refuses?: boolean | undefined;
}

/** Tool calls that a server left in the text, as Qwen, Hermes, Mistral and Anthropic's models write them. */
const CALL_IN_TEXT = /^\s*(?:<tool_call>|<\|tool_call|<function_calls>|<function=|\[TOOL_CALLS\])/;

/**
 * Validates a reply. @returns its text without leading thinking and without lone surrogates. Pure.
 *
 * The caller checks whether the text is smaller than its source.
 *
 * @throws {SummaryRejectedError} the reply is a refusal, a tool call, cut off by the output limit, or empty.
 */
export function validateReply({ text, end, callsTool, refuses }: ModelReply): string {
  const summary = stripThinking(text).toWellFormed().trim();
  if (refuses === true || end === "content-filter") throw new SummaryRejectedError("refused", summary);
  if (callsTool || end === "tool-calls" || CALL_IN_TEXT.test(summary)) throw new SummaryRejectedError("tool-call", summary);
  if (end === "length") throw new SummaryRejectedError("cut-by-length", summary);
  if (summary === "") throw new SummaryRejectedError("empty");
  return summary;
}

const count = z.number().nonnegative().optional().catch(undefined);
const usage = z.looseObject({ input: count, output: count, cacheRead: count, cacheWrite: count, totalTokens: count });

/** The result of a summarizer. Only the text is required; invalid other fields are dropped. */
const reply = z.object({
  text: z.string(),
  usage: usage.optional().catch(undefined),
  extracted: z.boolean().optional().catch(undefined),
  requestId: z.string().optional().catch(undefined),
  model: z.string().optional().catch(undefined),
  native: z
    .unknown()
    .transform((native) => nativeCompactionOf({ details: { native } }))
    .optional(),
});

/**
 * Validates the result of any summarizer.
 *
 * @throws {SummaryRejectedError} there is no text, or the text is not a valid reply.
 */
export function parseSummarizerReply(given: unknown): SummaryReply {
  const parsed = reply.safeParse(typeof given === "string" ? { text: given } : given);
  if (!parsed.success) throw new SummaryRejectedError("not-a-text");
  return { ...parsed.data, text: validateReply({ text: parsed.data.text, end: "unknown", callsTool: false }) };
}

const OPEN = /\s*<(think|thinking|thought|reasoning)>/iy;
/** Chat templates of DeepSeek and Qwen put the opening tag in the prompt, so the reply has only the closing one. */
const CLOSE_ALONE = /^[ \t]*<\/(?:think|thinking)>[ \t]*$/im;

/**
 * Removes leading thinking: `<think>` blocks, and everything before a `</think>` on a line of its own. A block that does
 * not end extends to the end of the reply. Tags in the text that follows are kept. Linear.
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
  // After an opening tag, the closing tag is a quotation.
  return close === null || /<think/i.test(text.slice(0, close.index)) ? text : text.slice(close.index + close[0].length).trimStart();
}

/** The opening tag at `from`, after white space. */
function findOpeningTag(text: string, from: number): { readonly after: number; readonly close: RegExp } | null {
  OPEN.lastIndex = from;
  const open = OPEN.exec(text);
  return open === null ? null : { after: OPEN.lastIndex, close: new RegExp(`</${open[1]}>`, "gi") };
}

function findThoughtEnd(text: string, { after, close }: { readonly after: number; readonly close: RegExp }): number {
  close.lastIndex = after;
  return close.exec(text) === null ? -1 : close.lastIndex;
}

/** Longer than any closing tag. This much of the thinking is kept, so that a tag split between pieces is found. */
const MAX_TAG_CHARS = 32;

/**
 * Wraps `onText` so that it does not get the leading thinking of a reply. For progress only; the summary is validated as
 * a whole. The cost of a piece depends only on its length.
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
    held = held.slice(open.after).slice(-MAX_TAG_CHARS);
  };
}

function isPossibleThought(held: string): boolean {
  const start = held.trimStart();
  return start === "" || (start.startsWith("<") && start.length < MAX_TAG_CHARS && !start.includes(">"));
}

const ENDS: ReadonlyMap<string, ReplyEnd> = new Map<StopReason, ReplyEnd>([
  ["stop", "stop"],
  ["length", "length"],
  ["toolUse", "tool-calls"],
  ["contentFilter", "content-filter"],
]);

/** Returns the reason why a reply ended, from the finish reason of a server or of the AI SDK. */
export function readReplyEnd(finishReason: string): ReplyEnd {
  return ENDS.get(stopReasonOf(finishReason)) ?? "unknown";
}

/** The usage that a server or the AI SDK reports; undefined: no count that is known. A summary is worth more than its count of tokens. */
export function readReplyUsage(given: object | null | undefined): Usage | undefined {
  try {
    const usage = normalizeUsage(given ?? {});
    return Object.keys(usage).length === 0 ? undefined : usage;
  } catch (error) {
    if (error instanceof InvalidEntryError) return undefined;
    throw error;
  }
}
