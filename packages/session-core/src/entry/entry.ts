import { z } from "zod";
import type { EntryId } from "../ids/ids.js";
import { toForeignBlock } from "./foreign-block.js";
import { isObject } from "./json.js";
import { assistantBlockSchema, contentBlockSchema, messageSchema, usageSchema } from "./message.js";

const tokens = z.number().nonnegative();
const summaryFields = {
  summary: z.string(),
  details: z.unknown().optional(),
  usage: usageSchema.optional(),
  fromHook: z.boolean().optional(),
};

/** One message of the conversation. */
export const messageEntrySchema = z.looseObject({ type: z.literal("message"), message: messageSchema });

/** From here on the context starts with `summary`, then the entries from `firstKeptEntryId` (null: nothing kept). */
export const compactionEntrySchema = z.looseObject({
  type: z.literal("compaction"),
  ...summaryFields,
  firstKeptEntryId: z.string().nullable(),
  tokensBefore: tokens.optional(),
  tokensAfter: tokens.optional(),
  trigger: z.string().optional(),
  title: z.string().optional(),
  shortSummary: z.string().optional(),
  instructions: z.string().optional(),
});

/** What happened on the branch whose leaf was `fromId`, told on the branch that was entered instead. */
export const branchSummaryEntrySchema = z.looseObject({
  type: z.literal("branch_summary"),
  ...summaryFields,
  fromId: z.string().nullable(),
});

/** From here on this model answers. */
export const modelChangeEntrySchema = z.looseObject({
  type: z.literal("model_change"),
  provider: z.string().optional(),
  modelId: z.string(),
});

/** From here on the model thinks at this level (`off`, `low`, `high`… as the host names them; null: its default). */
export const thinkingLevelChangeEntrySchema = z.looseObject({
  type: z.literal("thinking_level_change"),
  thinkingLevel: z.string().nullable(),
});

const BLOCK_TYPES = new Set<unknown>(assistantBlockSchema.options.map(({ shape }) => shape.type.value));

function hasKnownType(block: unknown): boolean {
  return isObject(block) && BLOCK_TYPES.has(block["type"]);
}

// A block of a type that we do not know is kept as a foreign one; of a known type it has to fit, as in a message.
const replacementBlockSchema = z
  .unknown()
  .transform((block) => (hasKnownType(block) ? block : toForeignBlock(block)))
  .pipe(assistantBlockSchema);

/** From here on the entry `targetId`, earlier on this path, appears with `replacement`, or not at all (null). */
export const contextEditEntrySchema = z.looseObject({
  type: z.literal("context_edit"),
  targetId: z.string(),
  replacement: z.looseObject({ content: z.union([z.string(), z.array(replacementBlockSchema)]) }).nullable(),
});

/** A message that a host put in for the model to read. */
export const customMessageEntrySchema = z.looseObject({
  type: z.literal("custom_message"),
  customType: z.string(),
  content: z
    .union([z.string(), z.array(contentBlockSchema)])
    .nullable()
    .transform((given) => given ?? []),
  display: z.boolean().optional(),
  details: z.unknown().optional(),
});

/** Data of a host, kept at its place in the tree and never sent to a model. */
export const customEntrySchema = z.looseObject({
  type: z.literal("custom"),
  customType: z.string(),
  data: z.unknown().optional(),
});

/** A record of another program that an import did not know: kept whole, never sent to a model. */
export const foreignEntrySchema = z.looseObject({
  type: z.literal("foreign"),
  originalType: z.string(),
  raw: z.unknown(),
});

/** One gate for what an entry carries. */
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

/** What an entry carries, by its type; fields we do not know are kept. */
export type EntryPayload = z.output<typeof entryPayloadSchema>;
/** What an entry can be. */
export type EntryType = EntryPayload["type"];
/** What an entry of one type carries. */
export type PayloadOf<T extends EntryType> = Extract<EntryPayload, { type: T }>;
/** The payload of a `compaction` entry. */
export type CompactionPayload = Extract<EntryPayload, { type: "compaction" }>;
/** The payload of a `branch_summary` entry. */
export type BranchSummaryPayload = Extract<EntryPayload, { type: "branch_summary" }>;
/** The payload of a `context_edit` entry. */
export type ContextEditPayload = Extract<EntryPayload, { type: "context_edit" }>;

/** Where an entry stands. */
export interface EntryPosition {
  readonly id: EntryId;
  /** Order of arrival in the store: rises with every entry and is the cursor for "everything since". */
  readonly seq: number;
  /** null: a first entry of its session. */
  readonly parentId: EntryId | null;
  /** Milliseconds since 1970, as the writer gave it; it may run backwards along a path, `seq` never does. */
  readonly createdAtMs: number;
}

/** One immutable point of a session: where it stands, and what it carries. */
export type Entry = EntryPosition & EntryPayload;

/** An entry to append: what it carries, as callers may write it; its id and time may be given. */
export type EntryInput = z.input<typeof entryPayloadSchema> & {
  readonly id?: EntryId | undefined;
  readonly createdAtMs?: number | undefined;
};

/** Which files the summarised entries read and modified: the default `details` of both kinds of summary. */
export interface FileLists {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}
