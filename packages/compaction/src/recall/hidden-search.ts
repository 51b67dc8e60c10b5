import type { Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { isSummary } from "@bough/session-core/view";
import { RECALL, SESSION } from "../arguments/shapes.js";
import { parseInput, type RecallOptions, type RecallSearchInput, recallSearchInput } from "./inputs.js";
import { type RecallAnswer, type RecallSearchResult, recallSearch } from "./search.js";
import { readSummarizedPath } from "./summarized.js";

/** The answer if nothing was compacted. */
export const ALL_IN_CONTEXT = "Nothing on this path has been summarized yet: everything is in your context.";

const NOTHING = "Nothing in what was summarized has any of these words.";

/**
 * `recallSearch` in the entries that the context of the session's leaf no longer contains: entries that a summary of the path covers,
 * branches that were left with a summary, and entries replaced by an edit. Entries in the context, and branches without a summary on
 * this path, are not searched. Further cost: the outline of the session, once for each handle.
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
  const { summaries, next = 0 } = parseInput(recallSearchInput, input);
  const summarized = await readSummarizedPath(session);
  const rows = summarized.listHidden();
  const seqs = rows.filter((row) => summaries || !isSummary(row)).map(({ seq }) => seq);
  const placeOf = (id: string) => {
    const summaryId = summarized.findSummaryOf(id);
    return summaryId === "edit" ? "taken out of your context" : `in summary ${summaryId}`;
  };
  const answer = await recallSearch(session, input, { ...options, seqs, placeOf });
  if (summarized.isEmpty) return { ...answer, text: ALL_IN_CONTEXT };
  const isEmpty = answer.data.hits.length === 0 && next === 0;
  return isEmpty ? { ...answer, text: NOTHING } : answer;
}
