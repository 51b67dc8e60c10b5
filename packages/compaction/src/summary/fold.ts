import { cutMiddle, takeStart } from "@bough/session-core/internals";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import type { TokenCounter } from "../tokens/token-counter.js";
import { MESSAGE_SEPARATOR, type SerializedMessage } from "./serialize.js";

/** Consecutive messages that one call summarizes. */
export interface Chunk {
  readonly text: string;
  readonly tokens: number;
  /** The range of serialized messages: from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
}

/** A conversation to summarize in chunks, and how a chunk is written. `Response.body` is the summary so far. */
interface FoldTask<Response extends { readonly body: string }> {
  readonly messages: readonly SerializedMessage[];
  readonly previous: string | null;
  readonly counter: TokenCounter;
  /** Tokens available for the conversation in the next call, whose prompt also contains this summary. */
  readonly budget: (previous: string | null) => number;
  readonly write: (chunk: Chunk, previous: string | null) => Promise<Response>;
}

/** The most overflows of one conversation. Each halves the chunk, so the last is 1/64 of the first. */
const MAX_OVERFLOWS = 6;
/** Replaces a conversation without text. */
const NOTHING_SAID = "(no text)";

/**
 * Summarizes a conversation that may be larger than the summarizer's context window, chunk by chunk: each call updates
 * the summary of the earlier chunks. Chunks end between messages. A chunk that the provider refuses as too long is halved
 * and tried again; a single message that is too long loses its middle. Each message is in exactly one answered chunk.
 *
 * @throws what `write` throws, except overflows that a smaller chunk avoids.
 */
export async function foldMessages<Response extends { readonly body: string }>(task: FoldTask<Response>): Promise<Response> {
  const sizes = task.messages.map(({ text }) => task.counter.count(text) + 1);
  let previous = task.previous;
  let cap = Number.POSITIVE_INFINITY;
  let overflows = 0;
  for (let from = 0; ; ) {
    const chunk = takeChunk(task, sizes, from, Math.min(cap, task.budget(previous)));
    try {
      const response = await task.write(chunk, previous);
      if (chunk.to >= task.messages.length) return response;
      previous = response.body;
      from = chunk.to;
    } catch (error) {
      overflows += 1;
      if (!isOverflow(error) || overflows > MAX_OVERFLOWS || chunk.tokens <= 1) throw error;
      cap = Math.floor(chunk.tokens / 2);
    }
  }
}

/** The next chunk: as many messages as fit, at least one. `sizes`: tokens of each message. */
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
    // If not even the marker of a cut fits, the start of the text is sent, so that no message is skipped silently.
    const text = cutToTokens(whole, budget, counter) || takeStart(whole, Math.max(1, budget));
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

/** Margin for the rest of a summarizer's input, and the usual cap of an answer (80 % of the margin); tokens, as in oh-my-pi. */
const MARGIN_TOKENS = 16_384;
const USUAL_OUTPUT_TOKENS = Math.floor(0.8 * MARGIN_TOKENS);
/** Neither takes more than this share of the context window, so that a small window has room for input. */
const MOST_OF_WINDOW = 0.15;
/** At least this share of the remaining tokens is for the conversation, however long the prompt is. */
const LEAST_FOR_CONVERSATION = 0.25;

/** The bounds of a summarizer's input, in tokens. */
interface InputBounds {
  readonly windowTokens: number;
  readonly inputShare: number;
  /** undefined: the usual cap. */
  readonly maxOutputTokens: number | undefined;
}

/**
 * The tokens of one call's input, prompt included: `floor(inputShare × window) − output − 16,384`. In windows below
 * 109,227 tokens, output and margin are shares of the window.
 *
 * @example
 * computeInputBudget({ windowTokens: 200_000, inputShare: 0.8, maxOutputTokens: 4_000 }); // 139616
 */
export function computeInputBudget({ windowTokens, inputShare, maxOutputTokens = USUAL_OUTPUT_TOKENS }: InputBounds): number {
  const most = Math.floor(MOST_OF_WINDOW * windowTokens);
  return Math.max(1, Math.floor(inputShare * windowTokens) - Math.min(maxOutputTokens, most) - Math.min(MARGIN_TOKENS, most));
}

/** The tokens of an input budget that are left for the conversation if the rest of the prompt takes `frameTokens`. */
export function computeConversationBudget(budget: number, frameTokens: number): number {
  return Math.max(1, Math.floor(budget * LEAST_FOR_CONVERSATION), budget - frameTokens);
}

/** Removes so much of a text's middle that it has at most `maxTokens`. Counts the text a few times, each linear. */
export function cutToTokens(text: string, maxTokens: number, counter: TokenCounter): string {
  let chars = text.length;
  let short = text;
  for (let tokens = counter.count(text); tokens > maxTokens && chars > 0; tokens = counter.count(short)) {
    // Shrinks each time, so the loop ends even if the marker alone has more than `maxTokens`.
    chars = Math.floor(chars * Math.min(0.9, maxTokens / tokens));
    short = chars === 0 ? "" : cutMiddle(text, chars);
  }
  return short;
}
