import { BoughError, InvalidQueryError } from "@bough/session-core";
import { ENTRY_TYPES } from "@bough/session-core/view";
import { errorLine } from "../format/error-text.js";
import { NewestOnly, unfinishedQuery } from "../session/typed-search.js";
import type { NavigatorDispatch, NavigatorWorld } from "./model.js";

/** Hits of the first page and of the following ones: the first page has to arrive fast. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 500;

const MAX_HITS = 5000;

/** Entries only, no title. A screen is read by the person whose entries these are, so it has the private ones too. */
const REQUEST = { relax: true, types: ENTRY_TYPES, includePrivate: true } as const;

interface Query {
  readonly query: string;
  readonly queryId: number;
}

/** Searches the session while the user types. A newer query cancels the running one after its current page. */
export class IncrementalSearch {
  readonly #world: NavigatorWorld;
  readonly #dispatch: NavigatorDispatch;
  readonly #queries = new NewestOnly<Query>((query, isWanted) => this.#search(query, isWanted));

  constructor(world: NavigatorWorld, dispatch: NavigatorDispatch) {
    this.#world = world;
    this.#dispatch = dispatch;
  }

  /** Runs a query; dispatches its hits in pages. */
  start(query: string, queryId: number): void {
    this.#queries.start({ query, queryId });
  }

  /** Cancels the query. */
  end(): void {
    this.#queries.end();
  }

  async #search({ query, queryId }: Query, isWanted: () => boolean): Promise<void> {
    try {
      const words = unfinishedQuery(query);
      let cursor: string | undefined;
      for (let found = 0; found < MAX_HITS && isWanted(); ) {
        const limit = found === 0 ? FIRST_PAGE : NEXT_PAGE;
        const page = await this.#world.session.search({ ...REQUEST, query: words, limit, cursor });
        const hits = page.hits.flatMap(({ entryId, snippet, matches }) => (entryId === null ? [] : [{ entryId, snippet, matches }]));
        const { total, matched } = page;
        this.#dispatch({ kind: "hits", queryId, hits, total, isMore: found > 0, words: { query: words, matched } });
        found += page.hits.length;
        if (page.next === null || page.hits.length === 0) return;
        cursor = page.next;
        // Pending keys are handled between two pages.
        await new Promise(setImmediate);
      }
    } catch (error) {
      if (!(error instanceof BoughError)) throw error;
      const problem = error instanceof InvalidQueryError ? firstSentence(errorLine(error)) : errorLine(error);
      this.#dispatch({ kind: "badQuery", queryId, problem });
    }
  }
}

function firstSentence(text: string): string {
  return /^.*?[.!](?=\s|$)/.exec(text)?.[0] ?? text;
}
