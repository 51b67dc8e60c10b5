import type { TokenCounter } from "../tokens/token-counter.js";
import { cutMiddle } from "./text/cut-text.js";

/** oh-my-pi's margin for what surrounds a summariser's input, in tokens; and its usual cap of an answer (80 % of the reserve). */
const MARGIN_TOKENS = 16_384;
const USUAL_OUTPUT_TOKENS = Math.floor(0.8 * MARGIN_TOKENS);
/** Neither takes more than this share of a window, so that a small one still has room for its input. */
const MOST_OF_WINDOW = 0.15;
/** Of what is left, at least this share is for the conversation, however long the prompt is. */
const LEAST_FOR_CONVERSATION = 0.25;

/** What bounds a summariser's input; tokens. */
export interface InputBounds {
  readonly windowTokens: number;
  readonly inputShare: number;
  /** undefined: the usual one. */
  readonly maxOutputTokens: number | undefined;
}

/**
 * What one call may read, prompt and all: `floor(inputShare × window) − output − 16,384`, the rule of oh-my-pi (row 82).
 * In windows below 109,227 tokens output and margin shrink with the window.
 *
 * @example
 * inputBudget({ windowTokens: 200_000, inputShare: 0.8, maxOutputTokens: 4_000 }); // 139616
 */
export function inputBudget({ windowTokens, inputShare, maxOutputTokens = USUAL_OUTPUT_TOKENS }: InputBounds): number {
  const most = Math.floor(MOST_OF_WINDOW * windowTokens);
  return Math.max(1, Math.floor(inputShare * windowTokens) - Math.min(maxOutputTokens, most) - Math.min(MARGIN_TOKENS, most));
}

/** What is left of an input budget for the conversation, when the rest of the prompt takes `frameTokens`. */
export function conversationBudget(budget: number, frameTokens: number): number {
  return Math.max(1, Math.floor(budget * LEAST_FOR_CONVERSATION), budget - frameTokens);
}

/** A text without so much of its middle that it has at most `maxTokens`. A few counts of the text, each linear. */
export function cutToTokens(text: string, maxTokens: number, counter: TokenCounter): string {
  let chars = text.length;
  let short = text;
  for (let tokens = counter.count(text); tokens > maxTokens && chars > 0; tokens = counter.count(short)) {
    // Always less than before, so that it ends also where the marker alone is more than `maxTokens`.
    chars = Math.floor(chars * Math.min(0.9, maxTokens / tokens));
    short = chars === 0 ? "" : cutMiddle(text, chars);
  }
  return short;
}
