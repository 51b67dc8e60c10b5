// The shapes of messages, payloads and contexts, as deep as the functions that take them read. Linear in messages and blocks,
// not in the length of texts.
import {
  byMember,
  CALLBACK,
  CURSOR,
  FLAG,
  list,
  membersOf,
  NAME,
  NUMBER,
  nullable,
  OBJECT,
  oneOf,
  optional,
  options,
  type Rule,
  record,
  ruleOf,
  SIGNAL,
  TEXT,
  withMethods,
} from "./rules.js";

const TEXT_BLOCK = record({ text: TEXT });
const IMAGE_BLOCK = record({ data: TEXT, mimeType: TEXT });
/** A file. */
const FILE_BLOCK: Rule = record({ mediaType: TEXT, data: optional(TEXT), url: optional(TEXT), filename: optional(TEXT) });
const FOREIGN_BLOCK = record({ originalType: TEXT });
const BLOCKS: Readonly<Record<string, Rule>> = {
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  file: FILE_BLOCK,
  thinking: record({ thinking: TEXT, thinkingSignature: optional(TEXT) }),
  toolCall: record({ id: TEXT, name: TEXT, arguments: OBJECT }),
  foreign: FOREIGN_BLOCK,
};
/** A block of any message. */
export const BLOCK: Rule = byMember("type", BLOCKS);
/** A block of a user message, tool result or custom message. */
export const CONTENT_BLOCK: Rule = byMember("type", {
  text: TEXT_BLOCK,
  image: IMAGE_BLOCK,
  file: FILE_BLOCK,
  foreign: FOREIGN_BLOCK,
});
const LIST_OF_BLOCKS = list(BLOCK, "a text or an array of blocks");
const CONTENT: Rule = (value, at) => (typeof value === "string" ? undefined : LIST_OF_BLOCKS(value, at));

const NATIVE = record({ provider: TEXT, model: optional(TEXT), items: list(OBJECT, "an array of objects") });

const MESSAGES_BY_ROLE: Readonly<Record<string, Rule>> = {
  system: record({ content: CONTENT }),
  user: record({ content: CONTENT }),
  assistant: record({ content: LIST_OF_BLOCKS, usage: optional(OBJECT), stopReason: optional(TEXT), model: optional(TEXT) }),
  toolResult: record({ toolCallId: TEXT, toolName: optional(TEXT), content: CONTENT }),
  bashExecution: record({ command: TEXT, output: TEXT }),
  custom: record({ customType: TEXT, content: CONTENT }),
  compactionSummary: record({ summary: TEXT, native: optional(NATIVE) }),
  branchSummary: record({ summary: TEXT }),
};

/** A message of a conversation or of a context. */
export const MESSAGE: Rule = byMember("role", MESSAGES_BY_ROLE);
/** Messages of a conversation or of a context. */
export const MESSAGES: Rule = list(MESSAGE, "an array of messages");
/** A tool call. */
/** The content of a message: a text or blocks. */
export const MESSAGE_CONTENT: Rule = CONTENT;

const PAYLOADS: Readonly<Record<string, Rule>> = {
  message: record({ message: MESSAGE }),
  compaction: record({ summary: TEXT, firstKeptEntryId: nullable(TEXT) }),
  branch_summary: record({ summary: TEXT }),
  model_change: record({ modelId: TEXT, provider: optional(TEXT) }),
  thinking_level_change: record({ thinkingLevel: nullable(TEXT) }),
  context_edit: record({ targetId: TEXT, replacement: nullable(OBJECT) }),
  custom_message: record({ customType: TEXT, content: CONTENT }),
  custom: record({ customType: TEXT }),
  foreign: record({ originalType: TEXT }),
};

/** The payload of an entry. */
export const PAYLOAD: Rule = byMember("type", PAYLOADS);

/** A context, as `Session.context` returns it. */
export const SESSION_CONTEXT: Rule = record({
  messages: MESSAGES,
  entries: list(TEXT, "an array of ids"),
  system: nullable(TEXT),
  compaction: nullable(OBJECT),
  model: nullable(record({ modelId: TEXT, provider: optional(TEXT) })),
});

/** Operations on files, as `Session.fileOperations` returns them. */
export const PATHS: Rule = list(TEXT, "an array of paths");
export const FILE_OPERATIONS: Rule = list(record({ path: TEXT, kind: TEXT, outcome: TEXT }));

// The options of the methods of stores and sessions, by the types in `port/`.

/** An id of a session or an entry. Any text: an unknown id throws a not-found error. */
export const ID = TEXT;
const WRITE_OPTIONS = { onConflict: optional(oneOf("error", "follow", "branch")), expectedLeafId: optional(nullable(ID)) };
/** Options of a batch of writes. */
export const WRITE = record(WRITE_OPTIONS);
/** Options of an append. */
export const APPEND = options({ ...WRITE_OPTIONS, parentId: optional(nullable(ID)) });
/** Options of a context. */
export const CONTEXT = record({ leafId: optional(nullable(ID)), danglingCalls: optional(oneOf("close", "drop")) });
/** Token counts by entry. */
export const COUNTS = ruleOf(
  "a Map of ids and numbers",
  (value) => isMap(value) && [...value].every(([id, tokens]) => typeof id === "string" && typeof tokens === "number"),
);
const FINITE = ruleOf("a number that is not NaN", (value) => typeof value === "number" && !Number.isNaN(value));

/** A request of `Store.search` and `Session.search`. */
export const SEARCH: Rule = record({
  query: TEXT,
  sessionId: optional(TEXT),
  roles: optional(list(TEXT, "an array of roles")),
  types: optional(list(TEXT, "an array of types")),
  places: optional(list(oneOf("prose", "code", "tool"), "an array of places")),
  tool: optional(TEXT),
  agents: optional(list(TEXT, "an array of formats")),
  sinceMs: optional(FINITE),
  untilMs: optional(FINITE),
  path: optional(TEXT),
  cwd: optional(TEXT),
  seqs: optional(list(FINITE, "an array of numbers")),
  includePrivate: optional(FLAG),
  relax: optional(FLAG),
  atLeast: optional(NUMBER),
  snippets: optional(FLAG),
  limit: optional(NUMBER),
  cursor: optional(CURSOR),
});

/** The writes of one batch. */
export const WRITES = list(
  byMember("kind", {
    // `validateEntry` checks the entry.
    entry: record({ parentId: optional(nullable(ID)) }),
    label: record({ entryId: ID, label: nullable(TEXT) }),
    value: record({ key: TEXT }),
    deleteValues: record({ prefix: NAME }),
    moveLeaf: record({ to: nullable(ID), leaf: optional(TEXT) }),
  }),
  "an array of writes",
);
/** Options of a range of values. */
export const VALUE_RANGE = record(
  { prefix: optional(TEXT), order: optional(oneOf("asc", "desc")), after: optional(TEXT), limit: optional(NUMBER) },
  'a prefix, or an object such as { prefix: "run/", limit: 20 }',
);
const OPTIONAL_LEAF = optional(nullable(TEXT));
/** Options of a walk along a path. */
export const WALK = record({ leafId: OPTIONAL_LEAF, stopAt: optional(TEXT) });
/** Options of a page of a path. */
export const SCAN = options({
  leafId: OPTIONAL_LEAF,
  stopAt: optional(TEXT),
  order: optional(oneOf("up", "down")),
  types: optional(list(TEXT, "an array of types")),
  roles: optional(list(TEXT, "an array of roles")),
  customType: optional(TEXT),
  limit: optional(NUMBER),
  cursor: optional(CURSOR),
});
/** Which entries of all branches to read. */
export const LISTING = options({
  order: optional(oneOf("oldest", "newest")),
  afterSeq: optional(NUMBER),
  beforeSeq: optional(NUMBER),
  types: optional(list(TEXT, "an array of types")),
  customType: optional(TEXT),
  limit: optional(NUMBER),
});
/** The two ends of a range of a path. */
export const RANGE = record({ fromId: optional(TEXT), toId: optional(TEXT) });

/** The source of a title. */
export const TITLE_SOURCE = oneOf("user", "auto");
const KINDS = ["conversation", "subagent"] as const;
const FLAG_OR_ALL = ruleOf("true, false or all", (value) => typeof value === "boolean" || value === "all");
/** The fields of a new session. */
export const NEW_SESSION = options({
  id: optional(ID),
  title: optional(TEXT),
  titleSource: optional(TITLE_SOURCE),
  cwd: optional(TEXT),
  kind: optional(oneOf(...KINDS)),
  createdAtMs: optional(NUMBER),
  parent: optional(record({ sessionId: ID, entryId: nullable(ID), toolCallId: nullable(TEXT) })),
  metadata: optional(OBJECT),
});
const SCALAR = ruleOf("a text, a finite number, true, false or null", (value) =>
  typeof value === "number" ? Number.isFinite(value) : value === null || typeof value === "string" || typeof value === "boolean",
);
/** Which sessions to list. */
export const FILTER = options({
  cwd: optional(TEXT),
  under: optional(list(TEXT, "an array of directories")),
  sinceMs: optional(NUMBER),
  untilMs: optional(NUMBER),
  agent: optional(TEXT),
  kind: optional(oneOf(...KINDS, "all")),
  archived: optional(FLAG_OR_ALL),
  empty: optional(FLAG),
  parentId: optional(ID),
  metadata: optional(membersOf(SCALAR)),
  limit: optional(NUMBER),
  cursor: optional(CURSOR),
});
const SESSION_IDS = list(ID, "an array of ids");
/** Sessions, by id or by what they are listed by. */
export const SESSIONS: Rule = (value, at) => (Array.isArray(value) ? SESSION_IDS(value, at) : FILTER(value, at));
/** Options of a fork. */
export const FORK = options({
  at: optional(ID),
  title: optional(nullable(TEXT)),
  id: optional(ID),
  cwd: optional(TEXT),
  tree: optional(FLAG),
  values: optional(FLAG),
  metadata: optional(OBJECT),
  writes: optional(WRITES),
});
/** Options of packing a store. */
export const PACK = record({ scope: optional(oneOf("old", "all")), onProgress: optional(CALLBACK), signal: optional(SIGNAL) });
/** Options of opening a session. */
export const OPEN = options({ leaf: optional(TEXT) });
/** Options of creating a session. */
export const CREATE = record({ writes: optional(WRITES) });
/** Options of opening a session that may have to be created. */
export const OPEN_OR_CREATE = options({ leaf: optional(TEXT), writes: optional(WRITES) });

/** Also true for a Map of another realm, such as a worker or a test runner. */
function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  return Object.prototype.toString.call(value) === "[object Map]";
}

/** A source of `importSession`. Its records are judged one by one while they are read. */
export const SOURCE = withMethods("a session of a source: an object with a header and records()", "records");

/** The options of `importSession`. */
export const IMPORT = options(
  {
    format: NAME,
    path: TEXT,
    writtenAtMs: optional(NUMBER),
    onRecords: optional(CALLBACK),
    append: optional(withMethods("an object with begin() and values()", "begin", "values")),
    sync: optional(withMethods("an object with checksumAt()", "checksumAt")),
    heldUntil: optional(CALLBACK),
  },
  'an object such as { format: "my-agent", path: "/logs/s1.jsonl" }',
);
