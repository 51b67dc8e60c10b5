/** A chat completion request, as far as a test looks at it. */
export interface ChatBody {
  readonly model?: string;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly stream?: boolean;
  readonly systemPrompt?: string;
  readonly prompt?: string;
  readonly [member: string]: unknown;
}

/** Text of an answer, or how it follows from the request. */
export type AnswerText = string | ((body: ChatBody) => string);

/** What the server does with one request. */
export type Answer =
  | {
      readonly kind: "text";
      readonly text: AnswerText;
      /** `finish_reason`; null: none is sent, only `[DONE]`. */
      readonly finish: string | null;
      /** Sent as `reasoning_content` before the text. */
      readonly reasoning?: string;
      readonly usage: boolean;
      /** The answer waits for this. */
      readonly when?: Promise<void>;
    }
  | { readonly kind: "trickle"; readonly pieces: AsyncIterable<string> }
  | { readonly kind: "tool-call"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "hang" }
  | { readonly kind: "drop"; readonly after: string; readonly how: "reset" | "end" }
  | { readonly kind: "raw"; readonly status: number; readonly body: string; readonly headers: Readonly<Record<string, string>> };

type TextOptions = {
  readonly finish?: string | null;
  readonly reasoning?: string;
  readonly usage?: boolean;
  readonly when?: Promise<void>;
};

/** Says `given`. */
export function text(given: AnswerText, { finish = "stop", usage = true, ...rest }: TextOptions = {}): Answer {
  return { kind: "text", text: given, finish, usage, ...rest };
}

/** Says `given` once the test opens the gate. */
export function slow(given: AnswerText, gate: Gate): Answer {
  return text(given, { when: gate.opened });
}

/** Sends each piece when the source gives it, and the end when it ends. */
export function trickle(pieces: AsyncIterable<string>): Answer {
  return { kind: "trickle", pieces };
}

/** Calls a tool, after `said`. */
export function toolCall(said = ""): Answer {
  return { kind: "tool-call", text: said };
}

/** Refuses in OpenAI's field for it. */
export function refusal(said = "I cannot help with that."): Answer {
  return { kind: "refusal", text: said };
}

/** Takes the request and never answers. */
export function hang(): Answer {
  return { kind: "hang" };
}

/** Starts to answer, then breaks the connection (`reset`) or ends the body as if that was all (`end`). */
export function drop(after = "The first half", how: "reset" | "end" = "reset"): Answer {
  return { kind: "drop", after, how };
}

/** Any status, body and headers. An object is sent as JSON. */
export function fail(status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Answer {
  const isText = typeof body === "string";
  return { kind: "raw", status, body: isText ? body : JSON.stringify(body), headers: { ...(isText ? {} : JSON_TYPE), ...headers } };
}

/** Any body with status 200. */
export function raw(body: string, type = "application/json"): Answer {
  return { kind: "raw", status: 200, body, headers: { "content-type": type } };
}

const JSON_TYPE = { "content-type": "application/json" };

/** OpenAI's refusal of a request that is too long. */
export function overflow(limitTokens: number, sentTokens: number): Answer {
  const message = `This model's maximum context length is ${limitTokens} tokens. However, your messages resulted in ${sentTokens} tokens. Please reduce the length of the messages.`;
  return fail(400, { error: { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" } });
}

/** OpenAI's 429. */
export function rateLimit(retryAfter?: string): Answer {
  const message =
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please reduce the length of the messages.";
  return fail(
    429,
    { error: { message, type: "tokens", code: "rate_limit_exceeded" } },
    retryAfter === undefined ? {} : { "retry-after": retryAfter },
  );
}

/** A gate that a test opens. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** A closed gate. */
export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
