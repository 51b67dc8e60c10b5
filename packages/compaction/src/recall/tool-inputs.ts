import { z } from "zod";

// What a model may send to each tool; every text that it reads about them is here.

const offset = z.int().min(0).default(0).describe("Characters to skip: what the last answer said to continue with.");

/** Words to look for. */
export const searchInput = z.strictObject({
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

/** A summary to describe. */
export const describeInput = z.strictObject({
  summary: z
    .union([z.string().min(1).max(200), z.int().min(1)])
    .optional()
    .describe("Id or number of a summary. Left out: all summaries on this path are listed, a line each."),
  offset,
});

/** A range to read. */
export const expandInput = z.strictObject({
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

/** The text that tells a model what each tool is for, and when. */
export const DESCRIPTIONS = {
  recall_search:
    "Find words in the part of this conversation that was summarised or pruned and is no longer in your context: exact error messages, commands, decisions, file names, what the user said. Gives entry ids with the surroundings of each match; read the whole entry with recall_expand. Use it before you ask the user again, guess, or repeat work. Does not search what you still see.",
  recall_describe:
    "List the summaries that stand for earlier parts of this conversation, or describe one of them: which entries it covers and when, what the user asked there (with entry ids), which files were read and modified, which facts it leaves out. Use it to find out where to look when you do not know a word to search for.",
  recall_expand:
    "Read earlier entries of this conversation word for word, tool output included, by the ids that summaries, recall_search and recall_describe give: one entry, one with its surroundings, or a range. Use it when a summary is not exact enough. Long answers come in pieces; each says how to continue.",
} as const;
