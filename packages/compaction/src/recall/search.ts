import type { SearchHit, Session } from "@bough/session-core";
import { cleanText } from "@bough/session-core/internals";
import { formatTime, isPrivate } from "./entry-text.js";
import { readSummarizedPath, type SummarizedPath } from "./summarized.js";

/** The answer if nothing was compacted. */
export const ALL_IN_CONTEXT = "Nothing on this path has been summarized yet: everything is in your context.";

/** Hits read from the index at once; many are outside of the covered ranges. */
const PAGE = 500;
/** With more hits than this, the words are too common. */
const MAX_HITS = 20_000;

/** A search. */
interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  /** 1 for the best hits. */
  readonly page: number;
}

/**
 * Finds entries with all the words that are no longer in the context, one a line, best first: entries that a summary of
 * the current path covers, branches that were left with a summary, and entries replaced by an edit. Entries in the
 * context, and branches without a summary on this path, are omitted.
 *
 * @throws {InvalidQueryError} the query has no letter or digit.
 */
export async function searchSummarized(session: Session, { query, limit, page }: SearchRequest): Promise<string> {
  const summarized = await readSummarizedPath(session);
  if (summarized.isEmpty) return ALL_IN_CONTEXT;
  const wanted = page * limit;
  // One more, to know whether there is another page.
  const { lines, isIncomplete } = await collectHits(session, summarized, query, wanted + 1);
  const shown = lines.slice(wanted - limit, wanted);
  if (shown.length === 0) return explainNoHits(page, isIncomplete);
  const more = lines.length > wanted ? ` More: the same with page ${page + 1}.` : "";
  return `${shown.join("\n")}\nRead one in full with recall_expand.${more}${isIncomplete ? ` ${TOO_MANY}` : ""}`;
}

const TOO_MANY = "Too many entries hold these words to look at all; use rarer ones.";

function explainNoHits(page: number, isIncomplete: boolean): string {
  if (isIncomplete) return TOO_MANY;
  if (page > 1) return "There are no more hits.";
  return "Nothing in what was summarized holds all these words in one entry. Try fewer words, or word* for beginnings.";
}

interface CollectedHits {
  readonly lines: readonly string[];
  /** Not all hits were examined. */
  readonly isIncomplete: boolean;
}

async function collectHits(session: Session, summarized: SummarizedPath, query: string, count: number): Promise<CollectedHits> {
  const lines: string[] = [];
  let cursor: string | undefined;
  for (let seen = 0; seen < MAX_HITS; seen += PAGE) {
    const { hits, next } = await session.search({ query, limit: PAGE, cursor });
    for (const hit of hits) {
      const line = await formatHit(session, summarized, hit);
      if (line !== null) lines.push(line);
      if (lines.length >= count) return { lines, isIncomplete: false };
    }
    if (next === null) return { lines, isIncomplete: false };
    cursor = next;
  }
  return { lines, isIncomplete: true };
}

/** null: the hit is in the context, on another branch or private. */
async function formatHit(session: Session, summarized: SummarizedPath, hit: SearchHit): Promise<string | null> {
  const { entryId, role, type, createdAtMs, snippet } = hit;
  const summaryId = entryId === null ? null : summarized.findSummaryOf(entryId);
  if (entryId === null || summaryId === null) return null;
  if (role === "bashExecution" && isPrivate(await session.entry(entryId))) return null;
  const where = summaryId === "edit" ? "taken out of your context" : `in summary ${summaryId}`;
  return cleanText(`${entryId} (${role ?? type}, ${formatTime(createdAtMs)}, ${where}): ${snippet}`).replace(/\s+/g, " ");
}
