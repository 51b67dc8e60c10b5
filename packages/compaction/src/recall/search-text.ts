import { type EntryId, InvalidQueryError, type SearchHit, type Session } from "@bough/session-core";
import { cleanText } from "../summary/text/clean-text.js";
import { type Covered, coveredOn } from "./coverage.js";

/** More hits than are asked for are looked at, as many lie outside of what was summarised. */
const LOOKED_AT = 5;

/** Entries that a summary of the current path stands for and that hold all the words, a line each. */
export async function searchText(session: Session, query: string, limit: number): Promise<string> {
  const covered = await coveredOn(session);
  if (covered.length === 0) return "Nothing on this path has been summarised yet: everything is in your context.";
  try {
    return await found(session, covered, query, limit);
  } catch (error) {
    if (!(error instanceof InvalidQueryError)) throw error;
    return `That query cannot be understood: ${error.message}`;
  }
}

async function found(session: Session, covered: readonly Covered[], query: string, limit: number): Promise<string> {
  const lines: string[] = [];
  let cursor: string | undefined;
  for (let looked = 0; looked < LOOKED_AT && lines.length < limit; looked += 1) {
    const page = await session.search({ query, limit: limit * 2, cursor });
    for (const hit of page.hits) {
      const summary = hit.entryId === null ? null : await summaryOf(session, covered, hit.entryId);
      if (summary !== null && lines.length < limit) lines.push(lineOf(hit, summary));
    }
    if (page.next === null) break;
    cursor = page.next;
  }
  if (lines.length === 0) return "Nothing in what was summarised holds all these words. Try fewer words, or word* for beginnings.";
  return cleanText(`${lines.join("\n")}\nRead one in full with recall_expand.`);
}

function lineOf({ entryId, role, type, createdAtMs, snippet }: SearchHit, summary: EntryId): string {
  const when = new Date(createdAtMs).toISOString().slice(0, 16).replace("T", " ");
  return `${entryId} (${role ?? type}, ${when}, in summary ${summary}): ${snippet.replace(/\s+/g, " ")}`;
}

/** The newest summary that stands for an entry; null: none on this path does. */
async function summaryOf(session: Session, covered: readonly Covered[], entryId: EntryId): Promise<EntryId | null> {
  for (const { summary, fromEntryId, toEntryId } of covered.toReversed()) {
    if (fromEntryId === null || toEntryId === null || summary.id === entryId) continue;
    const isBelow = (await session.commonAncestor(fromEntryId, entryId)) === fromEntryId;
    if (isBelow && (await session.commonAncestor(entryId, toEntryId)) === entryId) return summary.id;
  }
  return null;
}
