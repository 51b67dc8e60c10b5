import * as rules from "@bough/session-core/arguments";
import * as shapes from "@bough/session-core/arguments";

// The shapes of arguments of this package's public functions, made of session-core's rules. Settings have a schema of their own.

const { CALLBACK, FLAG, NUMBER, OBJECT, TEXT, AMOUNT, FILE } = rules;
const { withMethods, list, nullable, oneOf, optional, options, record, ruleOf } = rules;

/** A session handle. */
export const SESSION = withMethods("a session", "append", "context", "walk");
/** A session handle or a store. */
export const SEARCHABLE = withMethods("a session or a store", "search");
/** `RecallOptions`, and what a search in a part of a session also has. */
export const RECALL = rules.options({
  maxChars: optional(ruleOf("a whole number of at least 200", (value) => Number.isSafeInteger(value) && Number(value) >= 200)),
  includePrivate: optional(FLAG),
  seqs: optional(list(NUMBER)),
  placeOf: optional(CALLBACK),
  masks: optional(withMethods("masks of sessions", "of", "maskTitle")),
});
/** A compactor. */
export const COMPACTOR_HANDLE = withMethods("a compactor", "prepareRequest");
/** A token counter. */
export const COUNTER = withMethods("a counter of tokens", "count");
const SIGNAL = optional(withMethods("an AbortSignal", "addEventListener", "throwIfAborted"));
const TOKENS = optional(AMOUNT);

/** A directory of checkpoint files. */
export const FOLDER = FILE;
/** `Checkpoint`. */
export const CHECKPOINT = record({
  sessionId: TEXT,
  entryId: TEXT,
  title: TEXT,
  createdAtMs: NUMBER,
  trigger: nullable(TEXT),
  tokensBefore: nullable(AMOUNT),
  tokensAfter: nullable(AMOUNT),
  covers: nullable(record({ fromEntryId: TEXT, toEntryId: TEXT, entries: NUMBER, messages: NUMBER })),
  files: record({ readFiles: list(TEXT), modifiedFiles: list(TEXT) }),
  summary: TEXT,
});

const SOURCE = record({
  messages: shapes.MESSAGES,
  kind: oneOf("history", "turn-prefix", "branch"),
  previousSummary: nullable(TEXT),
  instructions: nullable(TEXT),
  cwd: optional(nullable(TEXT)),
  redact: optional(FLAG),
});
/** One call of a summarizer. */
export const SUMMARY_REQUEST = record({
  system: TEXT,
  prompt: TEXT,
  context: optional(shapes.SESSION_CONTEXT),
  maxOutputTokens: TOKENS,
  signal: SIGNAL,
  source: optional(SOURCE),
  onText: optional(CALLBACK),
});
/** Options of the built-in summarizer. */
export const EXTRACTIVE = options({ maxChars: optional(NUMBER) });
/** The shape of the options with which an HTTP summarizer sends its requests. */
export const ENDPOINT = record({
  apiKey: optional(TEXT),
  headers: optional((value, at) => OBJECT(value, at) ?? list(TEXT)(Object.values(value ?? {}), at)),
  fetch: optional(CALLBACK),
});
/** `OpenAiCompatibleOptions` without the URL, which is validated apart because it may contain a password. */
export const OPENAI_COMPATIBLE = record(
  { model: TEXT, temperature: optional(NUMBER), tools: optional(list(OBJECT)), system: optional(TEXT) },
  "an object such as { baseURL, model }",
);
/** The options of `anthropicCompaction` and `openAiCompaction`; those of the endpoint are validated with it. */
export const NATIVE_SUMMARIZER = record({
  model: optional(TEXT),
  system: optional(TEXT),
  tools: optional(list(OBJECT)),
  baseURL: optional(TEXT),
  provider: optional(TEXT),
  method: optional(oneOf("compact", "trigger")),
});
/** A model of the AI SDK: its object, or its name at the default provider. */
export const LANGUAGE_MODEL = ruleOf(
  "a language model of the AI SDK",
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
);
