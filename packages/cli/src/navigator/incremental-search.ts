import { BoughError, InvalidQueryError } from "@bough/session-core";
import { errorLine } from "../format/error-text.js";
import type { NavigatorDispatch, NavigatorWorld } from "./model.js";

/** Pause after the last key before a query runs, in milliseconds. */
const PAUSE_MS = 60;

/** Hits of the first page and of the following ones: the first page has to arrive fast. */
const FIRST_PAGE = 100;
const NEXT_PAGE = 500;

const MAX_HITS = 5000;

/** Searches the session while the user types. A new query cancels the previous one. */
export class IncrementalSearch {
  readonly #world: NavigatorWorld;
  readonly #dispatch: NavigatorDispatch;
  #timer: NodeJS.Timeout | undefined;
  #currentId = 0;

  constructor(world: NavigatorWorld, dispatch: NavigatorDispatch) {
    this.#world = world;
    this.#dispatch = dispatch;
  }

  /** Runs a query after a pause; dispatches its hits in pages. */
  start(query: string, queryId: number): void {
    clearTimeout(this.#timer);
    this.#currentId = queryId;
    this.#timer = setTimeout(() => void this.#search(query, queryId), PAUSE_MS);
  }

  /** Cancels the query. */
  end(): void {
    clearTimeout(this.#timer);
    this.#currentId = -1;
  }

  async #search(query: string, queryId: number): Promise<void> {
    try {
      let cursor: string | undefined;
      for (let found = 0; found < MAX_HITS && this.#currentId === queryId; ) {
        const limit = found === 0 ? FIRST_PAGE : NEXT_PAGE;
        // A screen is read by the person whose entries these are, so it has the private ones too.
        const page = await this.#world.session.search({ query: withPrefixMatch(query), limit, cursor, includePrivate: true });
        const ids = page.hits.flatMap(({ entryId }) => (entryId === null ? [] : [entryId]));
        this.#dispatch({ kind: "hits", queryId, ids, total: page.total, isMore: found > 0 });
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

/** The last word may be unfinished, so it matches as a prefix unless it is quoted. */
function withPrefixMatch(query: string): string {
  return /[\p{L}\p{N}]$/u.test(query) && (query.match(/"/g)?.length ?? 0) % 2 === 0 ? `${query}*` : query;
}

function firstSentence(text: string): string {
  return /^.*?[.!](?=\s|$)/.exec(text)?.[0] ?? text;
}
