import * as z from "zod";
import type { EntryId } from "../ids/ids.js";
import { toForeignBlock } from "./foreign-block.js";
import { isObject } from "./json.js";
import { anyJsonSchema, assistantBlockSchema, contentBlockSchema, messageSchema, usageSchema } from "./message.js";
import { hasValidNative, NATIVE_RULE } from "./native-compaction.js";

const tokens = z.number().nonnegative();
const summaryFields = {
  summary: z.string(),
  details: z.unknown().optional(),
  usage: usageSchema.optional(),
  fromHook: z.boolean().optional(),
};

/** One message of the conversation. */
const messageEntrySchema = z.looseObject({ type: z.literal("message"), message: messageSchema });

/**
 * From here on the context starts with `summary`, followed by the entries from `firstKeptEntryId` on (null: nothing kept). With `keptEntryIds`,
 * it starts with these of the entries from `firstKeptEntryId` up to the compaction, in their order here; null is the summary.
 * `details.native`: the provider's own form of the summary.
 */
const compactionEntrySchema = z.looseObject({
  type: z.literal("compaction"),
  ...summaryFields,
  details: z.unknown().refine(hasValidNative, NATIVE_RULE).optional(),
  firstKeptEntryId: z.string().nullable(),
  keptEntryIds: z.array(z.string().nullable()).optional(),
  tokensBefore: tokens.optional(),
  tokensAfter: tokens.optional(),
  trigger: z.string().optional(),
  title: z.string().optional(),
  shortSummary: z.string().optional(),
  instructions: z.string().optional(),
});

/** A summary of the branch with the leaf `fromId`, appended to the branch that the session moved to. */
const branchSummaryEntrySchema = z.looseObject({
  type: z.literal("branch_summary"),
  ...summaryFields,
  fromId: z.string().nullable(),
});

/** From here on the session uses this model. */
const modelChangeEntrySchema = z.looseObject({
  type: z.literal("model_change"),
  provider: z.string().optional(),
  modelId: z.string(),
});

/** From here on the model uses this thinking level (`off`, `low`, `high`… as the host names them; null: the default). */
const thinkingLevelChangeEntrySchema = z.looseObject({
  type: z.literal("thinking_level_change"),
  thinkingLevel: z.string().nullable(),
});

const BLOCK_TYPES = new Set<unknown>(assistantBlockSchema.options.map(({ shape }) => shape.type.value));

function hasKnownType(block: unknown): boolean {
  return isObject(block) && BLOCK_TYPES.has(block["type"]);
}

// A block of an unknown type becomes a foreign block; a block of a known type must match its schema, as in a message.
const replacementBlockSchema = z
  .unknown()
  .transform((block) => (hasKnownType(block) ? block : toForeignBlock(block)))
  .pipe(assistantBlockSchema);

/** From here on the entry `targetId`, earlier on this path, has the content `replacement` in the context, or is omitted (null). */
const contextEditEntrySchema = z.looseObject({
  type: z.literal("context_edit"),
  targetId: z.string(),
  replacement: z.looseObject({ content: z.union([z.string(), z.array(replacementBlockSchema)]) }).nullable(),
});

/** A message that the host added for the model. */
const customMessageEntrySchema = z.looseObject({
  type: z.literal("custom_message"),
  customType: z.string(),
  content: z
    .union([z.string(), z.array(contentBlockSchema)])
    .nullable()
    .transform((given) => given ?? []),
  display: z.boolean().optional(),
  details: z.unknown().optional(),
});

/** Data of the host at a place of the tree, never sent to a model. */
const customEntrySchema = z.looseObject({
  type: z.literal("custom"),
  customType: z.string(),
  data: z.unknown().optional(),
});

/** An imported record of an unknown type: stored unchanged, never sent to a model. */
const foreignEntrySchema = z.looseObject({
  type: z.literal("foreign"),
  originalType: z.string(),
  raw: anyJsonSchema,
});

/** The schema of every payload. */
export const entryPayloadSchema = z.discriminatedUnion("type", [
  messageEntrySchema,
  compactionEntrySchema,
  branchSummaryEntrySchema,
  modelChangeEntrySchema,
  thinkingLevelChangeEntrySchema,
  contextEditEntrySchema,
  customMessageEntrySchema,
  customEntrySchema,
  foreignEntrySchema,
]);

/** The payload of an entry, by its type. Unknown fields are kept. */
export type EntryPayload = z.output<typeof entryPayloadSchema>;
/** The type of an entry. */
export type EntryType = EntryPayload["type"];
/** The payload of one type. */
export type PayloadOf<T extends EntryType> = Extract<EntryPayload, { type: T }>;
/** The payload of a `compaction` entry. */
export type CompactionPayload = Extract<EntryPayload, { type: "compaction" }>;
/** The payload of a `branch_summary` entry. */
export type BranchSummaryPayload = Extract<EntryPayload, { type: "branch_summary" }>;
/** The payload of a `context_edit` entry. */
export type ContextEditPayload = Extract<EntryPayload, { type: "context_edit" }>;

/** The position of an entry in its session. */
export interface EntryPosition {
  readonly id: EntryId;
  /** Order of arrival, in the store, or on a server in its session; ascending, and the cursor for reading newer entries. */
  readonly seq: number;
  /** null: a first entry of the session. */
  readonly parentId: EntryId | null;
  /** Milliseconds since 1970, as the writer gave it. Not always ascending along a path; `seq` is. */
  readonly createdAtMs: number;
}

/** An immutable entry of a session: its position and its payload. */
export type Entry = EntryPosition & EntryPayload;

/** An entry to append: its payload, and optionally its id and time. */
export type EntryInput = z.input<typeof entryPayloadSchema> & {
  readonly id?: EntryId | undefined;
  readonly createdAtMs?: number | undefined;
};

/** The files that summarized entries read and modified: the default `details` of both kinds of summary. */
export interface FileLists {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}
