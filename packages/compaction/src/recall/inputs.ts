import type { SessionMasks } from "@bough/formats/secrets";
import { SEARCH_PLACES } from "@bough/session-core/engine";
import { MESSAGE_ROLES } from "@bough/session-core/view";
import * as z from "zod";
import { RecallInputError } from "../errors/compaction-errors.js";

// The inputs of recall, with the texts that a model reads about them. The command and the MCP server use the same schemas.

const id = z.string().min(1).max(200);

/** Input of `recallSearch`. */
export const recallSearchInput = z.strictObject({
  query: z
    .string()
    .max(1_000)
    .default("")
    .describe(
      'Words to find, whatever their case, also as parts of longer words: Message finds userMessageText. "several words" in quotes stand in a row; word* finds beginnings; a text with other characters, such as C++, --flag or src/a.ts, is found as it is written; /expression/ (with i: whatever their case) is a regular expression of JavaScript. Few and rare words find most: a file name, an error code, a name. Left out: the newest entries that meet the other conditions.',
    ),
  roles: z
    .array(z.enum(MESSAGE_ROLES))
    .min(1)
    .optional()
    .describe("Only messages of these roles: user is what the person said, toolResult is tool output."),
  in: z
    .array(z.enum(SEARCH_PLACES))
    .min(1)
    .optional()
    .describe(
      "Only in these places: prose (what people and models wrote), code (fenced blocks, commands, written and read files), tool (calls with their arguments, and their output).",
    ),
  tool: z.string().min(1).max(200).optional().describe("Only calls of this tool and their results."),
  path: z.string().min(1).max(4_096).optional().describe("Only calls on this file and their results: its path or the end of it."),
  around: z.int().min(0).max(5).default(0).describe("Also the beginnings of this many entries before and after each hit."),
  summaries: z.boolean().default(false).describe("Also find summaries. They repeat what the entries say."),
  limit: z.int().min(1).max(50).default(10).describe("At most this many hits."),
  next: z
    .union([z.int().min(0), z.string().regex(/^\d{1,9}$/)])
    .transform(Number)
    .optional()
    .describe("What the last answer gave as next: continues after its last hit."),
});

/** Input of `recallRead`. */
export const recallReadInput = z
  .strictObject({
    entries: z.array(id).min(1).max(50).optional().describe("Ids of entries to read, in any order."),
    from: id.optional().describe("Id of the first entry of a range; instead of `entries`."),
    to: id
      .optional()
      .describe("Id of the last entry of the range, later on the same path. Left out: only `from`, with what `around` asks for."),
    around: z.int().min(0).max(50).default(0).describe("This many entries more before and after."),
    lines: z
      .string()
      .max(500)
      .regex(/^\d{1,9}(?:-\d{0,9})?(?:, ?\d{1,9}(?:-\d{0,9})?)*$/, "must be A-B, A- or A, in lines; several with commas between them")
      .optional()
      .describe("Only these lines: A-B, A- or A, or several of these with commas between them. Search results give line numbers."),
    grep: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("Only lines that match this regular expression (JavaScript; upper and lower case are the same), with their numbers."),
    context: z.int().min(0).max(50).default(0).describe("With grep: this many lines before and after each that matches."),
    offset: z.int().min(0).default(0).describe("Characters to skip: what the last answer said to continue with."),
  })
  .refine(({ entries, from }) => (entries === undefined) !== (from === undefined), "needs either entries or from")
  .refine(({ entries, to }) => entries === undefined || to === undefined, "has `to`, which belongs to `from`");

/** Input of `recallFile`. */
export const recallFileInput = z.strictObject({
  path: z.string().min(1).max(4_096).describe("The file: its path or the end of it."),
  at: id.optional().describe("Id of an entry: the state of the file there. Left out: the newest known state on this path."),
  lines: recallReadInput.shape.lines,
  grep: recallReadInput.shape.grep,
  context: recallReadInput.shape.context,
  offset: recallReadInput.shape.offset,
});

/** Input of `recallSearch`. */
export type RecallSearchInput = z.input<typeof recallSearchInput>;
/** Input of `recallRead`. */
export type RecallReadInput = z.input<typeof recallReadInput>;
/** Input of `recallFile`. */
export type RecallFileInput = z.input<typeof recallFileInput>;

/** Limits of an answer of recall. */
export interface RecallOptions {
  /** The most characters of an answer; default 12,000, at least 200. A longer answer comes in pieces. */
  readonly maxChars?: number | undefined;
  /** Also what the user kept out of the conversation, marked as private. Default false; never set it for a model. */
  readonly includePrivate?: boolean | undefined;
  /** Masks the secrets of what is found and read, as exports do. Default: none is masked, because the agent has seen its own session. */
  readonly masks?: SessionMasks | undefined;
}

export const MAX_CHARS = 12_000;
export const MIN_CHARS = 200;

/** Validates an input. Some models send null for what they leave out. @throws {RecallInputError} one line: what is wrong and where. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(removeNulls(input));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RecallInputError([...(issue?.path ?? []), issue?.message ?? ""].join(" "));
}

/**
 * The input of a tool call without its members that are null: some models send null for what they leave out. undefined and null are
 * an empty input; other values that are no object are returned as they are.
 *
 * @example
 * removeNulls({ query: "tokens", path: null }); // { query: "tokens" }
 */
export function removeNulls(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input ?? {};
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
