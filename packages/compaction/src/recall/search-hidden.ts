import type { OutlineRow, Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { readQuestion } from "@bough/session-core/engine";
import { cleanText, isSummary, shortLine } from "@bough/session-core/view";
import { RECALL, SESSION } from "../arguments/shapes.js";
import { isRequest } from "../extract/prose.js";
import { EntrySource } from "./entry-source.js";
import { formatBody } from "./entry-text.js";
import { MAX_CHARS, parseInput, type RecallOptions, type RecallSearchInput, recallSearchInput } from "./inputs.js";
import { type RecallAnswer, type RecallSearchResult, recallSearch } from "./search.js";
import { readSummarizedPath } from "./summarized.js";

/** The answer if nothing was compacted. */
export const ALL_IN_CONTEXT = "Nothing on this path has been summarized yet: everything is in your context.";

const NOTHING = "Nothing in what was summarized has any of these words.";

/**
 * `recallSearch` in the entries that the context of the session's leaf no longer contains: entries that a summary of the path covers,
 * branches that were left with a summary, and entries replaced by an edit. Entries in the context, and branches without a summary on
 * this path, are not searched. The first answer to a question ends with the first and the last request of what was searched and the last
 * reply. Further cost: the outline of the session, once for each handle.
 *
 * @throws {RecallInputError | InvalidQueryError}
 */
export async function searchHidden(
  session: Session,
  input: RecallSearchInput,
  options: RecallOptions = {},
): Promise<RecallAnswer<RecallSearchResult>> {
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("options", options, RECALL);
  const { summaries, query, next = 0 } = parseInput(recallSearchInput, input);
  const summarized = await readSummarizedPath(session);
  if (summarized.isEmpty) return { ...(await recallSearch(session, input, { ...options, seqs: [] })), text: ALL_IN_CONTEXT };
  const rows = summarized.listHidden();
  const seqs = rows.filter((row) => summaries || !isSummary(row)).map(({ seq }) => seq);
  const placeOf = (id: string) => {
    const summaryId = summarized.findSummaryOf(id);
    return summaryId === "edit" ? "taken out of your context" : `in summary ${summaryId}`;
  };
  const ends = next === 0 && readQuestion(query) !== null ? await describeEnds(session, rows, options) : "";
  const maxChars = Math.max(LEAST_CHARS, (options.maxChars ?? MAX_CHARS) - ends.length);
  const answer = await recallSearch(session, input, { ...options, maxChars, seqs, placeOf });
  const { hits, withoutFilters } = answer.data;
  const text = hits.length === 0 && next === 0 && withoutFilters.length === 0 ? NOTHING : answer.text;
  return { ...answer, text: ends === "" ? text : `${text}\n\n${ends}` };
}

/** The least bound of an answer. */
const LEAST_CHARS = 200;

/** The longest part of an end, in UTF-16 code units. */
const END = 300;

/** The ends of what is searched, a line each: questions ask for what came first or last, in words that the entry itself does not have. */
async function describeEnds(
  session: Session,
  rows: readonly OutlineRow[],
  { includePrivate = false, masks }: RecallOptions,
): Promise<string> {
  const source = new EntrySource(session, includePrivate, masks);
  const ordered = rows.filter(({ type }) => type === "message").toSorted((a, b) => a.seq - b.seq);
  const requests = ordered.filter(({ role, preview }) => role === "user" && isRequest(preview));
  const ends = {
    "first request": requests[0],
    "last request": requests.slice(1).at(-1),
    "last reply": ordered.findLast(({ role }) => role === "assistant"),
  };
  const lines: string[] = [];
  for (const [name, row] of Object.entries(ends)) {
    const entry = row === undefined ? undefined : await source.find(session.id, row.id);
    if (entry !== undefined)
      lines.push(cleanText(`(The ${name} there: [${entry.id}] ${shortLine(formatBody(entry, includePrivate), END)})`));
  }
  return lines.join("\n");
}
