import { type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";
import { cutMiddle } from "../shrink/request/cut-text.js";
import type { CountedMessage, CountMessage } from "./request-parts.js";

/** A cut text keeps at least this many UTF-16 units: less tells a model nothing. */
const LEAST_CHARS = 200;
// The least and its marker. What is not longer is not cut, so a cut text is never cut into something else again.
const SHORT_CHARS = LEAST_CHARS + 100;
// Each look counts a text once more. The first guess is right for text of one density; eight find any.
const MOST_LOOKS = 8;
const CLOSE_ENOUGH = 0.95;

/** How a message is cut. */
export interface CutOptions {
  /** What the message may have. */
  readonly budgetTokens: number;
  /** Share of what stays that is the head; the rest is the tail. */
  readonly headShare: number;
  readonly count: CountMessage;
}

/**
 * The message without the middle of its text, as long as its budget allows. Attachments go only where cutting the text
 * is not enough. A message that has nothing to cut comes back as it is; one that stays too long comes back as short as it
 * gets, which the caller sees by its tokens. Linear: at most `MOST_LOOKS` counts for the text with and without attachments.
 */
export function cutMessage(whole: CountedMessage, cut: CutOptions): CountedMessage {
  const content = readMessageText(whole.message);
  if (content === null || whole.tokens <= cut.budgetTokens) return whole;
  const kept = cutToMinimum(whole, content, cut);
  if (kept.tokens <= cut.budgetTokens) return findLongestFit(whole.message, content, { least: kept, most: whole }, cut);
  if (content.attachments.length === 0) return pickSmaller(kept, whole);
  return cutWithoutAttachments(whole, content, cut);
}

/** Cuts a message whose attachments must go. */
function cutWithoutAttachments(whole: CountedMessage, { text, attachments }: MessageText, cut: CutOptions): CountedMessage {
  const bare: MessageText = { text, attachments: [] };
  const note = attachments.length;
  const most = cutTo(whole.message, bare, text.length, cut, note);
  if (most.tokens <= cut.budgetTokens) return most;
  const least = cutToMinimum(whole, bare, cut, note);
  return least.tokens <= cut.budgetTokens ? findLongestFit(whole.message, bare, { least, most }, cut, note) : pickSmaller(least, whole);
}

function cutTo(message: ContextMessage, content: MessageText, chars: number, { headShare, count }: CutOptions, gone = 0): CountedMessage {
  const text = cutMiddle(content.text, chars, headShare, gone);
  const shorter = replaceText(message, { text, attachments: content.attachments });
  return { message: shorter, tokens: count(shorter) };
}

function cutToMinimum(whole: CountedMessage, content: MessageText, cut: CutOptions, gone = 0): CountedMessage {
  if (gone === 0 && content.text.length <= SHORT_CHARS) return whole;
  return cutTo(whole.message, content, LEAST_CHARS, cut, gone);
}

function pickSmaller(one: CountedMessage, other: CountedMessage): CountedMessage {
  return one.tokens < other.tokens ? one : other;
}

/** Looks for the longest text between one that fits and one that does not, by the tokens that both have. */
function findLongestFit(
  message: ContextMessage,
  content: MessageText,
  between: { readonly least: CountedMessage; readonly most: CountedMessage },
  cut: CutOptions,
  gone = 0,
): CountedMessage {
  const { budgetTokens } = cut;
  let best = between.least;
  let fits = { chars: Math.min(LEAST_CHARS, content.text.length), tokens: best.tokens };
  let over = { chars: content.text.length, tokens: between.most.tokens };
  for (let look = 0; look < MOST_LOOKS && over.chars - fits.chars > 1 && best.tokens < CLOSE_ENOUGH * budgetTokens; look += 1) {
    const chars = guessChars(fits, over, budgetTokens, look);
    const tried = cutTo(message, content, chars, cut, gone);
    if (tried.tokens <= budgetTokens) [best, fits] = [tried, { chars, tokens: tried.tokens }];
    else over = { chars, tokens: tried.tokens };
  }
  return best;
}

interface CutAttempt {
  readonly chars: number;
  readonly tokens: number;
}

// Every third look halves what is left, for texts that are dense in one place and thin in another.
function guessChars(fits: CutAttempt, over: CutAttempt, budgetTokens: number, look: number): number {
  const span = over.chars - fits.chars;
  const share = look % 3 === 2 ? 0.5 : (0.98 * (budgetTokens - fits.tokens)) / Math.max(1, over.tokens - fits.tokens);
  return fits.chars + Math.min(span - 1, Math.max(1, Math.floor(span * share)));
}

/** What may be cut of a message: its text, and what stands beside it. */
export interface MessageText {
  readonly text: string;
  /** Images, documents and other blocks that are no text. */
  readonly attachments: readonly ContentBlock[];
}

/** The text of a message that may be cut; null: of a reply, where every word may belong to a call or a signature. */
export function readMessageText(message: ContextMessage): MessageText | null {
  switch (message.role) {
    case "assistant":
      return null;
    case "user":
    case "custom":
    case "toolResult":
      return { text: textOf(message.content), attachments: attachmentsOf(message.content) };
    case "bashExecution":
      return { text: message.output, attachments: [] };
    case "compactionSummary":
    case "branchSummary":
      return { text: message.summary, attachments: [] };
  }
}

function attachmentsOf(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === "string" ? [] : content.filter((block) => block.type !== "text");
}

/** The message with another text, its role, ids and all else as they were. Several texts become one, before the attachments. */
export function replaceText(message: ContextMessage, { text, attachments }: MessageText): ContextMessage {
  switch (message.role) {
    case "assistant":
      return message;
    case "user":
    case "custom":
    case "toolResult":
      return { ...message, content: contentOf(typeof message.content === "string", text, attachments) };
    case "bashExecution":
      return { ...message, output: text };
    case "compactionSummary":
    case "branchSummary":
      return { ...message, summary: text };
  }
}

function contentOf(wasString: boolean, text: string, attachments: readonly ContentBlock[]): string | ContentBlock[] {
  return wasString && attachments.length === 0 ? text : [{ type: "text", text }, ...attachments];
}
