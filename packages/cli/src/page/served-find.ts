import { BoughError, type EntryId, type SearchHit } from "@bough/session-core";
import { ENTRY_TYPES } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import { describeMatched, unfinishedQuery } from "../session/typed-search.js";
import { NONE } from "../tree/tree-index.js";
import type { ServedSession } from "./served-session.js";

/** Hits that are sent; the others are counted. */
const MAX_HITS = 2000;
const PAGE = 500;
/** Hits with their text, the best ones. */
const MAX_SNIPPETS = 50;

/** A hit of the search in a session. */
interface FoundEntry {
  readonly id: EntryId;
  readonly row: number;
  /** The text around the first match; "" beyond the first 50 hits. */
  readonly snippet: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

/** The hits, the best first. */
interface FoundInSession {
  readonly hits: readonly FoundEntry[];
  readonly total: number;
  /** How the hits differ from the query; or why it cannot be searched. */
  readonly note: string;
}

/** Searches all branches of a session as the command does while somebody types. */
export async function findInSession(
  served: ServedSession,
  typed: string,
  options: { readonly maskLine: (text: string) => string; readonly private?: boolean },
): Promise<FoundInSession> {
  const request = { query: unfinishedQuery(typed), relax: true, types: ENTRY_TYPES, includePrivate: options.private === true };
  const hits: FoundEntry[] = [];
  try {
    for (let cursor: string | undefined; ; ) {
      const isFirst = hits.length === 0;
      const page = await served.session.search({ ...request, limit: isFirst ? MAX_SNIPPETS : PAGE, snippets: isFirst, cursor });
      hits.push(...page.hits.flatMap((hit) => foundEntry(served, hit, options.maskLine)));
      if (page.next === null || hits.length >= MAX_HITS) return { hits, total: page.total, note: describeMatched(page.matched) };
      cursor = page.next;
    }
  } catch (error) {
    if (!(error instanceof BoughError)) throw error;
    return { hits: [], total: 0, note: errorLine(error) };
  }
}

/** None: the hit is a title, or an entry that arrived since. */
function foundEntry(
  served: ServedSession,
  { entryId, snippet, matches }: SearchHit,
  maskLine: (text: string) => string,
): readonly FoundEntry[] {
  const row = entryId === null ? NONE : served.index.indexOf(entryId);
  if (entryId === null || row === NONE) return [];
  const masked = maskLine(snippet);
  return [{ id: entryId, row, snippet: masked, matches: masked === snippet ? matches : [] }];
}
