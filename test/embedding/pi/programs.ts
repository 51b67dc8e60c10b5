import {
  type EntryType,
  entryLabel,
  type JsonValue,
  type MessageEntry,
  sessionName,
  setValue,
  type Write,
} from "@earendil-works/pi-agent-core/harness/session";
import fc from "fast-check";

// Random programs for a session of pi: commits, moved branches, reads and forks.

type PiMessage = MessageEntry["message"];

/** Ids that are given again and again, so that some are taken. New entries of `grow` have ids of their own. */
const IDS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
const BRANCHES = ["main", "review"];
const USAGE = {
  input: 1,
  output: 2,
  cacheRead: 3,
  cacheWrite: 4,
  totalTokens: 10,
  cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 },
};

const id = fc.constantFrom(...IDS);
const json = fc.oneof<fc.Arbitrary<JsonValue>[]>(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.record({ a: fc.string(), b: fc.array(fc.integer(), { maxLength: 3 }) }),
);
const parentId = fc.option(id, { nil: null, freq: 3 });
/** Names an entry by its place in the session; 0: one that is not there. */
const place = fc.nat(30);
const entry = fc.oneof(
  fc.record({
    id,
    parentId,
    type: fc.constant("message" as const),
    message: fc.constant({ role: "user" as const, content: "text", timestamp: 1 }),
  }),
  fc.record({
    id,
    parentId,
    type: fc.constant("custom" as const),
    customType: fc.constantFrom("note", "mark"),
    data: json,
  }),
  fc.record({
    id,
    parentId,
    type: fc.constant("compaction" as const),
    summary: fc.constant("so far"),
    retainedTail: fc.constant<PiMessage[]>([]),
    tokensBefore: fc.nat(9),
    fromHook: fc.boolean(),
  }),
  fc.record({
    id,
    parentId,
    type: fc.constant("branch_summary" as const),
    fromId: fc.constant(null),
    summary: fc.constant("left"),
    fromHook: fc.boolean(),
  }),
);
const key = fc.constantFrom("", "x", "x/1", "x/2", "ü");
const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 6, arbitrary: entry.map((one): Write => ({ kind: "entry", entry: one })) },
  { weight: 2, arbitrary: id.map((one): Write => ({ kind: "usage", row: { id: `u-${one}`, usage: USAGE, adjustment: false } })) },
  {
    weight: 3,
    arbitrary: fc.record({ key, value: json }).map((one): Write => ({ kind: "value", op: "set", namespace: "app", ...one })),
  },
  { weight: 1, arbitrary: key.map((one): Write => ({ kind: "value", op: "delete", namespace: "app", key: one })) },
  {
    weight: 3,
    arbitrary: fc.record({ key, value: fc.nat() }).map((one): Write => ({ kind: "list", op: "append", namespace: "app", ...one })),
  },
  { weight: 1, arbitrary: key.map((one): Write => ({ kind: "list", op: "delete", namespace: "app", key: one })) },
  { weight: 1, arbitrary: id.map((one): Write => setValue(entryLabel(one), `label ${one}`)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("one", "two").map((one): Write => setValue(sessionName, one)),
  },
);

const entryTypes: readonly EntryType[] = ["message", "custom", "compaction", "branch_summary"];
const scan = fc.record(
  {
    start: place,
    order: fc.constantFrom("newestFirst" as const, "oldestFirst" as const),
    type: fc.constantFrom(...entryTypes),
    customType: fc.constantFrom("note", "mark", "other"),
    stopAtType: fc.constantFrom(...entryTypes),
    stopAtId: place,
    limit: fc.nat(4),
    /** The entry whose number is the cursor. */
    after: place,
  },
  { requiredKeys: ["start"] },
);
const read = fc.record(
  {
    key,
    order: fc.constantFrom("asc" as const, "desc" as const),
    limit: fc.integer({ min: 1, max: 4 }),
    /** The place in the list whose number is the cursor. */
    after: fc.nat(5),
  },
  { requiredKeys: ["key"] },
);
export const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("commit" as const), writes: fc.array(write, { minLength: 1, maxLength: 5 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("grow" as const),
      below: place,
      entries: fc.array(entry, { minLength: 1, maxLength: 3 }),
      rest: fc.array(write, { maxLength: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("tip" as const), branch: fc.constantFrom(...BRANCHES), at: place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("scan" as const), query: scan }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), query: read }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
);
/** One step of a program. */
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
export const fork = fc.oneof(
  fc.constant({ scope: "tree" as const }),
  fc.record(
    {
      scope: fc.constant("branch" as const),
      branch: fc.constantFrom(...BRANCHES),
      at: place,
      position: fc.constantFrom("before" as const, "at" as const),
    },
    { requiredKeys: ["scope", "branch"] },
  ),
);
/** The fork at its end. */
export type Fork = typeof fork extends fc.Arbitrary<infer T> ? T : never;
