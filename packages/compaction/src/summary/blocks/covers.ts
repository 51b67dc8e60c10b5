import { cleanText } from "../../text/clean-text.js";
import { inSummary } from "../text/tags.js";

/** Which entries a summary stands for. */
export interface Covers {
  readonly fromEntryId: string;
  readonly toEntryId: string;
  readonly entries: number;
}

/** How what is covered can be looked up. */
export interface LookUp {
  /** The host offers the tools of `recallTools`. */
  readonly recall: boolean;
  /** A file with the whole record. */
  readonly recordPath: string | null;
}

/** What a summary covers and how to ask for it: written into the summary once, when it is made (row 109). */
export function coversText({ fromEntryId, toEntryId, entries }: Covers, { recall, recordPath }: LookUp): string {
  const range = fromEntryId === toEntryId ? `entry ${safe(fromEntryId)}` : `entries ${safe(fromEntryId)} to ${safe(toEntryId)}`;
  const lines = [`This summary covers ${entries === 1 ? "1 entry" : `${entries} entries`} of the session (${range}). Nothing was deleted.`];
  if (recall) {
    lines.push(
      "When a detail is missing, look it up before asking the user or guessing: recall_search finds words in what was summarised, recall_describe says what a summary covers, recall_expand gives entries word for word, by id.",
    );
  }
  if (recordPath !== null) {
    const path = safe(recordPath);
    lines.push(`The full record is the file ${path}. It may be long: search it, for example with: grep -n "some words" ${quoted(path)}`);
  }
  return lines.join("\n");
}

function safe(text: string): string {
  return inSummary(cleanText(text).replace(/\n/g, " "));
}

function quoted(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
