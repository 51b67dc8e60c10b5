import { SummarizerCallError } from "../errors/summarizer-errors.js";
import type { TokenCounter } from "../tokens/token-counter.js";
import { MESSAGE_SEPARATOR, type SerializedMessage } from "./serialize.js";
import { cutMiddle, headOf } from "./text/cut-text.js";

/** A run of messages that one call reads. */
export interface Chunk {
  readonly text: string;
  readonly tokens: number;
  /** The serialised messages from `from` up to and without `to`. */
  readonly from: number;
  readonly to: number;
}

/** What is folded, and how a piece is written. `Answer` holds the summary so far as its `body`. */
interface FoldTask<Answer extends { readonly body: string }> {
  readonly messages: readonly SerializedMessage[];
  readonly previous: string | null;
  readonly counter: TokenCounter;
  /** Tokens that the conversation may take in the next call, whose prompt also holds this summary. */
  readonly budget: (previous: string | null) => number;
  readonly write: (piece: Chunk, previous: string | null) => Promise<Answer>;
}

/** So often a provider may say that a piece is too long; each time it is halved, so the last one is 1/64 of the first. */
const MAX_OVERFLOWS = 6;
/** Stands for a conversation that holds nothing a summariser may read. */
const NOTHING_SAID = "(no text)";

/**
 * Summarises a conversation that may be larger than the summariser's window: window by window at the borders of messages,
 * each call bringing the summary of the ones before up to date (oh-my-pi's rule, row 82). A piece that the provider finds
 * too long is halved and tried again; a single message that is too long is cut in its middle. Each message is in exactly
 * one piece that was answered.
 *
 * @throws what `write` throws, except for overflows that a smaller piece mends.
 */
export async function foldMessages<Answer extends { readonly body: string }>(task: FoldTask<Answer>): Promise<Answer> {
  const sizes = task.messages.map(({ text }) => task.counter.count(text) + 1);
  let previous = task.previous;
  let cap = Number.POSITIVE_INFINITY;
  let overflows = 0;
  for (let from = 0; ; ) {
    const piece = takeChunk(task, sizes, from, Math.min(cap, task.budget(previous)));
    try {
      const answer = await task.write(piece, previous);
      if (piece.to >= task.messages.length) return answer;
      previous = answer.body;
      from = piece.to;
    } catch (error) {
      overflows += 1;
      if (!isOverflow(error) || overflows > MAX_OVERFLOWS || piece.tokens <= 1) throw error;
      cap = Math.floor(piece.tokens / 2);
    }
  }
}

/** As many messages as fit, at least one; pure. `sizes`: tokens of each message. */
function takeChunk(
  { messages, counter }: Pick<FoldTask<never>, "messages" | "counter">,
  sizes: readonly number[],
  from: number,
  budget: number,
): Chunk {
  let tokens = sizes[from] ?? 0;
  let to = Math.min(from + 1, messages.length);
  if (tokens > budget) {
    const whole = messages[from]?.text ?? "";
    // Where not even the line that tells of the cut has room, its start: nothing would pass for read otherwise.
    const text = cutToTokens(whole, budget, counter) || headOf(whole, Math.max(1, budget));
    return { text, tokens: counter.count(text), from, to };
  }
  while (to < messages.length && tokens + (sizes[to] ?? 0) <= budget) {
    tokens += sizes[to] ?? 0;
    to += 1;
  }
  const texts = messages.slice(from, to).map(({ text }) => text);
  return { text: texts.length === 0 ? NOTHING_SAID : texts.join(MESSAGE_SEPARATOR), tokens, from, to };
}

function isOverflow(error: unknown): boolean {
  return error instanceof SummarizerCallError && error.failure === "overflow";
}

/** oh-my-pi's margin for what surrounds a summariser's input, in tokens; and its usual cap of an answer (80 % of the reserve). */
const MARGIN_TOKENS = 16_384;
const USUAL_OUTPUT_TOKENS = Math.floor(0.8 * MARGIN_TOKENS);
/** Neither takes more than this share of a window, so that a small one still has room for its input. */
const MOST_OF_WINDOW = 0.15;
/** Of what is left, at least this share is for the conversation, however long the prompt is. */
const LEAST_FOR_CONVERSATION = 0.25;

/** What bounds a summariser's input; tokens. */
interface InputBounds {
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
export function computeInputBudget({ windowTokens, inputShare, maxOutputTokens = USUAL_OUTPUT_TOKENS }: InputBounds): number {
  const most = Math.floor(MOST_OF_WINDOW * windowTokens);
  return Math.max(1, Math.floor(inputShare * windowTokens) - Math.min(maxOutputTokens, most) - Math.min(MARGIN_TOKENS, most));
}

/** What is left of an input budget for the conversation, when the rest of the prompt takes `frameTokens`. */
export function computeConversationBudget(budget: number, frameTokens: number): number {
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
