import { SummarizerCallError } from "../errors/summarizer-errors.js";
import type { TokenCounter } from "../tokens/token-counter.js";
import { cutToTokens } from "./input-budget.js";
import { BETWEEN, type SerialisedMessage } from "./serialise.js";
import { headOf } from "./text/cut-text.js";

/** A run of messages that one call reads. */
export interface Piece {
  readonly text: string;
  readonly tokens: number;
  /** The serialised messages from `from` up to and without `to`. */
  readonly from: number;
  readonly to: number;
}

/** What is folded, and how a piece is written. `Answer` holds the summary so far as its `body`. */
export interface FoldTask<Answer extends { readonly body: string }> {
  readonly messages: readonly SerialisedMessage[];
  readonly previous: string | null;
  readonly counter: TokenCounter;
  /** Tokens that the conversation may take in the next call, whose prompt also holds this summary. */
  readonly budget: (previous: string | null) => number;
  readonly write: (piece: Piece, previous: string | null) => Promise<Answer>;
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
export async function fold<Answer extends { readonly body: string }>(task: FoldTask<Answer>): Promise<Answer> {
  const sizes = task.messages.map(({ text }) => task.counter.count(text) + 1);
  let previous = task.previous;
  let cap = Number.POSITIVE_INFINITY;
  let overflows = 0;
  for (let from = 0; ; ) {
    const piece = takePiece(task, sizes, from, Math.min(cap, task.budget(previous)));
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
export function takePiece(
  { messages, counter }: Pick<FoldTask<never>, "messages" | "counter">,
  sizes: readonly number[],
  from: number,
  budget: number,
): Piece {
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
  return { text: texts.length === 0 ? NOTHING_SAID : texts.join(BETWEEN), tokens, from, to };
}

function isOverflow(error: unknown): boolean {
  return error instanceof SummarizerCallError && error.failure === "overflow";
}
