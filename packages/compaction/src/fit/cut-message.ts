import { type ContentBlock, type ContextMessage, textOf } from "@bough/session-core";
import { cutMiddle } from "../shrink/request/cut-text.js";
import type { Counted, CountMessage } from "./request-parts.js";

/** A cut text keeps at least this many UTF-16 units: less tells a model nothing. */
const LEAST_CHARS = 200;
// The least and its marker. What is not longer is not cut, so a cut text is never cut into something else again.
const SHORT_CHARS = LEAST_CHARS + 100;
// Each look counts a text once more. The first guess is right for text of one density; eight find any.
const MOST_LOOKS = 8;
const CLOSE_ENOUGH = 0.95;

/** How a message is cut. */
export interface Cut {
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
export function cutMessage(whole: Counted, cut: Cut): Counted {
  const content = messageText(whole.message);
  if (content === null || whole.tokens <= cut.budgetTokens) return whole;
  const kept = shortest(whole, content, cut);
  if (kept.tokens <= cut.budgetTokens) return longest(whole.message, content, { least: kept, most: whole }, cut);
  if (content.attachments.length === 0) return smaller(kept, whole);
  return cutBare(whole, content, cut);
}

/** Cuts a message whose attachments must go. */
function cutBare(whole: Counted, { text, attachments }: MessageText, cut: Cut): Counted {
  const bare: MessageText = { text, attachments: [] };
  const note = attachments.length;
  const most = shown(whole.message, bare, text.length, cut, note);
  if (most.tokens <= cut.budgetTokens) return most;
  const least = shortest(whole, bare, cut, note);
  return least.tokens <= cut.budgetTokens ? longest(whole.message, bare, { least, most }, cut, note) : smaller(least, whole);
}

function shown(message: ContextMessage, content: MessageText, chars: number, { headShare, count }: Cut, gone = 0): Counted {
  const text = cutMiddle(content.text, chars, headShare, gone);
  const shorter = withText(message, { text, attachments: content.attachments });
  return { message: shorter, tokens: count(shorter) };
}

function shortest(whole: Counted, content: MessageText, cut: Cut, gone = 0): Counted {
  if (gone === 0 && content.text.length <= SHORT_CHARS) return whole;
  return shown(whole.message, content, LEAST_CHARS, cut, gone);
}

function smaller(one: Counted, other: Counted): Counted {
  return one.tokens < other.tokens ? one : other;
}

/** Looks for the longest text between one that fits and one that does not, by the tokens that both have. */
function longest(
  message: ContextMessage,
  content: MessageText,
  between: { readonly least: Counted; readonly most: Counted },
  cut: Cut,
  gone = 0,
): Counted {
  const { budgetTokens } = cut;
  let best = between.least;
  let fits = { chars: Math.min(LEAST_CHARS, content.text.length), tokens: best.tokens };
  let over = { chars: content.text.length, tokens: between.most.tokens };
  for (let look = 0; look < MOST_LOOKS && over.chars - fits.chars > 1 && best.tokens < CLOSE_ENOUGH * budgetTokens; look += 1) {
    const chars = guess(fits, over, budgetTokens, look);
    const tried = shown(message, content, chars, cut, gone);
    if (tried.tokens <= budgetTokens) [best, fits] = [tried, { chars, tokens: tried.tokens }];
    else over = { chars, tokens: tried.tokens };
  }
  return best;
}

interface Looked {
  readonly chars: number;
  readonly tokens: number;
}

// Every third look halves what is left, for texts that are dense in one place and thin in another.
function guess(fits: Looked, over: Looked, budgetTokens: number, look: number): number {
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
export function messageText(message: ContextMessage): MessageText | null {
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
export function withText(message: ContextMessage, { text, attachments }: MessageText): ContextMessage {
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
