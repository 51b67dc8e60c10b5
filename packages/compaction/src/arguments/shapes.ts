import * as rules from "@bough/session-core/arguments";
import * as shapes from "@bough/session-core/arguments";

// The shapes of arguments of this package's public functions, made of session-core's rules. Settings have a schema of their own.

const { CALLBACK, FLAG, NUMBER, OBJECT, TEXT, AMOUNT, FILE, ANY } = rules;
const { withMethods, list, nullable, oneOf, optional, record, ruleOf } = rules;

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
const MODEL = optional(nullable(record({ modelId: TEXT, provider: optional(TEXT) })));
const TOKENS = optional(AMOUNT);

/** Options with only a signal. */
export const SIGNAL_OPTIONS = record({ signal: SIGNAL });
const USAGE = record({ input: TOKENS, output: TOKENS, cacheRead: TOKENS, cacheWrite: TOKENS, totalTokens: TOKENS });
/** `RequestInput`. */
export const REQUEST_INPUT = record({ systemTokens: TOKENS, toolTokens: TOKENS, lastUsage: optional(USAGE), signal: SIGNAL });
/** `CompactOptions`. */
export const COMPACT = record({
  instructions: optional(TEXT),
  keepFrom: optional(TEXT),
  when: optional(oneOf("now", "turn-end")),
  signal: SIGNAL,
});
/** `ModelChange`. The value of its window is validated with the settings. */
export const MODEL_CHANGE = record({ model: MODEL, contextWindow: NUMBER, toolTokens: TOKENS, signal: SIGNAL });
/** `NavigateOptions`. */
export const NAVIGATE = record({
  summarize: optional(FLAG),
  instructions: optional(TEXT),
  replaceInstructions: optional(FLAG),
  label: optional(TEXT),
  signal: SIGNAL,
});

const LIST = list(CALLBACK, "a function, or an array of them");
const SUMMARIZERS: typeof LIST = (value, at) => (typeof value === "function" ? undefined : LIST(value, at));
const BY_USE = record({ manual: SUMMARIZERS, automatic: SUMMARIZERS, branch: optional(SUMMARIZERS) });
const isByUse = (value: unknown) => typeof value === "object" && value !== null && ("manual" in value || "automatic" in value);
/** `CompactorOptions`. */
export const COMPACTOR = record(
  {
    session: SESSION,
    summarizer: optional((value, at) => (isByUse(value) ? BY_USE(value, at) : SUMMARIZERS(value, at))),
    contextWindow: NUMBER,
    model: MODEL,
    settings: ANY,
    hooks: optional(OBJECT),
    onEvent: optional(CALLBACK),
    hostState: optional(CALLBACK),
    recall: optional(FLAG),
    random: optional(CALLBACK),
    now: optional(CALLBACK),
    sleep: optional(CALLBACK),
  },
  "an object such as { session, contextWindow: 200_000 }",
);

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
export const EXTRACTIVE = record({ maxChars: optional(NUMBER) });
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

/** `BlameRequest`. */
export const BLAME = record(
  {
    paths: list(TEXT),
    text: TEXT,
    elsewhere: optional(list(TEXT)),
    renames: optional(list(record({ from: TEXT, untilMs: NUMBER }))),
    untilMs: optional(NUMBER),
    home: optional(TEXT),
    lines: optional(record({ from: NUMBER, to: NUMBER })),
  },
  'an object such as { paths: ["/home/me/a.ts"], text: "…" }',
);
