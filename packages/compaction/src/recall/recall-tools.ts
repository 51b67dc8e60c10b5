import { AmbiguousNameError, EntryNotFoundError, InvalidQueryError, type Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { shortLine } from "@bough/session-core/view";
import * as z from "zod";
import { SESSION } from "../arguments/shapes.js";
import { InvalidSettingError, RecallInputError } from "../errors/compaction-errors.js";
import { markRecallTools } from "../summary/compose.js";
import { describeSummaries } from "./describe.js";
import { recallFile } from "./file-state.js";
import { MAX_CHARS, MIN_CHARS, parseInput, type RecallOptions, recallFileInput, recallReadInput, recallSearchInput } from "./inputs.js";
import { recallRead, takePiece } from "./read.js";
import { searchHidden } from "./search-hidden.js";

/** A tool for a model, independent of the agent's framework. */
export interface RecallTool {
  readonly name: "recall_search" | "recall_describe" | "recall_expand" | "recall_file";
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

/** The four tools. `aiSdkRecallTools` of `@bough/compaction/ai-sdk` has them as tools of the AI SDK. */
export interface RecallTools {
  readonly definitions: readonly RecallTool[];
}

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
export function recallTools(session: Session, options: Pick<RecallOptions, "maxChars"> = {}): RecallTools {
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("options", options, rules.OBJECT);
  const { maxChars = MAX_CHARS } = options;
  if (!Number.isSafeInteger(maxChars) || maxChars < MIN_CHARS)
    throw new InvalidSettingError("maxChars", `must be a whole number of at least ${MIN_CHARS}`);
  markRecallTools(session);
  const limits: RecallOptions = { maxChars };
  const definitions = [
    defineTool("recall_search", recallSearchInput, async (input) => (await searchHidden(session, input, limits)).text),
    defineTool("recall_describe", describeInput, ({ summary, offset }) => describe(session, summary, offset, maxChars)),
    defineTool("recall_expand", recallReadInput, async (input) => (await recallRead(session, input, limits)).text),
    defineTool("recall_file", recallFileInput, async (input) => (await recallFile(session, input, limits)).text),
  ];
  return { definitions };
}

async function describe(session: Session, summary: string | number | undefined, offset: number, maxChars: number): Promise<string> {
  return takePiece(await describeSummaries(session, summary === undefined ? undefined : String(summary)), offset, maxChars).text;
}

function defineTool<T>(name: RecallTool["name"], schema: z.ZodType<T>, run: (input: T) => Promise<string>): RecallTool {
  return {
    name,
    description: DESCRIPTIONS[name],
    inputSchema: z.toJSONSchema(schema, { io: "input" }),
    execute: async (input) => {
      try {
        return await run(parseInput(schema, input));
      } catch (error) {
        return shortLine(explainMistake(name, error), MAX_LINE);
      }
    },
  };
}

/** Explains invalid input to the model. @throws the error if it has another cause. */
function explainMistake(name: string, error: unknown): string {
  if (error instanceof RecallInputError) return `The input of ${name} is not valid: ${error.problem}`;
  if (error instanceof EntryNotFoundError)
    return `No entry of this session has the id ${error.entryId}. Ids are in the summaries and in what recall_search finds.`;
  if (error instanceof AmbiguousNameError)
    return `${error.typed} could be several entries: ${error.candidates.join(", ")}. Name one of them.`;
  if (error instanceof InvalidQueryError) return `That query cannot be understood: ${error.reason}.`;
  throw error;
}

/** Input of `recall_describe`. */
const describeInput = z.strictObject({
  summary: z
    .union([z.string().min(1).max(200), z.int().min(1)])
    .optional()
    .describe("Id or number of a summary. Left out: all summaries on this path are listed, a line each."),
  offset: recallReadInput.shape.offset,
});

/** The descriptions of the tools. */
const DESCRIPTIONS = {
  recall_search:
    "Find words, parts of words, exact texts or a /regular expression/ in the part of this conversation that was summarized or pruned and is no longer in your context: exact error messages, commands, decisions, file names, what the user said. Gives for each entry the lines where the words stand together, with line numbers; often that is the answer. Use it before you ask the user again, guess, or repeat work. Does not search what you still see.",
  recall_describe:
    "List the summaries that stand for earlier parts of this conversation, or describe one of them: which entries it covers and when, what the user asked there (with entry ids), which files were read and modified, which facts it leaves out. Use it to find out where to look when you do not know a word to search for.",
  recall_expand:
    "Read earlier entries of this conversation word for word, tool output included, by the ids that summaries, recall_search and recall_describe give: some entries, one with its surroundings, or a range; with lines or grep only parts of long entries. Use it when a summary is not exact enough. Long answers come in pieces; each says how to continue.",
  recall_file:
    "The text in which the calls of this conversation left a file: its last write or full read with the edits after it. Says what it cannot know. Use it for the state at an earlier entry, or where the file itself cannot be read.",
} as const;
