import { stripComposed } from "../summary/compose.js";
import { firstSentence } from "../summary/short-summary.js";
import { oneLine } from "../text/one-line.js";
import type { SummaryEntry } from "./summarised.js";

/** An import may carry anything as a title. */
const MAX_CHARS = 200;

/** The title of a summary, or its short form, or its first sentence; one line. */
export function titleOf(summary: SummaryEntry): string {
  const { title, shortSummary } = summary;
  for (const said of [title, shortSummary]) {
    const line = typeof said === "string" ? oneLine(said, MAX_CHARS) : "";
    if (line !== "") return line;
  }
  return firstSentence(stripComposed(summary.summary));
}
