import { APICallError, RetryError } from "ai";
import { describe, expect, test } from "vitest";
import { isContextOverflow, parseContextLimit } from "../../src/summarizers/overflow.js";

// What providers say, word for word, and the window that they name.
const TOO_LONG: readonly (readonly [provider: string, says: string, limit: number | undefined])[] = [
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000],
  [
    "Anthropic",
    "input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    200_000,
  ],
  ["Anthropic, escaped by a proxy", '{"error":{"message":"prompt is too long: 200104 tokens \\u003e 200000 maximum"}}', 200_000],
  [
    "OpenAI",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130123 tokens. Please reduce the length of the messages.",
    128_000,
  ],
  [
    "OpenAI",
    "This model's maximum context length is 4097 tokens, however you requested 5360 tokens (1360 in your prompt; 4000 for the completion).",
    4_097,
  ],
  ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again.", undefined],
  ["OpenAI", "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301884 tokens.", 272_000],
  ["OpenAI's code", '{"error":{"message":"too long","code":"context_length_exceeded"}}', undefined],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 150321 tokens (140321 of text input, 10000 in the output).",
    131_072,
  ],
  ["OpenRouter, Poolside", "Input length 140000 exceeds the maximum allowed input length of 131072 tokens.", 131_072],
  ["LiteLLM", "Requested token count exceeds the model's maximum context length of 131072 tokens", 131_072],
  ["OpenAI-compatible", "Input length (265330) exceeds model's maximum context length (262144).", 262_144],
  ["vLLM", "This model's maximum context length is 32768 tokens. However, your prompt contains 40000 tokens", 32_768],
  [
    "vLLM",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    4_096,
  ],
  ["TensorRT-LLM", "Prompt length (9000) exceeds maximum input length (8192). Set log level to info and check TRTGptModel logs", 8_192],
  ["SGLang, Together", "The input (12000 tokens) is longer than the model's context length (8192 tokens).", 8_192],
  [
    "Hugging Face TGI",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
    8_193,
  ],
  ["Gemini", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  ["Gemini", "The input token count exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  [
    "Vertex AI",
    "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.",
    1_048_576,
  ],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  ["Groq", "Please reduce the length of the messages or completion.", undefined],
  ["Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8_192],
  ["Amazon Bedrock", "ValidationException: Input is too long for requested model.", undefined],
  [
    "Amazon Bedrock",
    "Malformed input request: expected maxLength: 50000, actual: 61234, please reformat your input and try again.",
    undefined,
  ],
  ["Mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32_768],
  [
    "llama.cpp",
    '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}',
    4_096,
  ],
  ["llama.cpp", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096],
  ["Ollama", "prompt too long; exceeded max context length by 4 tokens", undefined],
  ["Ollama", "the input length exceeds the context length", undefined],
  [
    "LM Studio",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    4_096,
  ],
  ["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length", undefined],
  ["GitHub Copilot", "prompt token count of 130000 exceeds the limit of 128000", 128_000],
  ["GitHub Copilot", '{"error":{"message":"bad request","code":"model_max_prompt_tokens_exceeded"}}', undefined],
  ["MiniMax", "invalid params, context window exceeds limit (2013)", undefined],
  ["Kimi", "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", 262_144],
  ["z.ai", '{"error":{"code":"1261","message":"Prompt exceeds max length"}}', undefined],
  ["z.ai", "model_context_window_exceeded", undefined],
  ["Qwen", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]", 98_304],
  ["Cohere", "too many tokens: size limit exceeded by 1234 tokens. Try using shorter or fewer inputs.", undefined],
  ["Fireworks", "The prompt is too long: 140000, model maximum context length: 131071", 131_071],
  ["ds4", "Prompt has 70,000 tokens, but the configured context size is 65,536 tokens", 65_536],
];

const NOT_TOO_LONG: readonly (readonly [what: string, says: string])[] = [
  [
    "OpenAI's tokens per minute",
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 50000. The input or output tokens must be reduced in order to run successfully.",
  ],
  [
    "Groq's tokens per minute",
    "Request too large for model `llama-3.3-70b` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce the length of the messages and try again.",
  ],
  [
    "Anthropic's rate limit",
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please reduce the prompt length.",
  ],
  ["Bedrock's day", "ThrottlingException: Too many tokens per day, please wait before trying again."],
  ["Bedrock's throttle", "Too many tokens, please wait before trying again."],
  ["too many requests", "429 Too Many Requests"],
  ["OpenAI's quota", "You exceeded your current quota, please check your plan and billing details."],
  ["Gemini's quota", "Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000"],
  ["Anthropic's overload", '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
  [
    "OpenAI's output limit",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
  ],
  ["Anthropic's output limit", "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4"],
  [
    "vLLM's output limit",
    "'max_tokens' or 'max_completion_tokens' is too large: 40000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (40000 > 32768 - 1000).",
  ],
  ["DeepSeek's output limit", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"],
  ["Qwen's output limit", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"],
  [
    "Groq's output limit",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
  ],
  [
    "Gemini's output limit",
    "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).",
  ],
  ["a bare 400", "400 status code (no body)"],
  ["a large image", "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"],
  ["another bad request", "Invalid 'tools[0].function.name': string does not match pattern."],
  ["a wrong key", "Incorrect API key provided"],
  ["nothing", ""],
];

const NEARLY_FULL = { usedTokens: 190_000, windowTokens: 200_000 };
const NEARLY_EMPTY = { usedTokens: 40_000, windowTokens: 200_000 };

describe("a refusal is an overflow", () => {
  test.each(TOO_LONG)("in the words of %s: %s", (_provider, says, limit) => {
    expect(isContextOverflow(new Error(says))).toBe(true);
    expect(isContextOverflow(says)).toBe(true);
    expect(parseContextLimit(new Error(says))).toBe(limit);
  });

  test("with status 413 and any text", () => {
    expect(isContextOverflow({ status: 413, message: "413 status code (no body)" })).toBe(true);
    expect(isContextOverflow(new Error("413 Request Entity Too Large"))).toBe(true);
  });

  test("with status 413 unless the request was measured below 0.9 of the window", () => {
    expect(isContextOverflow({ status: 413 }, { usedTokens: 89, windowTokens: 100 })).toBe(false);
    expect(isContextOverflow({ status: 413 }, { usedTokens: 90, windowTokens: 100 })).toBe(true);
  });
});

describe("a refusal is no overflow", () => {
  test.each(NOT_TOO_LONG)("when it is %s: %s", (_what, says) => {
    expect(isContextOverflow(new Error(says))).toBe(false);
    expect(isContextOverflow(new Error(says), NEARLY_FULL)).toBe(false);
    expect(parseContextLimit(new Error(says))).toBeUndefined();
  });

  test("when its status is 429, with any text", () => {
    expect(isContextOverflow({ status: 429, message: "prompt is too long" })).toBe(false);
  });

  test("when it is a 413 about tokens per minute", () => {
    expect(isContextOverflow({ status: 413, message: NOT_TOO_LONG[1]?.[1] }, NEARLY_FULL)).toBe(false);
  });

  test.each([undefined, null, 0, true, [], {}, Symbol("x"), () => 1])("when it is no error at all: %s", (given) => {
    expect(isContextOverflow(given)).toBe(false);
    expect(parseContextLimit(given)).toBeUndefined();
  });
});

describe("our own measure of the request", () => {
  test("overrules words without the provider's count when less than half of the window was used", () => {
    const refused = new Error(
      "This model's maximum context length is 200000 tokens, however you requested 240000 tokens (40000 in your prompt; 200000 for the completion).",
    );
    expect(isContextOverflow(refused, NEARLY_EMPTY)).toBe(false);
    expect(isContextOverflow(refused, NEARLY_FULL)).toBe(true);
  });

  test("never overrules a provider that counted the input itself", () => {
    expect(isContextOverflow(new Error("prompt is too long: 213462 tokens > 200000 maximum"), NEARLY_EMPTY)).toBe(true);
  });

  test("is compared with the window that the provider names, if that is smaller", () => {
    const routedElsewhere = new Error("This model's maximum context length is 65536 tokens, however you requested 69000 tokens");
    expect(isContextOverflow(routedElsewhere, NEARLY_EMPTY)).toBe(true);
  });
});

describe("an overflow is found inside", () => {
  const url = "https://api.example/v1/chat/completions";
  const says = "prompt is too long: 213462 tokens > 200000 maximum";
  const call = new APICallError({
    message: "Bad Request",
    url,
    requestBodyValues: {},
    statusCode: 400,
    responseBody: JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: says } }),
  });

  test.each<[string, unknown]>([
    ["an APICallError of the AI SDK", call],
    ["its RetryError", new RetryError({ message: "Failed after 3 attempts", reason: "maxRetriesExceeded", errors: [call] })],
    ["a cause of a cause", new Error("the turn failed", { cause: new Error("the call failed", { cause: call }) })],
    ["an error of the OpenAI SDK", Object.assign(new Error("400 too long"), { status: 400, code: "context_length_exceeded" })],
    [
      "an error of the Anthropic SDK",
      Object.assign(new Error(`400 ${says}`), { status: 400, error: { type: "error", error: { message: says } } }),
    ],
    ["a fetch wrapper's error", Object.assign(new Error("HTTP error"), { response: { status: 400, data: { error: { message: says } } } })],
    ["a stored assistant message", { role: "assistant", content: [], stopReason: "error", errorMessage: says }],
    ["JSON inside JSON", { message: JSON.stringify({ error: { message: JSON.stringify({ error: { message: says } }) } }) }],
  ])("%s", (_where, error) => {
    expect(isContextOverflow(error)).toBe(true);
    expect(parseContextLimit(error) ?? 200_000).toBe(200_000);
  });

  test("only the last attempt of a RetryError, because that is why it failed", () => {
    const limited = new APICallError({ message: "Too Many Requests", url, requestBodyValues: {}, statusCode: 429 });
    const retried = new RetryError({ message: "Failed after 2 attempts", reason: "maxRetriesExceeded", errors: [call, limited] });
    expect(isContextOverflow(retried)).toBe(false);
  });

  test("but never in the words of the conversation that was sent", () => {
    const sent = { messages: [{ role: "user", content: says }] };
    expect(isContextOverflow(new APICallError({ message: "Bad Request", url, requestBodyValues: sent, statusCode: 400 }))).toBe(false);
    expect(isContextOverflow({ role: "assistant", content: says, stopReason: "error", errorMessage: "Connection error." })).toBe(false);
    const axios = {
      status: 400,
      message: "Bad Request",
      config: { data: says },
      response: { status: 400, data: {}, config: { data: says } },
    };
    expect(isContextOverflow(axios)).toBe(false);
  });

  test("not in an error that refers to itself", () => {
    const circle: { message: string; cause?: unknown } = { message: "broken" };
    circle.cause = circle;
    expect(isContextOverflow(circle)).toBe(false);
  });
});

describe("a stored reply that is no error", () => {
  const reply = (stopReason: string, usage: object) => ({ role: "assistant", content: [], stopReason, usage });

  test("overflowed when its input exceeds the window (z.ai does not refuse)", () => {
    expect(isContextOverflow(reply("stop", { input: 150_000, cacheRead: 60_000, output: 10 }), NEARLY_FULL)).toBe(true);
    expect(isContextOverflow(reply("stop", { input: 150_000, cacheRead: 50_000, output: 10 }), NEARLY_FULL)).toBe(false);
  });

  test("overflowed when the input filled the window and left no room for a word (Xiaomi MiMo)", () => {
    expect(isContextOverflow(reply("length", { input: 198_000, output: 0 }), NEARLY_FULL)).toBe(true);
    expect(isContextOverflow(reply("length", { input: 198_000, output: 1 }), NEARLY_FULL)).toBe(false);
    expect(isContextOverflow(reply("length", { input: 100_000, output: 0 }), NEARLY_FULL)).toBe(false);
  });

  test("did not overflow when nothing is known of the window, of its usage, or when it was aborted", () => {
    expect(isContextOverflow(reply("stop", { input: 999_999, output: 1 }))).toBe(false);
    expect(isContextOverflow({ role: "assistant", content: [], stopReason: "stop" }, NEARLY_FULL)).toBe(false);
    expect(isContextOverflow({ ...reply("aborted", {}), errorMessage: "prompt is too long" }, NEARLY_FULL)).toBe(false);
  });
});

test("a megabyte of error page is judged by its start, in no time that grows with it", () => {
  const page = `prompt is too long: 213462 tokens > 200000 maximum ${"input token count ".repeat(60_000)}`;
  expect(parseContextLimit(new Error(page))).toBe(200_000);
});
