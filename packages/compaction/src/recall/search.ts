import type { SearchHit, Session } from "@bough/session-core";
import { cleanText } from "@bough/session-core/internals";
import { formatTime, isPrivate } from "./entry-text.js";
import { readSummarizedPath, type SummarizedPath } from "./summarized.js";

/** What is said where there is nothing to look up. */
export const ALL_IN_CONTEXT = "Nothing on this path has been summarized yet: everything is in your context.";

/** Hits that are read from the index at once: many lie outside of what was summarized. */
const PAGE = 500;
/** Beyond so many the words are too common for the answer to be of use. */
const MAX_LOOKED_AT = 20_000;

/** What to look for. */
interface SearchRequest {
  readonly query: string;
  readonly limit: number;
  /** 1 for the best hits. */
  readonly page: number;
}

/**
 * Entries with all the words that are no longer in the context, a line each, best first: those that a summary of the current
 * path stands for, branches that were left with one, and entries whose place was taken by an edit. What is in the
 * context, and branches that nothing on this path tells of, are left out.
 *
 * @throws {InvalidQueryError} the query has no letter or digit.
 */
export async function searchSummarized(session: Session, { query, limit, page }: SearchRequest): Promise<string> {
  const summarized = await readSummarizedPath(session);
  if (summarized.isEmpty) return ALL_IN_CONTEXT;
  const wanted = page * limit;
  // One more, to know whether there is another page.
  const { lines, gaveUp } = await collectHits(session, summarized, query, wanted + 1);
  const shown = lines.slice(wanted - limit, wanted);
  if (shown.length === 0) return explainNoHits(page, gaveUp);
  const more = lines.length > wanted ? ` More: the same with page ${page + 1}.` : "";
  return `${shown.join("\n")}\nRead one in full with recall_expand.${more}${gaveUp ? ` ${TOO_MANY}` : ""}`;
}

const TOO_MANY = "Too many entries hold these words to look at all; use rarer ones.";

function explainNoHits(page: number, gaveUp: boolean): string {
  if (gaveUp) return TOO_MANY;
  if (page > 1) return "There are no more hits.";
  return "Nothing in what was summarized holds all these words in one entry. Try fewer words, or word* for beginnings.";
}

interface CollectedHits {
  readonly lines: readonly string[];
  /** There were too many to look at all of them. */
  readonly gaveUp: boolean;
}

async function collectHits(session: Session, summarized: SummarizedPath, query: string, most: number): Promise<CollectedHits> {
  const lines: string[] = [];
  let cursor: string | undefined;
  for (let looked = 0; looked < MAX_LOOKED_AT; looked += PAGE) {
    const { hits, next } = await session.search({ query, limit: PAGE, cursor });
    for (const hit of hits) {
      const line = await formatHit(session, summarized, hit);
      if (line !== null) lines.push(line);
      if (lines.length >= most) return { lines, gaveUp: false };
    }
    if (next === null) return { lines, gaveUp: false };
    cursor = next;
  }
  return { lines, gaveUp: true };
}

/** null: the hit is none that is to be told. */
async function formatHit(session: Session, summarized: SummarizedPath, hit: SearchHit): Promise<string | null> {
  const { entryId, role, type, createdAtMs, snippet } = hit;
  const teller = entryId === null ? null : summarized.findSummaryOf(entryId);
  if (entryId === null || teller === null) return null;
  if (role === "bashExecution" && isPrivate(await session.entry(entryId))) return null;
  const where = teller === "edit" ? "taken out of your context" : `in summary ${teller}`;
  return cleanText(`${entryId} (${role ?? type}, ${formatTime(createdAtMs)}, ${where}): ${snippet}`).replace(/\s+/g, " ");
}
