import { z } from "zod";

// What a model may send to each tool; every text that it reads about them is here.

/** Words to look for. */
export const searchInput = z.strictObject({
  query: z.string().min(1).max(1_000).describe('Words that all occur; "several words" in quotes stand in a row; word* finds beginnings.'),
  limit: z.int().min(1).max(50).default(10).describe("At most this many hits."),
});

/** A summary to describe. */
export const describeInput = z.strictObject({
  summary: z.string().min(1).max(200).optional().describe("Id of a summary. Left out: all summaries on this path are listed."),
});

/** A range to read. */
export const expandInput = z.strictObject({
  from: z.string().min(1).max(200).describe("Id of the first entry to read."),
  to: z.string().min(1).max(200).optional().describe("Id of the last entry. Left out: only `from`, with what `around` asks for."),
  around: z.int().min(0).max(50).default(0).describe("This many entries more before and after."),
  offset: z.int().min(0).default(0).describe("Characters to skip: what the last answer said to continue with."),
});
