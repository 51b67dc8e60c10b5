import { AmbiguousNameError, type EntryId, EntryNotFoundError, InvalidQueryError, type Session } from "@bough/session-core";
import { pairStart, rules, shortLine } from "@bough/session-core/internals";
import { z } from "zod";
import { SESSION } from "../arguments/shapes.js";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import { markRecallTools } from "../summary/compose.js";
import { describeSummaries } from "./describe.js";
import { readRangeText } from "./entry-text.js";
import { searchSummarized } from "./search.js";

/** A tool for a model, independent of the agent's framework. */
export interface RecallTool {
  readonly name: "recall_search" | "recall_describe" | "recall_expand";
  readonly description: string;
  /** JSON schema of its input. */
  readonly inputSchema: Record<string, unknown>;
  /**
   * Runs the tool. @returns the result for the model. Invalid input returns one line with the reason and does not throw.
   *
   * @throws {StoreClosedError | SessionNotFoundError} the session is not available.
   */
  readonly execute: (input: unknown) => Promise<string>;
}

/** The three tools. `aiSdkRecallTools` of `@bough/compaction/ai-sdk` has them as tools of the AI SDK. */
export interface RecallTools {
  readonly definitions: readonly RecallTool[];
}

/** Limits of the answers. */
export interface RecallOptions {
  /**
   * The most characters of one answer of `recall_expand` and `recall_describe`; default 12,000, at least 200. A longer
   * answer is returned in pieces.
   */
  readonly maxChars?: number | undefined;
}

const MAX_CHARS = 12_000;

const MIN_CHARS = 200;

/** Longest line about invalid input, because it repeats the input. */
const MAX_LINE = 600;

/**
 * Creates tools with which a model looks up compacted entries of the session's current path: search them, describe a
 * summary and its range, read entries word for word. Compactors of this session handle then name the tools in their
 * summaries. The tools read only this session and never write.
 *
 * @throws {InvalidSettingError} `maxChars` is less than 200.
 * @example
 * const { definitions } = recallTools(session);
 * const answer = await definitions[0].execute({ query: "lexer tabs" });
 */
export function recallTools(session: Session, options: RecallOptions = {}): RecallTools {
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("options", options, rules.OBJECT);
  const { maxChars = MAX_CHARS } = options;
  if (!Number.isSafeInteger(maxChars) || maxChars < MIN_CHARS)
    throw new InvalidSettingError("maxChars", `must be a whole number of at least ${MIN_CHARS}`);
  markRecallTools(session);
  const definitions = [
    defineTool("recall_search", searchInput, (order) => searchSummarized(session, order)),
    defineTool("recall_describe", describeInput, ({ summary, offset }) => describe(session, summary, offset, maxChars)),
    defineTool("recall_expand", expandInput, (order) => expand(session, order, maxChars)),
  ];
  return { definitions };
}

async function describe(session: Session, summary: string | number | undefined, offset: number, maxChars: number): Promise<string> {
  return takePiece(await describeSummaries(session, summary === undefined ? undefined : String(summary)), offset, maxChars);
}

async function expand(session: Session, order: z.output<typeof expandInput>, maxChars: number): Promise<string> {
  const from = await session.resolve(order.from);
  const to: EntryId = order.to === undefined ? from : await session.resolve(order.to);
  const { around, offset } = order;
  return takePiece(await readRangeText(session, { from, to, around, endChar: offset + maxChars }), offset, maxChars);
}

function defineTool<T>(name: RecallTool["name"], schema: z.ZodType<T>, run: (input: T) => Promise<string>): RecallTool {
  return {
    name,
    description: DESCRIPTIONS[name],
    inputSchema: z.toJSONSchema(schema, { io: "input" }),
    execute: async (input) => {
      const parsed = schema.safeParse(removeNulls(input));
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        return shortLine(`The input of ${name} is not valid: ${[...(issue?.path ?? []), issue?.message ?? ""].join(" ")}`, MAX_LINE);
      }
      try {
        return await run(parsed.data);
      } catch (error) {
        return shortLine(explainMistake(error), MAX_LINE);
      }
    },
  };
}

/** Some models send null for omitted arguments. */
function removeNulls(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input ?? {};
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}

/** Explains invalid input to the model. @throws the error if it has another cause. */
function explainMistake(error: unknown): string {
  if (error instanceof EntryNotFoundError)
    return `No entry of this session has the id ${error.entryId}. Ids are in the summaries and in what recall_search finds.`;
  if (error instanceof AmbiguousNameError)
    return `${error.typed} could be several entries: ${error.candidates.join(", ")}. Name one of them.`;
  if (error instanceof InvalidQueryError) return `That query cannot be understood: ${error.reason}.`;
  throw error;
}

// The inputs of the tools, with all texts that the model reads about them.

const offset = z.int().min(0).default(0).describe("Characters to skip: what the last answer said to continue with.");

/** Input of `recall_search`. */
const searchInput = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(1_000)
    .describe(
      'Words that all occur in one entry, whatever their case; "several words" in quotes stand in a row; word* finds beginnings. Few and rare words find most: a file name, an error code, a name.',
    ),
  limit: z.int().min(1).max(50).default(10).describe("At most this many hits."),
  page: z.int().min(1).max(1_000).default(1).describe("2 for the hits after the first `limit`, and so on."),
});

/** Input of `recall_describe`. */
const describeInput = z.strictObject({
  summary: z
    .union([z.string().min(1).max(200), z.int().min(1)])
    .optional()
    .describe("Id or number of a summary. Left out: all summaries on this path are listed, a line each."),
  offset,
});

/** Input of `recall_expand`. */
const expandInput = z.strictObject({
  from: z.string().min(1).max(200).describe("Id of the first entry to read."),
  to: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Id of the last entry, later on the same path. Left out: only `from`, with what `around` asks for."),
  around: z.int().min(0).max(50).default(0).describe("This many entries more before and after."),
  offset,
});

/** The descriptions of the tools. */
const DESCRIPTIONS = {
  recall_search:
    "Find words in the part of this conversation that was summarized or pruned and is no longer in your context: exact error messages, commands, decisions, file names, what the user said. Gives entry ids with the surroundings of each match; read the whole entry with recall_expand. Use it before you ask the user again, guess, or repeat work. Does not search what you still see.",
  recall_describe:
    "List the summaries that stand for earlier parts of this conversation, or describe one of them: which entries it covers and when, what the user asked there (with entry ids), which files were read and modified, which facts it leaves out. Use it to find out where to look when you do not know a word to search for.",
  recall_expand:
    "Read earlier entries of this conversation word for word, tool output included, by the ids that summaries, recall_search and recall_describe give: one entry, one with its surroundings, or a range. Use it when a summary is not exact enough. Long answers come in pieces; each says how to continue.",
} as const;

/**
 * A piece of a text from `offset` on, at most `maxChars` UTF-16 code units, with the next offset at its end. Never splits
 * a surrogate pair.
 */
function takePiece(text: string, offset: number, maxChars: number): string {
  const start = pairStart(text, offset);
  if (start >= text.length) return start === 0 ? text : "There is nothing more.";
  const end = pairStart(text, start + maxChars);
  return end >= text.length ? text.slice(start) : `${text.slice(start, end)}\n\n(more: continue with offset ${end})`;
}
