import * as z from "zod";
import { parseJson } from "../entry/json.js";
import { referenceIn } from "../entry/origins.js";
import { InvalidCopyError } from "../errors/copy-errors.js";
import { isId, type SessionId, toSessionSeq } from "../ids/ids.js";
import type { CopiedEntry, CopiedPart, CopiedState } from "../port/session-copy.js";
import { toLeafName, toSingleLine } from "./session-columns.js";

// The gate for what another program says of a session: the shapes and ranges that a store never has otherwise. Whether the parts of a
// session fit together is judged in copy-judge.ts.

/** The longest name of a directory, a path, a model, and of other texts without a rule of their own, in UTF-16 code units. */
const MOST_TEXT = 1_000_000;
/** The longest preview; those of older versions differ in length. */
const MOST_PREVIEW = 1000;

// A lone surrogate has no form in UTF-8, so it would come back from a store as another character. PostgreSQL stores no NUL.
const text = z
  .string()
  .max(MOST_TEXT)
  .refine((value) => value.isWellFormed() && !value.includes("\0"), "must be text without NUL and lone surrogates");
const id = z.string().refine(isId, "must be 1 to 128 visible characters without spaces");
// Older versions cut a longer title or label without taking away a space before the cut.
const line = text.refine(
  (value) => value !== "" && value.replace(/ $/, "") === toSingleLine(value),
  "must be one line of 1 to 500 characters",
);
const time = z.number().int();
const count = z.number().int().nonnegative();
const place = z.number().int().positive().nullable();
const sessionSeq = z.number().transform(toSessionSeq);

const sessionSchema = z
  .object({
    id,
    kind: z.enum(["conversation", "subagent"]),
    title: line.nullable(),
    titleSource: z.enum(["user", "auto"]).nullable(),
    cwd: text.nullable(),
    createdAtMs: time,
    activeAtMs: time,
    archivedAtMs: time.nullable(),
    parent: z.object({ sessionId: text, entryId: text.nullable(), toolCallId: text.nullable() }).nullable(),
    entryCount: count,
    messageCount: count,
    payloadBytes: count,
    firstText: text.max(MOST_PREVIEW).nullable(),
    source: z.object({ format: text, path: text, id: text }).nullable(),
    metadataJson: z.string().refine(isJsonObject, "must be a JSON object").nullable(),
  })
  .refine(({ title, titleSource }) => title !== null || titleSource === null, "there is no title to have a source");

const leafName = z.string().refine((name) => name !== "" && name === toLeafName(name), "must be one line of 1 to 500 visible characters");

/** A session without its entries, as another program says it. */
const copiedStateSchema: z.ZodType<CopiedState> = z.object({
  row: z.object({ id, seq: sessionSeq }),
  session: sessionSchema,
  leaves: z.array(z.object({ name: leafName, at: place })),
  moves: z.array(
    z.object({
      leafName: text,
      from: place,
      to: place,
      resume: place,
      movedAtMs: time,
      state: z.enum(["done", "undone", "dropped"]),
    }),
  ),
  labels: z.array(z.object({ at: z.number().int().positive(), label: line, createdAtMs: time })),
  values: z.array(z.object({ key: text.min(1).max(200), json: z.string().refine(isJson, "must be JSON"), updatedAtMs: time })),
  usage: z.array(
    z.object({
      provider: text,
      model: text,
      replies: count,
      inputTokens: z.number(),
      outputTokens: z.number(),
      cacheReadTokens: z.number(),
      cacheWriteTokens: z.number(),
      costUsd: z.number(),
      recordedReplies: count,
      inherited: z.boolean(),
    }),
  ),
});

/** An entry with all that is stored of it, as another program says it. */
const copiedEntrySchema: z.ZodType<CopiedEntry> = z.object({
  place: z.number().int().positive(),
  id,
  parent: place,
  kind: z.number().int(),
  depth: count,
  createdAtMs: time,
  compaction: place,
  target: place,
  model: place,
  thinking: place,
  system: place,
  callId: text.nullable(),
  isError: z.boolean(),
  omits: z.boolean(),
  inherited: z.boolean(),
  origin: text.refine(isOrigin, "must be a key or two ids").nullable(),
  preview: text.max(MOST_PREVIEW).refine((preview) => !CONTROL.test(preview), "must be one line"),
  payload: z.string(),
  fileOperations: z.array(
    z.object({ toolCallId: text, kind: z.enum(["read", "write", "edit", "delete", "move"]), path: text, nested: z.boolean() }),
  ),
  tokens: z.array(z.tuple([text.min(1).max(200), count])),
});

const CONTROL = /[\u0000-\u001f\u007f]/;

function isOrigin(origin: string): boolean {
  const reference = referenceIn(origin);
  return reference === undefined ? isId(origin) : isId(reference.sessionId) && isId(reference.entryId);
}

function isJson(json: string): boolean {
  return parseJson(json) !== undefined && json.isWellFormed();
}

function isJsonObject(json: string): boolean {
  return json.trimStart().startsWith("{") && isJson(json);
}

/** Reads a session without its entries from what another program sent. @throws {InvalidCopyError} */
export function parseCopiedState(id: SessionId, given: unknown): CopiedState {
  const parsed = copiedStateSchema.safeParse(given);
  if (!parsed.success) throw new InvalidCopyError(id, issueIn(parsed.error.issues));
  if (parsed.data.session.id !== id || parsed.data.row.id !== id) throw new InvalidCopyError(id, "it has the id of another one");
  return parsed.data;
}

/** Reads entries from what another program sent. @throws {InvalidCopyError} */
export function parseCopiedEntries(id: SessionId, given: unknown): readonly CopiedEntry[] {
  const parsed = copiedEntrySchema.array().safeParse(given);
  if (!parsed.success) throw new InvalidCopyError(id, issueIn(parsed.error.issues));
  return parsed.data;
}

const partSchema = z.object({
  into: z.object({ row: z.object({ id: z.string(), seq: sessionSeq }), entries: z.number().int().nonnegative() }).optional(),
  isLast: z.boolean(),
});

/** Reads a part of a session, but its state, from what another program sent. @throws {InvalidCopyError} */
export function parseCopiedPart(id: SessionId, given: { readonly entries?: unknown }): Omit<CopiedPart, "state"> {
  const parsed = partSchema.safeParse(given);
  if (!parsed.success) throw new InvalidCopyError(id, issueIn(parsed.error.issues));
  return { into: undefined, ...parsed.data, entries: parseCopiedEntries(id, given.entries) };
}

function issueIn(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): string {
  const [first] = issues;
  return first === undefined ? "it does not fit" : `${first.path.map(String).join(".")}: ${first.message}`.slice(0, 300);
}
