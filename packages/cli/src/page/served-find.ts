import { BoughError, type SearchHit } from "@bough/session-core";
import { ENTRY_TYPES } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import { parseTypedQuery } from "../session/typed-filters.js";
import { describeMatched, unfinishedQuery } from "../session/typed-search.js";
import { NONE } from "../tree/tree-index.js";
import type { FoundEntry, FoundInSession } from "./sent.js";
import type { ServedSession } from "./served-session.js";
import { rowKind, withoutMarks } from "./tree-nav.js";

/** Hits that are sent; the others are counted. */
const MAX_HITS = 2000;
const PAGE = 500;
/** Hits with their text, the best ones. */
const MAX_SNIPPETS = 50;

/** Searches all branches of a session as the command does while somebody types. */
export async function findInSession(
  served: ServedSession,
  typed: string,
  options: { readonly maskLine: (text: string) => string; readonly private?: boolean; readonly now: () => number },
): Promise<FoundInSession> {
  const { words, search, problem } = parseTypedQuery(typed, { nowMs: options.now(), home: "" });
  const request = {
    ...search,
    types: search.types ?? ENTRY_TYPES,
    query: unfinishedQuery(words),
    relax: true,
    includePrivate: options.private === true,
  };
  const hits: FoundEntry[] = [];
  try {
    if (problem !== undefined) throw problem;
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
  const text = withoutMarks(maskLine(served.index.row(row).preview));
  return [{ id: entryId, row, text, kind: rowKind(served.index.row(row)), snippet: masked, matches: masked === snippet ? matches : [] }];
}
