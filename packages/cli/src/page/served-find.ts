import { homedir } from "node:os";
import { BoughError, type SearchHit, type Store } from "@bough/session-core";
import { ENTRY_TYPES, PriceList } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import { withTotals } from "../session/chosen-sessions.js";
import { asksForEntries, meetsRecord, parseTypedQuery, type TypedQuery } from "../session/typed-filters.js";
import { describeMatched, unfinishedQuery } from "../session/typed-text.js";
import { NONE } from "../tree/tree-index.js";
import type { Masks } from "./content.js";
import { plainHit, withoutMarks } from "./plain-text.js";
import type { FoundEntry, FoundInSession } from "./sent.js";
import type { ServedSession } from "./served-session.js";
import { rowKind } from "./tree-nav.js";

/** Hits that are sent; the others are counted. */
const MAX_HITS = 2000;
const PAGE = 500;
/** Hits with their text, the best ones. */
const MAX_SNIPPETS = 50;

interface FindOptions {
  readonly masks: Masks;
  readonly private?: boolean;
  readonly prices?: PriceList;
  readonly now: () => number;
}

/** Searches all branches of a session as the command does while somebody types. Filters of sessions are judged against this one. */
export async function findInSession(store: Store, served: ServedSession, typed: string, options: FindOptions): Promise<FoundInSession> {
  const query = parseTypedQuery(typed, { nowMs: options.now(), home: homedir() });
  const { words, search, problem } = query;
  const searched = unfinishedQuery(words);
  const request = {
    ...search,
    types: search.types ?? ENTRY_TYPES,
    query: searched,
    relax: true,
    includePrivate: options.private === true,
  };
  const nothing = (note: string): FoundInSession => ({ hits: [], total: 0, words: "", matched: { kind: "all" }, note });
  const hits: FoundEntry[] = [];
  try {
    if (problem !== undefined) throw problem;
    if (!choosesEntries(query)) return nothing("Type words, or a filter of entries such as role:user");
    if (!(await isChosen(store, served, query, options))) return nothing("The filters leave this session out");
    for (let cursor: string | undefined; ; ) {
      const isFirst = hits.length === 0;
      const page = await served.session.search({ ...request, limit: isFirst ? MAX_SNIPPETS : PAGE, snippets: isFirst, cursor });
      hits.push(...page.hits.flatMap((hit) => foundEntry(served, hit, options.masks)));
      const { total, matched } = page;
      if (page.next === null || hits.length >= MAX_HITS) return { hits, total, words: searched, matched, note: describeMatched(matched) };
      cursor = page.next;
    }
  } catch (error) {
    if (!(error instanceof BoughError)) throw error;
    return nothing(errorLine(error));
  }
}

/** Without words and such a filter every entry would be found. */
function choosesEntries(query: TypedQuery): boolean {
  return asksForEntries(query) || query.search.sinceMs !== undefined || query.search.untilMs !== undefined;
}

/** True if the session meets the filters of sessions: by directory, model and cost. */
async function isChosen(store: Store, { record }: ServedSession, { sessions }: TypedQuery, { prices }: FindOptions): Promise<boolean> {
  if (!meetsRecord(record, { search: {}, sessions })) return false;
  return (await withTotals({ store, prices: async () => prices ?? new PriceList() }, [record], sessions)).length > 0;
}

/** None: the hit is a title, or an entry that arrived since. */
function foundEntry(served: ServedSession, hit: SearchHit, masks: Masks): readonly FoundEntry[] {
  const { entryId } = hit;
  const row = entryId === null ? NONE : served.index.indexOf(entryId);
  if (entryId === null || row === NONE) return [];
  const masked = masks.maskLine(hit.snippet);
  const { snippet, matches } = plainHit(masked === hit.snippet ? hit : { ...hit, snippet: masked, matches: [] });
  const text = withoutMarks(masks.maskLine(served.index.row(row).preview));
  return [{ id: entryId, row, text, kind: rowKind(served.index.row(row)), snippet, matches }];
}
