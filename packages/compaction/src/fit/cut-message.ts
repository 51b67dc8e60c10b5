import { type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";
import { cutMiddle } from "@bough/session-core/view";
import { bodyOf, withBody } from "@bough/session-core/wire";
import type { CountedMessage, CountMessage } from "./request-parts.js";

/** A cut text keeps at least this many UTF-16 code units; a shorter one is of no use to a model. */
const MIN_CHARS = 200;

// The minimum and its marker. Texts up to this length are not cut, so a cut text is not cut again.
const SHORT_CHARS = MIN_CHARS + 100;

// Each attempt counts the text once. One suffices for text of even token density, eight for any text.
const MAX_ATTEMPTS = 8;

const CLOSE_ENOUGH = 0.95;

/** Options of cutting a message. */
interface CutOptions {
  /** The most tokens that the message may have. */
  readonly budgetTokens: number;
  /** Share of the kept characters that is taken from the start; the rest is taken from the end. */
  readonly headShare: number;
  readonly count: CountMessage;
}

/**
 * Removes the middle of a message's text so that the message is within its budget, with as much text as fits.
 * Attachments are removed only if cutting the text is not enough. A message without text to cut is returned as it is; one
 * that cannot be made small enough is returned at its minimum, so the caller must check `tokens`. Linear: at most
 * `MAX_ATTEMPTS` counts each for the text with and without attachments.
 */
export function cutMessage(whole: CountedMessage, cut: CutOptions): CountedMessage {
  const content = readMessageText(whole.message);
  if (content === null || whole.tokens <= cut.budgetTokens) return whole;
  const kept = cutToMinimum(whole, content, cut);
  if (kept.tokens <= cut.budgetTokens) return findLongestFit(whole.message, content, { least: kept, most: whole }, cut);
  if (content.attachments.length === 0) return pickSmaller(kept, whole);
  return cutWithoutAttachments(whole, content, cut);
}

/** Cuts a message and removes its attachments. */
function cutWithoutAttachments(whole: CountedMessage, { text, attachments }: MessageText, cut: CutOptions): CountedMessage {
  const bare: MessageText = { text, attachments: [] };
  const most = cutToChars(whole.message, bare, text.length, cut, attachments.length);
  if (most.tokens <= cut.budgetTokens) return most;
  const least = cutToMinimum(whole, bare, cut, attachments.length);
  return least.tokens <= cut.budgetTokens
    ? findLongestFit(whole.message, bare, { least, most }, cut, attachments.length)
    : pickSmaller(least, whole);
}

function cutToMinimum(whole: CountedMessage, content: MessageText, cut: CutOptions, removedAttachments = 0): CountedMessage {
  if (removedAttachments === 0 && content.text.length <= SHORT_CHARS) return whole;
  return cutToChars(whole.message, content, MIN_CHARS, cut, removedAttachments);
}

function cutToChars(
  message: ContextMessage,
  content: MessageText,
  chars: number,
  { headShare, count }: CutOptions,
  removedAttachments = 0,
): CountedMessage {
  const text = cutForRequest(content.text, chars, headShare, removedAttachments);
  const shorter = replaceText(message, { text, attachments: content.attachments });
  return { message: shorter, tokens: count(shorter) };
}

function pickSmaller(one: CountedMessage, other: CountedMessage): CountedMessage {
  return one.tokens < other.tokens ? one : other;
}

/** Searches the longest text between `least`, which fits, and `most`, which does not, by interpolating their tokens. */
function findLongestFit(
  message: ContextMessage,
  content: MessageText,
  between: { readonly least: CountedMessage; readonly most: CountedMessage },
  cut: CutOptions,
  removedAttachments = 0,
): CountedMessage {
  const { budgetTokens } = cut;
  let best = between.least;
  let fits = { chars: Math.min(MIN_CHARS, content.text.length), tokens: best.tokens };
  let over = { chars: content.text.length, tokens: between.most.tokens };
  for (let attempt = 0; attempt < MAX_ATTEMPTS && over.chars - fits.chars > 1 && best.tokens < CLOSE_ENOUGH * budgetTokens; attempt += 1) {
    const chars = guessChars(fits, over, budgetTokens, attempt);
    const tried = cutToChars(message, content, chars, cut, removedAttachments);
    if (tried.tokens <= budgetTokens) [best, fits] = [tried, { chars, tokens: tried.tokens }];
    else over = { chars, tokens: tried.tokens };
  }
  return best;
}

interface CutAttempt {
  readonly chars: number;
  readonly tokens: number;
}

// Every third attempt halves the interval, because the token density of a text can vary.
function guessChars(fits: CutAttempt, over: CutAttempt, budgetTokens: number, attempt: number): number {
  const span = over.chars - fits.chars;
  const share = attempt % 3 === 2 ? 0.5 : (0.98 * (budgetTokens - fits.tokens)) / Math.max(1, over.tokens - fits.tokens);
  return fits.chars + Math.min(span - 1, Math.max(1, Math.floor(span * share)));
}

/** The text of a message and its other blocks. */
interface MessageText {
  readonly text: string;
  /** Images, documents and other blocks that are not text. */
  readonly attachments: readonly ContentBlock[];
}

/** The text of a message that may be cut. null for a reply: its text may belong to a call or a signature. */
function readMessageText(message: ContextMessage): MessageText | null {
  if (message.role === "assistant") return null;
  const body = bodyOf(message);
  return typeof body === "string"
    ? { text: body, attachments: [] }
    : { text: textOf(body), attachments: body.filter((block) => block.type !== "text") };
}

/** The message with another text; role, ids and other fields stay. Several text blocks become one, before the attachments. */
function replaceText(message: ContextMessage, { text, attachments }: MessageText): ContextMessage {
  const isText = typeof bodyOf(message) === "string" && attachments.length === 0;
  return withBody(message, isText ? text : [{ type: "text", text }, ...attachments]);
}

/** The marker of a cut: the number of removed UTF-16 code units, and of removed images and documents. */
export function cutMarker(chars: number, attachments: number): string {
  const missing = [chars > 0 ? `${chars} characters` : "", attachments > 0 ? `${attachments} images or documents` : ""];
  return `[${missing.filter((one) => one !== "").join(" and ")} left out of this request]`;
}

/**
 * Removes the middle of a text and adds the marker; `chars` UTF-16 code units remain.
 *
 * @example
 * cutForRequest("a".repeat(1_000), 10, 0.4, 0); // "aaaa\n[990 characters left out of this request]\naaaaaa"
 */
export function cutForRequest(text: string, chars: number, headShare: number, attachments: number): string {
  if (chars < text.length) return cutMiddle(text, chars, headShare, (missing) => cutMarker(missing, attachments));
  if (attachments === 0) return text;
  return text === "" ? cutMarker(0, attachments) : `${text}\n${cutMarker(0, attachments)}`;
}
