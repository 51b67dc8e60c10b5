// The rules of the arguments whose types are in this folder. A new member of a type does not compile without its rule.
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
  type RulesOf,
  record,
  ruleOf,
  TEXT,
  withMethods,
} from "../arguments/rules.js";
import { ID } from "../arguments/shapes.js";
import type { EntryListing, NewSession, PathScan, SessionFilter, ValueRange } from "./records.js";
import type { SearchRequest } from "./search.js";
import type { ImportOptions, PathRange, SessionImport } from "./session-storage.js";

/** Token counts by entry. */
export const COUNTS = ruleOf(
  "a Map of ids and numbers",
  (value) => isMap(value) && [...value].every(([id, tokens]) => typeof id === "string" && typeof tokens === "number"),
);
const FINITE = ruleOf("a number that is not NaN", (value) => typeof value === "number" && !Number.isNaN(value));

/** A request of `Store.search` and `Session.search`. */
export const SEARCH: Rule = options({
  query: TEXT,
  sessionId: optional(TEXT),
  sessionIds: optional(list(TEXT, "an array of ids")),
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
} satisfies RulesOf<SearchRequest>);

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
export const VALUE_RANGE = options(
  {
    prefix: optional(TEXT),
    order: optional(oneOf("asc", "desc")),
    after: optional(TEXT),
    limit: optional(NUMBER),
  } satisfies RulesOf<ValueRange>,
  'a prefix, or an object such as { prefix: "run/", limit: 20 }',
);
const OPTIONAL_LEAF = optional(nullable(TEXT));
/** Options of a walk along a path. */
export const WALK = options({ leafId: OPTIONAL_LEAF, stopAt: optional(TEXT) } satisfies RulesOf<Pick<PathScan, "leafId" | "stopAt">>);
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
} satisfies RulesOf<PathScan>);
/** Which entries of all branches to read. */
export const LISTING = options({
  order: optional(oneOf("oldest", "newest")),
  afterSeq: optional(NUMBER),
  beforeSeq: optional(NUMBER),
  types: optional(list(TEXT, "an array of types")),
  customType: optional(TEXT),
  limit: optional(NUMBER),
} satisfies RulesOf<EntryListing>);
/** The two ends of a range of a path. */
export const RANGE = options({ fromId: optional(TEXT), toId: optional(TEXT) } satisfies RulesOf<PathRange>);

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
} satisfies RulesOf<NewSession>);
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
} satisfies RulesOf<SessionFilter>);
const SESSION_IDS = list(ID, "an array of ids");
/** Sessions, by id or by what they are listed by. */
export const SESSIONS: Rule = (value, at) => (Array.isArray(value) ? SESSION_IDS(value, at) : FILTER(value, at));

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
  } satisfies RulesOf<ImportOptions>,
  'an object such as { format: "my-agent", path: "/logs/s1.jsonl" }',
);

/** One of the imports of `importSessions`. */
export const SESSION_IMPORT = options(
  { source: SOURCE, options: IMPORT } satisfies RulesOf<SessionImport>,
  "an object with source and options",
);
