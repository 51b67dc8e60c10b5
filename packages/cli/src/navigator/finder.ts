import { BoughError, InvalidQueryError } from "@bough/session-core";
import { errorLine } from "../errors.js";
import type { NavigatorDispatch, NavigatorWorld } from "./model.js";

/** A person who types on has not asked yet; in milliseconds. */
const PAUSE = 60;

/** The first answer is to be there at once; the others fill the tree while it is looked at. */
const FIRST = 100;
const MORE = 500;

/** More than anybody steps through. */
const MOST = 5000;

/** Searches the session as the person types; only the newest question is answered. */
export class Finder {
  #timer: NodeJS.Timeout | undefined;
  #newest = 0;

  constructor(
    private readonly world: NavigatorWorld,
    private readonly dispatch: NavigatorDispatch,
  ) {}

  ask(query: string, question: number): void {
    clearTimeout(this.#timer);
    this.#newest = question;
    this.#timer = setTimeout(() => void this.#answer(query, question), PAUSE);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#newest = -1;
  }

  async #answer(query: string, question: number): Promise<void> {
    try {
      let cursor: string | undefined;
      for (let found = 0; found < MOST && this.#newest === question; ) {
        const page = await this.world.session.search({ query: asTyped(query), limit: found === 0 ? FIRST : MORE, cursor });
        const ids = page.hits.flatMap(({ entryId }) => (entryId === null ? [] : [entryId]));
        this.dispatch({ kind: "hits", question, ids, total: page.total, isMore: found > 0 });
        found += page.hits.length;
        if (page.next === null || page.hits.length === 0) return;
        cursor = page.next;
        // Keys come first.
        await new Promise(setImmediate);
      }
    } catch (error) {
      if (!(error instanceof BoughError)) throw error;
      this.dispatch({
        kind: "badQuery",
        question,
        problem: error instanceof InvalidQueryError ? firstSentence(errorLine(error)) : errorLine(error),
      });
    }
  }
}

/** The word that is being typed is the beginning of one. */
function asTyped(query: string): string {
  return /[\p{L}\p{N}]$/u.test(query) && (query.match(/"/g)?.length ?? 0) % 2 === 0 ? `${query}*` : query;
}

function firstSentence(text: string): string {
  return /^.*?[.!](?=\s|$)/.exec(text)?.[0] ?? text;
}
