import * as z from "zod";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { type FailureDetails, parseFailure } from "./parse-failure.js";

/** The size of the rejected request and of its context window, in tokens. */
interface MeasuredRequest {
  readonly usedTokens: number;
  readonly windowTokens: number;
}

// A 413 for a request far below its context window means too many bytes (images), not tokens.
const BYTES_ARE_TOKENS_FROM = 0.9;
// A request below half of the window was not rejected for its input, even if our count is wrong: its output limit was too large.
const MIN_TRUSTED_SHARE = 0.5;

/**
 * True if a call failed because its input is too long for the model.
 *
 * Accepts the error of a call (AI SDK, provider SDKs, fetch wrappers, this package), a stored assistant message
 * (`stopReason`, `errorMessage`, `usage`), a response body or a text. Rate limits, quotas, overload, output limits and a
 * bare 400 are not overflows. A 413 is one, unless the request fills less than 0.9 of the window. Other texts without a
 * count by the provider are not trusted if the request fills less than half of it. Pure, bounded cost.
 *
 * @param measured - the size of the request, if known; without it only the text decides
 * @example
 * isContextOverflow(new Error("prompt is too long: 213462 tokens > 200000 maximum")); // true
 */
export function isContextOverflow(error: unknown, measured?: MeasuredRequest): boolean {
  if (error instanceof SummarizerCallError) return error.failure === "overflow";
  const stored = storedReply.safeParse(error);
  if (stored.success && stored.data.stopReason !== "error") return isSilentOverflow(stored.data, measured);
  return isOverflowFailure(parseFailure(error), measured);
}

/** True if a parsed failure is an overflow. */
export function isOverflowFailure(failure: FailureDetails, measured?: MeasuredRequest): boolean {
  if (failure.status === 429 || NOT_OVERFLOW.some((phrase) => phrase.test(failure.text))) return false;
  const phrase = OVERFLOW_PHRASES.find(({ pattern }) => pattern.test(failure.text));
  if (phrase !== undefined) return isPlausible(phrase, failure, measured);
  const isAboutBytes = failure.status === 413 || TOO_MANY_BYTES.some((words) => words.test(failure.text));
  return isAboutBytes && (measured === undefined || measured.usedTokens >= BYTES_ARE_TOKENS_FROM * measured.windowTokens);
}

/**
 * The context window that an error message names, in tokens; undefined if the message names none or is not an overflow.
 *
 * @example
 * parseContextLimit(new Error("prompt token count of 130000 exceeds the limit of 128000")); // 128000
 */
export function parseContextLimit(error: unknown): number | undefined {
  const { text, status } = parseFailure(error);
  return isOverflowFailure({ text, status, retryAfterMs: undefined }) ? findLimit(text) : undefined;
}

/** True if the request was large enough for the error to be an overflow. */
function isPlausible(phrase: OverflowPhrase, failure: FailureDetails, measured: MeasuredRequest | undefined): boolean {
  if (phrase.countedByProvider === true || measured === undefined) return true;
  // A router may have sent the request to a model with a smaller window.
  const window = Math.min(measured.windowTokens, findLimit(failure.text) ?? Number.POSITIVE_INFINITY);
  return measured.usedTokens >= MIN_TRUSTED_SHARE * window;
}

function findLimit(text: string): number | undefined {
  for (const pattern of [...OVERFLOW_PHRASES.map((phrase) => phrase.pattern), ...LIMIT_FIELDS]) {
    const limit = Number(pattern.exec(text)?.groups?.["limit"]?.replaceAll(",", ""));
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
  }
  return undefined;
}

const tokens = z.number().nonnegative().catch(0).default(0);
const noUsage = { input: 0, output: undefined, cacheRead: 0, cacheWrite: 0 };

/** The fields of an assistant message with its end. */
const storedReply = z.looseObject({
  role: z.literal("assistant"),
  stopReason: z.string(),
  usage: z
    .looseObject({ input: tokens, output: z.number().optional(), cacheRead: tokens, cacheWrite: tokens })
    .catch(noUsage)
    .default(noUsage),
});

/**
 * Overflows without an error: z.ai answers although the input exceeds the window; Xiaomi's model truncates the input and
 * has no room left for output.
 */
function isSilentOverflow({ stopReason, usage }: z.output<typeof storedReply>, measured: MeasuredRequest | undefined): boolean {
  if (measured === undefined) return false;
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  if (stopReason === "stop") return input > measured.windowTokens;
  return stopReason === "length" && usage.output === 0 && input >= 0.99 * measured.windowTokens;
}

/** A provider's text for a request that is too long. */
interface OverflowPhrase {
  /** The providers that use it. */
  readonly from: string;
  /** Matches the text. The group `limit` is the context window in tokens, if the text contains it. */
  readonly pattern: RegExp;
  /** The text contains the provider's own token count, so it is trusted regardless of the local count. */
  readonly countedByProvider?: true;
}

// From providers' responses, from the lists of pi and oh-my-pi and from public bug reports. The table test has a line for
// each row. Wide gaps are bounded, so that the cost is linear in the length of an error page.

/** All known texts of an overflow, the most specific first: the limit is read from the first match that has one. */
const OVERFLOW_PHRASES: readonly OverflowPhrase[] = [
  { from: "Anthropic", pattern: /prompt is too long: [\d,]+ tokens > (?<limit>[\d,]+) maximum/i, countedByProvider: true },
  { from: "Anthropic", pattern: /input length and \W{0,2}max_tokens\W{0,2} exceed context limit: [\d,]+ \+ [\d,]+ > (?<limit>[\d,]+)/i },
  { from: "Anthropic through Copilot CLI", pattern: /input length (?:and|\+) \W{0,2}max_tokens\W{0,2} exceed/i },
  { from: "Fireworks", pattern: /prompt is too long: [\d,]+, model maximum context length: (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "Anthropic", pattern: /prompt is too long/i },
  { from: "GitHub Copilot", pattern: /prompt token count of [\d,]+ exceeds the limit of (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "GitHub Copilot", pattern: /model_max_prompt_tokens_exceeded/i },
  {
    from: "OpenAI, DeepSeek",
    pattern:
      /maximum context length is (?<limit>[\d,]+) tokens\. however, your (?:messages|prompt) (?:resulted in|contains?) [\d,]+ tokens/i,
    countedByProvider: true,
  },
  { from: "OpenAI, OpenRouter, DeepSeek, vLLM", pattern: /maximum context length is (?<limit>[\d,]+)/i },
  { from: "OpenAI", pattern: /input tokens exceed the configured limit of (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "OpenAI", pattern: /input exceeds the context window/i },
  { from: "OpenAI", pattern: /exceeds the context window of this model/i },
  { from: "OpenAI, Cerebras", pattern: /context[_ ](?:length|window)[_ ]exceeded/i },
  { from: "LiteLLM, SGLang", pattern: /exceeds (?:the )?(?:model'?s )?maximum context length(?: of |\s*\()(?<limit>[\d,]+)/i },
  {
    from: "SGLang, Together",
    pattern: /input \([\d,]+ tokens\) is longer than the model'?s context length \((?<limit>[\d,]+) tokens\)/i,
    countedByProvider: true,
  },
  { from: "Hugging Face TGI", pattern: /tokens\W{1,4}\+\W{1,4}max_new_tokens\W{1,3}must be <= (?<limit>[\d,]+)/i },
  {
    from: "Gemini",
    pattern: /input token count(?: \([\d,]+\))? exceeds the maximum number of tokens allowed \((?<limit>[\d,]+)\)/i,
    countedByProvider: true,
  },
  { from: "Gemini", pattern: /input token count[^\n]{0,40} exceeds the maximum/i },
  { from: "Vertex AI", pattern: /input token count is [\d,]+ but model only supports up to (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "xAI", pattern: /maximum prompt length is (?<limit>[\d,]+)/i, countedByProvider: true },
  {
    from: "Cerebras",
    pattern: /reduce the length of the messages or completion\. current length is [\d,]+ while limit is (?<limit>[\d,]+)/i,
    countedByProvider: true,
  },
  { from: "Groq", pattern: /reduce the length of the messages/i },
  { from: "Amazon Bedrock", pattern: /input is too long for (?:the )?requested model/i },
  { from: "Amazon Bedrock", pattern: /malformed input request: expected maxlength: [\d,]+, actual: [\d,]+/i },
  { from: "Mistral", pattern: /too large for model with (?<limit>[\d,]+) maximum context length/i, countedByProvider: true },
  { from: "llama.cpp", pattern: /exceeds the available context size \((?<limit>[\d,]+) tokens\)/i, countedByProvider: true },
  { from: "llama.cpp", pattern: /exceed_context_size_error/i, countedByProvider: true },
  { from: "llama.cpp", pattern: /exceeds the available context size/i, countedByProvider: true },
  { from: "Ollama", pattern: /prompt too long; exceeded (?:max )?context length/i, countedByProvider: true },
  { from: "Ollama", pattern: /input length exceeds (?:the )?(?:maximum )?context length/i, countedByProvider: true },
  { from: "LM Studio", pattern: /loaded with context length of only (?<limit>[\d,]+) tokens/i, countedByProvider: true },
  { from: "LM Studio", pattern: /greater than the context length/i },
  { from: "vLLM", pattern: /longer than the maximum model length of (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "TensorRT-LLM", pattern: /prompt length \([\d,]+\) exceeds maximum input length \((?<limit>[\d,]+)\)/i, countedByProvider: true },
  { from: "MiniMax", pattern: /context window exceeds limit/i },
  { from: "Kimi", pattern: /exceeded model token limit: (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "Kimi", pattern: /exceeded model token limit/i },
  { from: "z.ai", pattern: /prompt exceeds max length/i },
  { from: "z.ai", pattern: /model_context_window_exceeded/i },
  { from: "Qwen", pattern: /range of input length should be \[\d+, ?(?<limit>[\d,]+)\]/i, countedByProvider: true },
  { from: "Poolside", pattern: /exceeds (?:the )?maximum allowed input length of (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "Cohere", pattern: /too many tokens: (?:total|size|the)/i },
  { from: "ds4", pattern: /prompt has [\d,]+ tokens?, but the configured context size is (?<limit>[\d,]+)/i, countedByProvider: true },
  { from: "Copilot CLI's list", pattern: /input length exceeds/i },
  { from: "pi's list, for servers of any make", pattern: /too many tokens|token limit exceeded/i },
];

/** The request had too many bytes, not tokens. Trusted only if the context is near its window. */
const TOO_MANY_BYTES: readonly RegExp[] = [
  /request_too_large/i,
  /request exceeds the maximum (?:size|allowed number of bytes)/i,
  /payload too large/i,
  /request entity too large/i,
];

/**
 * Texts that resemble an overflow and are not one; matched first. A limit per time passes by itself, and a smaller input
 * does not help against a limit of the output.
 */
const NOT_OVERFLOW: readonly RegExp[] = [
  /rate[ _-]?limit/i,
  /too many requests/i,
  /(?:tokens|requests) per (?:second|min|minute|hour|day|month)|\bTPM\b|\bTPD\b|\bRPM\b/i,
  /too many tokens per|too many tokens, please wait/i,
  /throttl/i,
  /quota|billing|credit balance|insufficient (?:credits|funds)/i,
  /overloaded|at capacity|server is busy|service unavailable|temporarily unavailable/i,
  // Limits of the output. vLLM names its context length in the same sentence.
  /max(?:_completion|_new|_output)?_tokens\W{0,3}(?:or \W?max_completion_tokens\W{0,3})?(?:is |are )?too (?:large|high|big)/i,
  /supports at most [\d,]+ completion tokens/i,
  /maximum allowed number of output tokens/i,
  /\bmax(?:_completion|_output)?_tokens\W{1,3}must be (?:less|at most|<=|in|between)/i,
  /(?:valid range of|range of|invalid) max_tokens/i,
  /maxOutputTokens/i,
  /image exceeds|image(?:'s)? (?:size|dimensions)/i,
];

/** The window as a field of the response (llama.cpp's `n_ctx`). */
const LIMIT_FIELDS: readonly RegExp[] = [/\bn_ctx\b\W{1,4}(?<limit>\d+)/i];
