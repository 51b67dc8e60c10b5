import { byMember, CURSOR, FLAG, list, NUMBER, nullable, OBJECT, oneOf, optional, type Rule, record, ruleOf, TEXT } from "./rules.js";

// The shapes of what methods of stores and sessions are asked with, as their types in `port/` say.

/** An id of a session or an entry. Any text: what names nothing is told as not found. */
export const ID = TEXT;
/** Options of an append. */
export const APPEND = record({ onConflict: optional(oneOf("error", "follow", "branch")), expectedLeafId: optional(nullable(ID)) });
/** Options of a context. */
export const CONTEXT = record({ leafId: optional(nullable(ID)), danglingCalls: optional(oneOf("close", "drop")) });
/** Token counts by entry. */
export const COUNTS = ruleOf(
  "a Map of ids and numbers",
  (value) => isMap(value) && [...value].every(([id, tokens]) => typeof id === "string" && typeof tokens === "number"),
);
const FINITE = ruleOf("a number that is not NaN", (value) => typeof value === "number" && !Number.isNaN(value));

/** What a search may be asked, by `Store.search` and `Session.search`. */
export const SEARCH: Rule = record({
  query: TEXT,
  sessionId: optional(TEXT),
  roles: optional(list(TEXT, "an array of roles")),
  types: optional(list(TEXT, "an array of types")),
  sinceMs: optional(FINITE),
  untilMs: optional(FINITE),
  path: optional(TEXT),
  cwd: optional(TEXT),
  limit: optional(NUMBER),
  cursor: optional(CURSOR),
});

/** What is written in one batch. */
export const WRITES = list(
  byMember("kind", {
    // The entry itself has a gate of its own.
    entry: record({}),
    label: record({ entryId: ID, label: nullable(TEXT) }),
    value: record({ key: TEXT }),
    moveLeaf: record({ to: nullable(ID) }),
  }),
  "an array of writes",
);
const OPTIONAL_LEAF = optional(nullable(TEXT));
/** Options of a walk along a path. */
export const WALK = record({ leafId: OPTIONAL_LEAF, stopAt: optional(TEXT) });
/** Options of a page of a path. */
export const SCAN = record({
  leafId: OPTIONAL_LEAF,
  stopAt: optional(TEXT),
  order: optional(oneOf("up", "down")),
  types: optional(list(TEXT, "an array of types")),
  roles: optional(list(TEXT, "an array of roles")),
  limit: optional(NUMBER),
  cursor: optional(CURSOR),
});
/** Options of an outline. */
export const OUTLINE = record({ afterSeq: optional(NUMBER), limit: optional(NUMBER) });
/** Two places of a path. */
export const RANGE = record({ fromId: optional(TEXT), toId: optional(TEXT) });

/** Who gave a title. */
export const TITLE_SOURCE = oneOf("user", "auto");
const KINDS = ["conversation", "subagent"] as const;
const FLAG_OR_ALL = ruleOf("true, false or all", (value) => typeof value === "boolean" || value === "all");
/** What a new session starts with. */
export const NEW_SESSION = record({
  id: optional(ID),
  title: optional(TEXT),
  titleSource: optional(TITLE_SOURCE),
  cwd: optional(TEXT),
  kind: optional(oneOf(...KINDS)),
  createdAtMs: optional(NUMBER),
  parent: optional(record({ sessionId: ID, entryId: nullable(ID), toolCallId: nullable(TEXT) })),
  metadata: optional(OBJECT),
});
/** Which sessions to list. */
export const FILTER = record({
  cwd: optional(TEXT),
  kind: optional(oneOf(...KINDS, "all")),
  archived: optional(FLAG_OR_ALL),
  empty: optional(FLAG),
  parentId: optional(ID),
  limit: optional(NUMBER),
  cursor: optional(CURSOR),
});
/** Options of a fork. */
export const FORK = record({ at: optional(ID), title: optional(TEXT), id: optional(ID), cwd: optional(TEXT) });
/** Options of opening a session. */
export const OPEN = record({ leaf: optional(TEXT) });

/** Also a Map of another realm, such as a worker's or a test runner's. */
function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  return Object.prototype.toString.call(value) === "[object Map]";
}
