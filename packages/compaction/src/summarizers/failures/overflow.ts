import { z } from "zod";
import { SummarizerCallError } from "../../errors/summarizer-errors.js";
import { LIMIT_FIELDS, NOT_OVERFLOW, OVERFLOW_PHRASES, type OverflowPhrase, TOO_MANY_BYTES } from "./overflow-phrases.js";
import { type Failure, readFailure } from "./read-failure.js";

/** What we know of the request that was refused, both in tokens. */
export interface MeasuredRequest {
  readonly usedTokens: number;
  readonly windowTokens: number;
}

// oh-my-pi's: a 413 of a request that is far from its window is about bytes (images), not about tokens.
const BYTES_ARE_TOKENS_FROM = 0.9;
// Below half of the window not even a bad count explains a refusal: the output limit was too large (R109).
const BELIEVED_FROM = 0.5;

/**
 * Whether a call failed because its input is too long for the model.
 *
 * Takes what a call threw (AI SDK, provider SDKs, fetch wrappers, our own), an assistant message as it was stored
 * (`stopReason`, `errorMessage`, `usage`), an answer's body or a text. Rate limits, quotas, overload, output limits and a
 * bare 400 are never overflow. A 413 is (Copilot CLI's rule), unless the measured request fills less than 0.9 of the
 * window; other words that name no count of the provider's own are not believed below half of it. Pure, bounded cost.
 *
 * @param measured - what was sent, where it is known; without it the words alone decide
 * @example
 * isContextOverflow(new Error("prompt is too long: 213462 tokens > 200000 maximum")); // true
 */
export function isContextOverflow(error: unknown, measured?: MeasuredRequest): boolean {
  if (error instanceof SummarizerCallError) return error.failure === "overflow";
  const stored = storedReply.safeParse(error);
  if (stored.success && stored.data.stopReason !== "error") return isSilentOverflow(stored.data, measured);
  return saysOverflow(readFailure(error), measured);
}

/** The same of a failure that was read already. */
export function saysOverflow(failure: Failure, measured?: MeasuredRequest): boolean {
  if (failure.status === 429 || NOT_OVERFLOW.some((phrase) => phrase.test(failure.text))) return false;
  const phrase = OVERFLOW_PHRASES.find(({ says }) => says.test(failure.text));
  if (phrase !== undefined) return isBelieved(phrase, failure, measured);
  const isAboutBytes = failure.status === 413 || TOO_MANY_BYTES.some((words) => words.test(failure.text));
  return isAboutBytes && (measured === undefined || measured.usedTokens >= BYTES_ARE_TOKENS_FROM * measured.windowTokens);
}

/**
 * The window that the provider named in its refusal, in tokens. Only of a refusal that is an overflow by its words.
 *
 * @example
 * limitOf(new Error("prompt token count of 130000 exceeds the limit of 128000")); // 128000
 */
export function limitOf(error: unknown): number | undefined {
  const { text, status } = readFailure(error);
  return saysOverflow({ text, status, retryAfterMs: undefined }) ? limitIn(text) : undefined;
}

function isBelieved(phrase: OverflowPhrase, failure: Failure, measured: MeasuredRequest | undefined): boolean {
  if (phrase.measured === true || measured === undefined) return true;
  // A request may have been routed to a model with a smaller window than ours.
  const window = Math.min(measured.windowTokens, limitIn(failure.text) ?? Number.POSITIVE_INFINITY);
  return measured.usedTokens >= BELIEVED_FROM * window;
}

function limitIn(text: string): number | undefined {
  for (const says of [...OVERFLOW_PHRASES.map((phrase) => phrase.says), ...LIMIT_FIELDS]) {
    const limit = Number(says.exec(text)?.groups?.["limit"]?.replaceAll(",", ""));
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
  }
  return undefined;
}

const tokens = z.number().nonnegative().catch(0).default(0);
const noUsage = { input: 0, output: undefined, cacheRead: 0, cacheWrite: 0 };

/** An assistant message, as far as it says how it ended. */
const storedReply = z.looseObject({
  role: z.literal("assistant"),
  stopReason: z.string(),
  usage: z
    .looseObject({ input: tokens, output: z.number().optional(), cacheRead: tokens, cacheWrite: tokens })
    .catch(noUsage)
    .default(noUsage),
});

/**
 * Providers that do not refuse (pi's two cases): z.ai answers though the input exceeds the window, and Xiaomi's model
 * takes what fits and has no room left for a word.
 */
function isSilentOverflow({ stopReason, usage }: z.output<typeof storedReply>, measured: MeasuredRequest | undefined): boolean {
  if (measured === undefined) return false;
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  if (stopReason === "stop") return input > measured.windowTokens;
  return stopReason === "length" && usage.output === 0 && input >= 0.99 * measured.windowTokens;
}
